"""What a server has to do while backups of it are taken: agents trade and send probes, a bot quotes,
people write to an agent that is away."""

import http.client
import json
import threading
import time

from plane import PATIENCE_SECONDS, UnixConnection, call, connect
from planner import Planner
from relay_wire import Closed, RelayWire

GATEWAY, SECRET, USER = "gw-away", "restore-drill-secret-of-a-gateway", "ann"


class TimedPlanner(Planner):
    """Also notes when each order was answered, and how long every answer took."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.executed = []  # (when, call, answer)
        self.seconds = []
        self.is_over = False

    def decide(self, decision):
        if self.is_over:
            raise ConnectionError("told to end")
        super().decide(decision)

    def tool(self, tool, decision, **fields):
        begin = time.monotonic()
        answer = super().tool(tool, decision, **fields)
        self.seconds.append(time.monotonic() - begin)
        last = self.answered[-1].call if self.answered else None
        if (tool == "py_execute_plan" and answer.get("execution") and last.tool == tool
                and last.body["decision_id"] == decision):
            self.executed.append((time.time(), last, answer))
        return answer


class Caller(threading.Thread):
    """Does the same thing until the server is gone or it is told to end."""

    def __init__(self):
        super().__init__(daemon=True)
        self.is_over = threading.Event()
        self.problem = None

    def run(self):
        try:
            while not self.is_over.is_set():
                self.step()
        except (OSError, http.client.HTTPException):
            return
        except Exception as problem:  # A wrong answer must not pass for a dead server.
            self.problem = problem

    def end(self):
        self.is_over.set()
        self.join(PATIENCE_SECONDS)
        if self.problem is not None:
            raise self.problem


class Prober(Caller):
    """Asks for effects that a slow sink answers, so that some are always under way."""

    def __init__(self, address, tenant, key, label):
        super().__init__()
        self.connection = connect(address)
        self.tenant, self.key, self.label = tenant, key, label
        self.number = 0

    def step(self):
        self.number += 1
        name = f"{self.label}_{self.number}"
        status, text = call(
            self.connection, "POST", f"/api/{self.tenant}/probes",
            {"decision_id": f"dec_{name}", "tick_id": "-", "idempotency_key": f"key_{name}",
             "effect": True, "wait": False}, self.key)
        if status not in (200, 202):
            raise AssertionError(f"a probe was answered {status}: {text!r}")
        time.sleep(0.02)


class Writer(Caller):
    """Writes to the agent that is away; keeps what the relay said it stored, and when."""

    def __init__(self, data, label):
        super().__init__()
        self.connection = UnixConnection(f"{data}/operator.sock")
        self.label = label
        self.stored = []  # (when, text)

    def step(self):
        text = f"{self.label} {len(self.stored)}"
        status, answer = call(
            self.connection, "POST", "/api/relay/console/say",
            {"user": USER, "chat_id": f"dm:{USER}", "text": text})
        if status != 200 or not json.loads(answer).get("is_stored", True):
            raise AssertionError(f"a message was answered {status}: {answer!r}")
        self.stored.append((time.time(), text))
        time.sleep(0.005)


def read_waiting(address, wanted):
    """The agent comes back: what it gets until the text `wanted` came, each acknowledged."""
    wire = RelayWire(address, GATEWAY, SECRET, timeout=PATIENCE_SECONDS)
    wire.send({"type": "hello", "platform": "local", "botId": "console"})
    texts = []
    while wanted not in texts:
        frame = wire.receive()
        if frame["type"] == "inbound":
            wire.send({"type": "inbound_ack", "bufferId": frame["bufferId"]})
            texts.append(frame["event"]["text"])
    wire.cut()
    return texts


def relay_status(address):
    """What a gateway hears that dials: 101 when it is let in."""
    try:
        RelayWire(address, GATEWAY, SECRET, timeout=PATIENCE_SECONDS).cut()
    except Closed as closed:
        return closed.code
    return 101


class BotOwner:
    """A signed-up owner whose bot quotes on paper."""

    def __init__(self, address):
        self.address = address
        status, account = self.ask("POST", "/signup", {
            "email": "bots@example.com", "plan": "standard", "agent_metadata": {"model": "m"}})
        if status != 201:
            raise AssertionError(f"the signup was answered {status}: {account}")
        self.tenant, self.key = account["tenant_id"], account["access_key"]
        status, answer = self.bot("POST", "/update_exchange_keys", {
            "exchange": "paper", "api_key": "drillkeyQx7b9LmZ", "api_secret": "drillsecretVw3t8RkP",
            "api_password": "drillpassHj5n2GdS"})
        if status != 200:
            raise AssertionError(f"the exchange keys were answered {status}: {answer}")
        for step in ("/initialize_bot", "/start"):
            self.insist(step)

    tenant = key = None

    def ask(self, method, path, body=None):
        connection = connect(self.address)
        status, text = call(connection, method, path, body, self.key)
        connection.close()
        return status, json.loads(text)

    def bot(self, method, path, body=None):
        return self.ask(method, f"/api/{self.tenant}{path}", body)

    def insist(self, path):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            status, answer = self.bot("POST", path)
            if status == 200:
                return
            if answer["error"]["code"] != "bot_busy" or time.monotonic() > deadline:
                raise AssertionError(f"{path} was answered {status}: {answer}")
            time.sleep(0.1)
