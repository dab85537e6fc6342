"""The relay in a real server, spoken to by its own commands: a person on the console, a gateway that echoes,
a server killed between storing and acknowledging, a gateway that sleeps and wakes, credentials that are wrong,
stale and revoked; marked secrets that nothing which stays has in clear; and a database put back that is
older than its head files.
"""

import base64
import hashlib
import hmac
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import plane
from commands import Commands

PINNED = "canarygatewaysecretQx7b9LmZ"
BOT_TOKEN = "123456:canarybottokenVw3t8RkPHj5n2GdS0aBcDeF"
PATIENCE = plane.PATIENCE_SECONDS


class Echo:
    """`interlock relay echo` as a child; its lines are kept."""

    def __init__(self, url, secret, gateway="gw1"):
        self.process = subprocess.Popen(
            [plane.program(), "relay", "echo", "--url", url, "--gateway-id", gateway],
            env={**os.environ, "GATEWAY_RELAY_SECRET": secret}, stdout=subprocess.PIPE, text=True)
        self.lines = []
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.rstrip("\n"))
                self.changed.notify_all()

    def await_line(self, start, after=0):
        """The first line from `after` on that begins so; how many lines there were up to it."""
        deadline = time.monotonic() + PATIENCE
        with self.changed:
            while True:
                for number in range(after, len(self.lines)):
                    if self.lines[number].startswith(start):
                        return number + 1
                left = deadline - time.monotonic()
                assert left > 0, (start, self.lines)
                self.changed.wait(left)

    def signal(self, number):
        self.process.send_signal(number)

    def end(self):
        """It goes idle and ends."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        return code


def start(folder):
    return plane.Child(
        ["serve", "--config", f"{folder}/config.toml", "--data", f"{folder}/data", "--port",
         (pathlib.Path(folder) / "port").read_text() if (pathlib.Path(folder) / "port").exists() else "0"],
        f"{folder}/server.log")


def relay_url(server):
    return "ws" + server.address.removeprefix("http") + "/relay"


def await_health(commands, wanted):
    """A socket's end reaches the relay a moment after it reaches the gateway."""
    deadline = time.monotonic() + PATIENCE
    while True:
        health = next(
            one["health"] for one in commands.run("relay", "instances")["instances"] if one["instance_id"] == "i1")
        if health == wanted:
            return
        assert time.monotonic() < deadline, (health, wanted)


def chat(commands, *arguments, code=0):
    return commands.run("chat", "--tenant", "demo", "--as", "ann", *arguments, code=code, as_json=False)


def set_up(commands):
    commands.run("tenant", "create", "demo", "--name", "Demo")
    bot = commands.run("relay", "status")["bots"]
    assert [one["state"] for one in bot if one["platform"] == "local"] == ["connected"], bot
    added = commands.run(
        "relay", "gateway", "add", "--gateway-id", "gw1", "--tenant", "demo", "--instance", "i1",
        "--secret", PINNED, as_json=False)
    for line in (f"GATEWAY_RELAY_SECRET={PINNED}", "GATEWAY_RELAY_ID=gw1", "GATEWAY_RELAY_URL=ws://"):
        assert line in added, added
    told = commands.run("chat", "--tenant", "demo", "--as", "ann", "--say", "hi", code=2)
    assert "interlock relay bind --platform local --user ann" in told["error"]["next_step"], told
    commands.run("relay", "bind", "--platform", "local", "--user", "ann", "--instance", "i1")


def talk(commands, server):
    echo = Echo(relay_url(server), PINNED)
    echo.await_line("descriptor")
    assert chat(commands, "--say", "hello", "--wait", str(PATIENCE)) == "bot: echo: hello\n"
    event = commands.run("relay", "events", "--limit", "1")["events"][0]
    assert [one["delivers"] for one in event["decisions"]] == [True], event
    assert "delivered to" in commands.run("relay", "why", event["event"], as_json=False)
    log = commands.run("relay", "log", "--instance", "i1")["outbounds"]
    assert log[0]["state"] == "sent", log
    await_health(commands, "live")
    return echo


def kill_between_store_and_ack(folder, commands, server, echo):
    """The gateway stands still, so what is said is stored and written, and not acknowledged."""
    echo.signal(signal.SIGSTOP)
    chat(commands, "--say", "before the crash")
    assert commands.run("relay", "buffers", "--instance", "i1")["entries"], "nothing waits"
    server.kill()
    seen = len(echo.lines)
    server = start(folder)
    echo.signal(signal.SIGCONT)
    seen = echo.await_line("closed", seen)
    seen = echo.await_line("descriptor", seen)
    seen = echo.await_line("inbound", seen)
    assert echo.lines[seen - 1].endswith("before the crash"), echo.lines
    assert "bot: echo: before the crash\n" in chat(commands, "--wait", str(PATIENCE))
    return server


def sleep_and_wake(commands, server, echo):
    assert echo.end() == 0
    assert any(line.startswith("idle") for line in echo.lines), echo.lines
    await_health(commands, "asleep")
    for text in ("one", "two", "three"):
        chat(commands, "--say", text)
    waiting = commands.run("relay", "buffers", "--instance", "i1")
    assert len(waiting["entries"]) == 3 and waiting["instance"]["health"] == "asleep", waiting
    echo = Echo(relay_url(server), PINNED)
    seen = 0
    for text in ("one", "two", "three"):  # In their order.
        seen = echo.await_line("inbound", seen)
        assert echo.lines[seen - 1].endswith(": " + text), echo.lines
    deadline = time.monotonic() + PATIENCE
    while commands.run("relay", "buffers", "--instance", "i1")["entries"]:
        assert time.monotonic() < deadline, "what was acknowledged is still there"
    return echo


def token(gateway, secret, expires_at):
    payload = f"{gateway}:{expires_at}"
    signature = hmac.new(secret.encode(), payload.encode(), hashlib.sha256).hexdigest()
    return base64.urlsafe_b64encode(f"{payload}:{signature}".encode()).decode().rstrip("=")


def dial(server, bearer):
    """Status of the upgrade, and the code with which an accepted socket closes at once."""
    host, port = server.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), PATIENCE) as dialled:
        dialled.sendall(
            (f"GET /relay HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
             f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {base64.b64encode(bytes(16)).decode()}\r\n"
             f"Authorization: Bearer {bearer}\r\n\r\n").encode())
        got = b""
        while b"\r\n\r\n" not in got:
            got += dialled.recv(4096)
        head, frame = got.split(b"\r\n\r\n", 1)
        status = int(head.split()[1])
        if status != 101:
            return status, None
        while len(frame) < 4:
            more = dialled.recv(4096)
            assert more, frame
            frame += more
        assert frame[0] == 0x88, frame
        return status, int.from_bytes(frame[2:4], "big")


def refuse(commands, server, echo):
    now = int(time.time())
    assert dial(server, token("gw1", "another secret of this length", now + 300)) == (101, 4401)
    assert dial(server, token("gw9", PINNED, now + 300)) == (101, 4401)
    assert dial(server, token("gw1", PINNED, now - 3600)) == (401, None)
    seen = len(echo.lines)
    assert commands.run("relay", "revoke", "--gateway-id", "gw1")["revoked"] == ["gw1"]
    echo.await_line("closed 4401", seen)
    assert echo.process.wait(PATIENCE) == 1  # It does not come back.
    assert dial(server, token("gw1", PINNED, now + 300)) == (101, 4401)


def enrol(commands, server):
    """A gateway of its own accord: a one-time token, a bearer of the tenant, a secret; what was issued."""
    enrollment = commands.run("relay", "enrollment", "create", "--tenant", "demo")["enrollment_token"]
    bearer = commands.run("relay", "token", "create", "--tenant", "demo")["token"]

    def post(gateway):
        connection = plane.connect(server.address)
        connection.request(
            "POST", "/relay/enroll", json.dumps({"enrollmentToken": enrollment, "gatewayId": gateway}),
            {"Content-Type": "application/json", "Authorization": f"Bearer {bearer}"})
        response = connection.getresponse()
        answer = json.loads(response.read())
        connection.close()
        return response.status, answer

    status, joined = post("gw2")
    assert status == 200 and joined["tenant"] == "demo", joined
    status, refused = post("gw3")
    assert status == 403 and refused["code"] == "enrollment_refused", refused
    echo = Echo(relay_url(server), joined["secret"], "gw2")
    echo.await_line("descriptor")
    assert echo.end() == 0
    return [enrollment, bearer, joined["secret"], joined["deliveryKey"]]


def search(folder, issued, said):
    """Whatever lies below the folder, but the files in which somebody put a secret himself."""
    own = {f"{folder}/config.toml", f"{folder}/bot.token"}
    assert b"gw1" in pathlib.Path(f"{folder}/data/relay.db").read_bytes()  # It is where we look.
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if not path.is_file() or path.is_socket() or str(path) in own:
            continue
        held = path.read_bytes()
        for secret in issued:
            raw = secret.encode()
            for form in (raw, raw.hex().encode(), base64.b64encode(raw)[:-4]):
                assert form not in held, f"{path} has {secret}"
    for secret in issued:
        assert secret not in said, f"an answer has {secret}"


def all_answers(commands):
    said = ""
    for words in (("status",), ("instances",), ("buffers",), ("events",), ("log",), ("dead-letters",),
                  ("gateway", "list"), ("route", "list"), ("show", "--instance", "i1")):
        said += commands.run("relay", *words, as_json=False)
    return said + commands.run(
        "config", "show", "--config", str(pathlib.Path(commands.data).parent / "config.toml"), as_json=False)


def put_an_older_file_back(folder, commands):
    """Whoever has the disk replaces relay.db by yesterday's: the head files tell, and a start stops trading."""
    data = pathlib.Path(folder) / "data"
    whole = commands.run("audit", "verify")
    chain = next(one for one in whole["relay_chains"] if one["tenant_id"] == "demo")
    assert whole["ok"] and chain["checkpoints"] >= 1 and not whole["warnings"], whole  # Signed at the end.
    shutil.copy(data / "relay.db", pathlib.Path(folder) / "kept.db")
    server = start(folder)
    commands.run("relay", "gateway", "add", "--gateway-id", "gw8", "--tenant", "demo", "--instance", "i8")
    assert server.stop() == 0
    assert commands.run("audit", "verify")["ok"]
    for name in ("relay.db-wal", "relay.db-shm"):
        (data / name).unlink(missing_ok=True)
    shutil.move(pathlib.Path(folder) / "kept.db", data / "relay.db")
    cut = commands.run("audit", "verify", code=1)
    bad = {one["tenant_id"]: one["first_bad_seq"] for one in cut["relay_chains"]}
    assert bad["demo"] == chain["head_seq"] + 1, cut
    server = start(folder)
    stopped = commands.run("kill", "status", as_json=False)
    assert "relay:truncated_tail at record" in stopped, stopped
    assert server.stop() == 0


def main():
    folder = tempfile.mkdtemp(prefix="interlock-relay-")
    (pathlib.Path(folder) / "bot.token").write_text(BOT_TOKEN + "\n")
    # Nobody listens where the second bot looks for its platform.
    (pathlib.Path(folder) / "config.toml").write_text(
        # A second start takes the same port; the one above it may be somebody else's by then.
        '[stop]\nport = 0\n[[relay.bot]]\nplatform = "local"\nbot_id = "console"\n\n'
        '[[relay.bot]]\nplatform = "telegram"\nbot_id = "123456"\n'
        f'token_file = "{folder}/bot.token"\napi_base = "http://127.0.0.1:9"\n')
    server = start(folder)
    (pathlib.Path(folder) / "port").write_text(server.address.rsplit(":", 1)[1])
    commands = Commands(f"{folder}/data")
    set_up(commands)
    echo = talk(commands, server)
    spare = ("--platform", "local", "--bot-id", "console", "--discriminator", "spare")
    commands.run("relay", "route", "add", "--tenant", "demo", *spare)
    server = kill_between_store_and_ack(folder, commands, server, echo)
    commands.run("relay", "route", "remove", *spare)  # A route is known as well after a start.
    echo = sleep_and_wake(commands, server, echo)
    issued = enrol(commands, server)
    rotated = commands.run("relay", "gateway", "rotate", "--gateway-id", "gw1")["secret"]
    refuse(commands, server, echo)
    said = all_answers(commands)
    assert server.stop() == 0
    search(folder, [PINNED, BOT_TOKEN, rotated, *issued], said)
    put_an_older_file_back(folder, commands)
    shutil.rmtree(folder)
    print("relay: talked, crashed, slept, refused; no secret was found, and an older file was")


if __name__ == "__main__":
    main()
