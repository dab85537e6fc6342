"""One agent that is away fills its buffer and its dead letters; on the same bot another tenant's agent goes on
hearing every message, in order. The bounds are small, the Bot API is played here, as it is when a shared bot stood
still for everybody: Telegram repeats what it was not told that we have, and what is behind it waits.

Then the agent comes back and gets what waited; its dead letters are put back, or thrown away, in bulk; nothing of their
texts is left on the disk; and a bot whose platform is gone is told by doctor, status and metrics.
"""

import json
import pathlib
import shutil
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import plane
import relay_wire
from bot_api import BotApi
from commands import Commands

TOKEN = "777:tokenofasharedbotKq8ZrT5vXn2abc"
SECRETS = {"gw-away": "secret-of-the-gateway-that-is-away", "gw-well": "secret-of-the-gateway-that-works"}
AWAY, WELL = 1001, 2002
# People send each other what they should not; the relay delivers it as it was written.
CANARIES = ["ghp_" + "canaryQ7x2Lm9Tz4" * 2 + "Wb5k", "hunter2canaryVw3t8RkP", "canaryBearer.Zk3-9qLw7Tt2"]
MARKER = ("marked-text-of-one-who-is-away {} password: {} Authorization: Bearer {}").format(*CANARIES)
ENTRIES, DEAD = 10, 5


class Gateway:
    """Acknowledges what it gets, in a thread, unless it only listens."""

    def __init__(self, address, name, acknowledges=True):
        self.wire = relay_wire.RelayWire(address, name, SECRETS[name])
        self.wire.send({"type": "hello", "platform": "telegram", "botId": "777"})
        self.acknowledges = acknowledges
        self.texts = []
        self.changed = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            while True:
                frame = self.wire.receive()
                if frame["type"] != "inbound":
                    continue
                if self.acknowledges:
                    self.wire.send({"type": "inbound_ack", "bufferId": frame["bufferId"]})
                with self.changed:
                    self.texts.append(frame["event"]["text"])
                    self.changed.notify_all()
        except relay_wire.Closed:
            pass

    def expect(self, texts):
        deadline = time.monotonic() + plane.PATIENCE_SECONDS
        with self.changed:
            while len(self.texts) < len(texts):
                left = deadline - time.monotonic()
                assert left > 0, (len(self.texts), len(texts), self.texts[-3:])
                self.changed.wait(left)
            assert self.texts == texts, (self.texts, texts)


def start(folder):
    return plane.Child(
        ["serve", "--config", f"{folder}/config.toml", "--data", f"{folder}/data", "--port", "0"],
        f"{folder}/server.log")


def set_up(folder):
    api = BotApi(TOKEN)
    (pathlib.Path(folder) / "config.toml").write_text(
        f'[[relay.bot]]\nplatform = "telegram"\nbot_id = "777"\ntoken = "{TOKEN}"\napi_base = "{api.base}"\n'
        f"[relay.buffer]\nentries_max = {ENTRIES}\n[relay.dead_letters]\nentries_max = {DEAD}\n")
    server = start(folder)
    commands = Commands(f"{folder}/data")
    for tenant, user in (("away", AWAY), ("well", WELL)):
        commands.run("tenant", "create", tenant, "--name", tenant)
        commands.run("relay", "gateway", "add", "--gateway-id", f"gw-{tenant}", "--tenant", tenant,
                     "--instance", f"i-{tenant}", "--secret", SECRETS[f"gw-{tenant}"])
        commands.run("relay", "bind", "--platform", "telegram", "--user", str(user), "--instance", f"i-{tenant}")
    return api, server, commands


def instance(commands, name):
    return next(one for one in commands.run("relay", "instances")["instances"] if one["instance_id"] == name)


def one_is_away(api, server, commands):
    """Its gateway is connected and acknowledges nothing: what the whole bot stood still for."""
    silent = Gateway(server.address, "gw-away", acknowledges=False)
    well = Gateway(server.address, "gw-well")
    number = 0
    wanted = []
    for round_number in range(1, 41):
        for user, text in ((AWAY, f"{MARKER} {round_number}"), (WELL, f"well {round_number}")):
            number += 1
            api.say(number, user, text=text)
        wanted.append(f"well {round_number}")
    well.expect(wanted)
    api.wait_for("Telegram to be told", lambda: api.offset > number)
    away = instance(commands, "i-away")
    assert (away["waiting"], away["dead_letters"]) == (ENTRIES, DEAD), away
    assert away["shedding"]["laid_aside"] == 40 - ENTRIES, away
    assert away["shedding"]["dropped"] == 40 - ENTRIES - DEAD, away
    assert instance(commands, "i-well")["shedding"] is None
    silent.wire.cut()
    return well, wanted, number


def it_is_told(commands, server):
    status = commands.run("relay", "status", as_json=False)
    assert "i-away of away has a full buffer since" in status, status
    doctor = commands.run("doctor")
    found = [one for one in doctor["checks"] if one["name"] == "relay buffers"]
    assert found and found[0]["state"] == "note" and "i-away" in found[0]["detail"], doctor
    connection = plane.connect(server.address)
    assert plane.call(connection, "GET", "/readyz")[0] == 200
    last = commands.run("relay", "events", "--limit", "10")["events"]
    aside = next(one for one in last if one.get("laid_aside"))
    why = commands.run("relay", "why", aside["event"], as_json=False)
    assert "i-away: laid aside, because its buffer was full" in why, why
    assert "i-away (laid aside)" in why, why
    deadline = time.monotonic() + plane.PATIENCE_SECONDS
    while True:
        numbers = plane.UnixConnection(f"{commands.data}/operator.sock")  # The operator's alone.
        metrics = plane.call(numbers, "GET", "/metrics")[1].decode()
        numbers.close()
        # The lane publishes its numbers each second.
        if ('interlock_relay_shedding{tenant="away",instance="i-away"} 1' in metrics
                and f'interlock_relay_delivery_total{{what="overflowed"}} {40 - ENTRIES}' in metrics):
            break
        assert time.monotonic() < deadline, metrics
        time.sleep(0.2)
    connection.close()


def it_comes_back(api, folder, server, commands, number):
    """After a crash, too: what waited comes in order, then new mail, then what was laid aside."""
    server.kill()
    server = start(folder)
    assert instance(commands, "i-away")["shedding"]["laid_aside"] == 40 - ENTRIES
    back = Gateway(server.address, "gw-away")
    wanted = [f"{MARKER} {i}" for i in range(1, ENTRIES + 1)]
    back.expect(wanted)
    wait_until(lambda: instance(commands, "i-away")["shedding"] is None, "the end of shedding")
    api.say(number + 1, AWAY, text="new")
    wanted.append("new")
    back.expect(wanted)
    dead = commands.run("relay", "dead-letters", "--instance", "i-away")["dead_letters"]
    assert len(dead) == DEAD, dead
    commands.run("relay", "dead-letters", "discard", "--instance", "i-away", "--buffer-id", dead[0]["buffer_id"])
    assert commands.run("relay", "dead-letters", "requeue", "--instance", "i-away", code=2)["error"]["code"] == "bad_usage"
    told = commands.run("relay", "dead-letters", "discard", "--all", "--older-than", "1d")
    assert told == {"done": 0, "left": 0, "no_room": 0}, told
    told = commands.run("relay", "dead-letters", "requeue", "--instance", "i-away", "--all")
    assert told == {"done": DEAD - 1, "left": 0, "no_room": 0}, told
    back.expect(wanted + [f"{MARKER} {i}" for i in range(40 - DEAD + 2, 41)])
    return server, back


def wait_until(condition, what):
    deadline = time.monotonic() + plane.PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def files_with_a_canary(folder):
    return {path.name for path in pathlib.Path(folder).rglob("*") if path.is_file() and not path.is_socket()
            and any(text.encode() in path.read_bytes() for text in [MARKER, *CANARIES])}


def credentials_stand_in_the_buffer_alone(folder, commands):
    """What waits and what was laid aside has its words in relay.db and nowhere else: in no record, log or list."""
    places = files_with_a_canary(folder)
    assert places and all(name.startswith("relay.db") for name in places), places
    told = json.dumps([commands.run("relay", "dead-letters", "--instance", "i-away"),
                       commands.run("relay", "events", "--limit", "50"), commands.run("relay", "status")])
    assert not any(text in told for text in CANARIES), told


def nothing_is_left(folder):
    """Ten seconds after the last text was acknowledged or thrown away, in quiet times, it is off the disk."""
    wait_until(lambda: not files_with_a_canary(folder), "a text of a message is still on the disk")


def main():
    folder = tempfile.mkdtemp(prefix="interlock-full-")
    api, server, commands = set_up(folder)
    well, wanted, number = one_is_away(api, server, commands)
    it_is_told(commands, server)
    credentials_stand_in_the_buffer_alone(folder, commands)
    well.expect(wanted)
    server, back = it_comes_back(api, folder, server, commands, number)
    nothing_is_left(folder)
    back.wire.cut()
    assert server.stop() == 0
    report = commands.run("audit", "verify")
    assert report["ok"], json.dumps(report)[:500]
    shutil.rmtree(folder)
    print("relay: one agent was away and full, the other tenant's heard all 40; it came back and got what was kept")


if __name__ == "__main__":
    main()
