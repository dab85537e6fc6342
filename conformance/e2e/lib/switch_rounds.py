"""Kills a trading server with SIGKILL around its switches and holds it to one trader per concern.

Two concerns have two grids each. Supervisors switch between them without a rest; a grid's orders
rest at the venue, so each switch has cancels to wait for. Kills are aimed: right after a switch was
sent, when CONTROL_APPLYING is in the ledger, when list_concerns says `switching`, while the server
recovers, and at random. Each round starts the server on the same data folder and checks
  - exactly one strategy is active on each concern, and list_concerns, list_strategies and the ledger
    name the same one; nothing is still switching;
  - a switch that the crash interrupted was rolled back, or is on record as done, not both;
  - from the hand-over on, the ledger holds no order of another strategy, and none is open at the
    venue;
  - no decision was applied twice; the answers that had arrived are told again, and a decision
    without one can be repeated under its id;
  - `interlock audit verify` finds the ledger whole, as the crash left it.
"""

import collections
import http.client
import json
import sqlite3
import threading
import time

from crash_lanes import RECOVERY_SECONDS, CrashLane, require, run_lanes
from plane import UnixConnection, call, connect

TENANT = "alpha"
MARKETS = ("BTCUSDT", "ETHUSDT")
PASSWORD = "correct horse battery staple"
AIM_SECONDS = 12  # Then the kill comes wherever the server is.
OLD_ANSWERS = 15
# No answer of a supervisor's fault, and gone before long.
PASSING = {"switch_in_progress", "trading_stopped"}


def concern_of(market):
    return f"main:{market.lower()}"


class Ledger:
    """What the server wrote down of control, followed as it grows and checked on the way."""

    def __init__(self, path):
        self.path = path
        self.seq = 0
        self.market_of = {}  # By strategy.
        self.active = {market: None for market in MARKETS}
        self.under_way = {}  # Market -> decision that is applying.
        self.statuses = collections.defaultdict(list)  # By decision, dry runs left out.
        self.strategy_of = {}  # By order.
        self.counts = collections.Counter()

    def read_on(self):
        database = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)
        rows = database.execute(
            "SELECT seq, json FROM ledger WHERE tenant_id = ? AND seq > ? ORDER BY seq",
            (TENANT, self.seq)).fetchall()
        database.close()
        for seq, text in rows:
            self.take(json.loads(text))
            self.seq = seq

    def take(self, record):
        event = record["event"]
        if event == "STRATEGY_CREATED":
            market = record["detail"]["concern_id"].split(":")[1].upper()
            self.market_of[record["detail"]["strategy_id"]] = market
        elif event == "CONTROL_APPLYING":
            self.under_way[record["detail"]["payload"]["market_symbol"]] = record["decision_id"]
            self.counts["switches journalled"] += 1
        elif event == "CONTROL_DECISION":
            self.take_decision(record)
        elif event == "EXECUTION_ATTEMPT" and record["status"] == "started":
            self.take_execution(record)

    def take_decision(self, record):
        detail = record["detail"]
        for field in ("payload", "validation", "status", "result", "received_at"):
            require(field in detail, f"a decision on record without {field}: {record}")
        payload, status = detail["payload"], detail["status"]
        decision = payload["decision_id"]
        require(status != "applied" or "applied" not in self.statuses[decision],
                f"{decision} was applied twice")
        self.statuses[decision].append(status)
        market = payload["market_symbol"]
        if status in ("applied", "failed"):
            require(self.under_way.pop(market, decision) == decision,
                    f"{decision} ended the switch of another")
            self.counts["switches done" if status == "applied" else "switches rolled back"] += 1
        if status == "applied":
            self.active[market] = payload["target_strategy_id"]

    def take_execution(self, record):
        parts = record["decision_id"].split(".")
        require(parts[0] == "auto", f"nobody but strategies trades here: {record}")
        strategy = parts[1]
        market = self.market_of[strategy]
        orders = record["detail"]["orders"]
        require(not orders or self.active[market] == strategy,
                f"{strategy} sends orders while {self.active[market]} is active")
        require(not orders or market not in self.under_way,
                f"{strategy} sends orders while it is being switched from")
        for order in orders:
            self.strategy_of[order["order_client_id"]] = strategy


class Supervisor(threading.Thread):
    """Switches one concern to and fro until the server is gone."""

    def __init__(self, address, key, market, grids, name):
        super().__init__(daemon=True)
        self.connection = connect(address)
        self.key, self.market, self.grids, self.name_prefix = key, market, grids, name
        self.answered = []  # (payload, answer)
        self.unanswered = None
        self.sending = threading.Event()
        self.problem = None

    def run(self):
        number = 0
        try:
            while True:
                if not self.has_orders():
                    time.sleep(0.05)
                    continue
                number += 1
                self.switch(f"{self.name_prefix}_{number}")
        except (OSError, http.client.HTTPException):
            pass  # The server is gone.
        except BaseException as problem:
            self.problem = problem

    def has_orders(self):
        status, text = call(
            self.connection, "GET", f"/api/{TENANT}/account", None, self.key)
        require(status == 200, f"reading the account was answered {status}: {text!r}")
        return any(order["symbol"] == self.market for order in json.loads(text)["open_orders"])

    def switch(self, decision):
        active = find_concern(self.connection, self.key, self.market)["active_strategy_id"]
        target = self.grids[1] if active == self.grids[0] else self.grids[0]
        payload = switch_payload(decision, self.market, target)
        self.unanswered = payload
        self.sending.set()
        answer = decide(self.connection, self.key, payload)
        self.unanswered = None
        self.answered.append((payload, answer))
        codes = {error["code"] for error in answer["errors"]}
        require(codes <= PASSING, f"{payload} was answered {answer}")
        if codes:
            time.sleep(0.2)


def switch_payload(decision, market, target):
    return {"decision_id": decision, "concern_id": concern_of(market), "account_id": "main",
            "market_symbol": market, "action": "switch", "target_strategy_id": target,
            # Orders that a crash left behind degrade a concern for minutes.
            "override": True, "reason": "it is the other one's turn", "confidence": 0.9}


def decide(connection, key, payload):
    status, text = call(connection, "POST", f"/api/{TENANT}/control_decisions", payload, key)
    require(status == 200, f"{payload} was answered {status}: {text!r}")
    return json.loads(text)


def read(connection, key, what):
    status, text = call(connection, "GET", f"/api/{TENANT}/{what}", None, key)
    require(status == 200, f"{what} was answered {status}: {text!r}")
    return json.loads(text)


def find_concern(connection, key, market):
    concerns = read(connection, key, "concerns")["concerns"]
    return next(one for one in concerns if one["concern_id"] == concern_of(market))


class SwitchRounds(CrashLane):
    """Supervisors are the users; applied decisions are kept with their answers."""

    def __init__(self, folder, seed):
        super().__init__(folder, seed)
        self.ledger = Ledger(self.data / "interlock.db")
        self.key = None
        self.grids = {}

    def set_up(self):
        operator = UnixConnection(f"{self.folder}/data/operator.sock")

        def ask(connection, path, body, token=None):
            headers = {"Content-Type": "application/json"}
            if token is not None:
                headers["Authorization"] = f"Bearer {token}"
            connection.request("POST", path, body=json.dumps(body), headers=headers)
            response = connection.getresponse()
            text = response.read()
            require(response.status // 100 == 2,
                    f"POST {path} was answered {response.status}: {text!r}")
            return json.loads(text)

        ask(operator, "/tenants", {"tenant_id": TENANT, "name": TENANT})
        self.key = ask(operator, f"/api/{TENANT}/keys",
                       {"label": "test", "scopes": ["supervisor", "read"]})["access_key"]
        code = ask(operator, f"/api/{TENANT}/humans",
                   {"email": "owner@example.com"})["one_time_code"]
        operator.close()
        session = ask(self.connection, "/account/activate",
                      {"code": code, "password": PASSWORD, "want_token": True})
        for market in MARKETS:
            self.grids[market] = []
            for step in ("0.006", "0.008"):
                made = ask(self.connection, f"/api/{TENANT}/instances", {
                    "idempotency_key": f"{market}{step}", "strategy_type": "grid_trader",
                    "market_symbol": market, "mode": "observe",
                    "config": {"tick_seconds": 1, "grid_levels": 6, "grid_step_pct": step,
                               "volatility_multiplier": "0", "order_notional_quote": "20"}},
                    session["token"])
                self.grids[market].append(made["id"])
            started = decide(self.connection, self.key, switch_payload(
                f"first_{market}", market, self.grids[market][0]))
            require(started["status"] == "applied", f"the first start: {started}")

    def use(self, server):
        self.users = [
            Supervisor(server.address, self.key, market, self.grids[market],
                       f"r{self.counts['kills']}_{market}")
            for market in MARKETS]
        for supervisor in self.users:
            supervisor.start()
        way = self.choose.choice(("sent", "sent", "journalled", "switching", "switching", "random"))
        until = time.monotonic() + AIM_SECONDS
        if way == "sent":
            supervisor = self.choose.choice(self.users)
            supervisor.sending.wait(AIM_SECONDS)
            for _ in range(self.choose.randrange(4)):  # Not always the first one.
                supervisor.sending.clear()
                supervisor.sending.wait(max(0, until - time.monotonic()))
            time.sleep(self.choose.choice((0, 0.002, 0.005, 0.01, 0.02)))
        elif way == "journalled":
            before = self.ledger.counts["switches journalled"]
            while time.monotonic() < until:
                self.ledger.read_on()
                if self.ledger.counts["switches journalled"] > before and self.ledger.under_way:
                    break
        elif way == "switching":
            eyes = connect(server.address)
            while time.monotonic() < until:
                if any(one["switching"] for one in read(eyes, self.key, "concerns")["concerns"]):
                    break
        else:
            time.sleep(self.choose.uniform(0.5, 5))
        self.counts[f"aimed: {way}"] += 1

    def after_kill(self):
        super().after_kill()
        self.ledger.read_on()
        self.counts["switches interrupted"] += len(self.ledger.under_way)

    def check(self):
        # The server's own turns go before ours, so what the crash interrupted is settled by now.
        concerns = {market: find_concern(self.connection, self.key, market) for market in MARKETS}
        require(not any(one["switching"] for one in concerns.values()),
                f"still switching after the restart: {concerns}")
        self.ledger.read_on()
        require(not self.ledger.under_way, f"no word on {self.ledger.under_way}")
        self.check_one_active(concerns)
        self.wait_for_recovery()
        self.check_venue()
        self.check_answers()
        self.check_log()

    def check_one_active(self, concerns):
        listed = read(self.connection, self.key, "instances")["strategies"]
        for market, concern in concerns.items():
            active = [one["id"] for one in listed
                      if one["market_symbol"] == market and one["mode"] == "active"]
            require(active == [concern["active_strategy_id"]],
                    f"{market}: active are {active}, the concern names {concern}")
            require(self.ledger.active[market] == active[0],
                    f"{market}: {active} is active, the ledger says {self.ledger.active[market]}")

    def wait_for_recovery(self):
        deadline = time.monotonic() + RECOVERY_SECONDS
        while True:
            phase = read(self.connection, self.key, "account")["recovery"]["phase"]
            require(phase != "escalated", "recovery escalated")
            if phase == "normal":
                return
            require(time.monotonic() < deadline, "recovery never ends")
            time.sleep(0.1)

    def check_venue(self):
        self.truth.read_on()
        self.ledger.read_on()
        for order in self.truth.accounts[TENANT].unfilled:
            strategy = self.ledger.strategy_of.get(order)
            require(strategy is not None, f"{order} was not written ahead")
            market = self.ledger.market_of[strategy]
            require(self.ledger.active[market] == strategy,
                    f"{order} of {strategy} is open, but {self.ledger.active[market]} is active")

    def check_answers(self):
        for supervisor in self.users:
            for payload, answer in supervisor.answered:
                require(answer["status"] == self.ledger.statuses[payload["decision_id"]][-1],
                        f"{payload} was answered {answer}, the ledger says otherwise")
                if answer["status"] == "applied":
                    self.kept.append((payload, answer))
            if supervisor.unanswered is not None:
                self.repeat(supervisor.unanswered)
        self.users = []
        for payload, answer in self.choose.sample(self.kept, min(OLD_ANSWERS, len(self.kept))):
            again = decide(self.connection, self.key, payload)
            require(again["status"] == "noop" and again["result"].get("original") == answer,
                    f"{payload} was answered {answer}, and later {again}")
            self.counts["answers asked again"] += 1

    def repeat(self, payload):
        """What was done is told; what was rolled back or never arrived is decided anew."""
        decision, market = payload["decision_id"], payload["market_symbol"]
        was_applied = "applied" in self.ledger.statuses[decision]
        deadline = time.monotonic() + RECOVERY_SECONDS
        while True:
            answer = decide(self.connection, self.key, payload)
            codes = {error["code"] for error in answer["errors"]}
            if not codes & PASSING:
                break
            require(time.monotonic() < deadline, f"{payload} is still answered {answer}")
            time.sleep(0.2)
        self.ledger.read_on()
        self.counts["decisions repeated"] += 1
        if was_applied:
            require(answer["status"] == "noop" and
                    answer["result"]["original"]["status"] == "applied",
                    f"{payload} was applied, and repeated it is {answer}")
            self.counts["had been applied"] += 1
            return
        if "cancel_unconfirmed" in codes:
            return  # Rolled back once more, and told so.
        require(answer["status"] == "applied", f"{payload} repeated is {answer}")
        self.kept.append((payload, answer))
        require(find_concern(self.connection, self.key, market)["active_strategy_id"]
                == payload["target_strategy_id"], f"{payload} is applied and not to be seen")

    def summary(self):
        return self.counts + self.ledger.counts + collections.Counter(
            {"orders of strategies": len(self.ledger.strategy_of), "records": self.ledger.seq})


def main(kills, lanes):
    kills, total = run_lanes(SwitchRounds, "switch", kills, lanes)
    require(total["switches done"] >= kills and total["orders of strategies"] > kills,
            "the strategies never got going")
    require(total["switches interrupted"] * 10 >= kills, "no kill came in the middle of a switch")
