"""What goes wrong in the relay is told to people (notices.md 1): an instance whose buffer is full is one alert and
one letter to its tenant's human, and none to its neighbour's; a server that is killed at that moment tells it after
its next start, once; and a chain of the relay into which somebody writes while the server runs stops its tenant, and
its people and the host's hear of it at once.
"""

import email
import email.policy
import json
import pathlib
import shutil
import sqlite3
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import plane
from bot_api import BotApi
from commands import PASSWORD, Commands

TOKEN = "777:tokenofasharedbotKq8ZrT5vXn2abc"
MARKER = "words-of-a-message-that-no-letter-has"
USERS = {"away": 1001, "well": 2002}
ENTRIES = 2


def start(folder):
    return plane.Child(
        ["serve", "--config", f"{folder}/config.toml", "--data", f"{folder}/data", "--port", "0"],
        f"{folder}/server.log")


def set_up(folder):
    api = BotApi(TOKEN)
    (pathlib.Path(folder) / "config.toml").write_text(
        f'[[relay.bot]]\nplatform = "telegram"\nbot_id = "777"\ntoken = "{TOKEN}"\napi_base = "{api.base}"\n'
        f"[relay.buffer]\nentries_max = {ENTRIES}\n")
    server = start(folder)
    commands = Commands(f"{folder}/data")
    for tenant, user in USERS.items():
        commands.run("tenant", "create", tenant, "--name", tenant)
        add_human(commands, tenant, "--tenant", tenant)
        commands.run("relay", "gateway", "add", "--gateway-id", f"gw-{tenant}", "--tenant", tenant,
                     "--instance", f"i-{tenant}", "--secret", f"secret-of-the-gateway-of-{tenant}")
        commands.run("relay", "bind", "--platform", "telegram", "--user", str(user), "--instance", f"i-{tenant}")
    commands.run("tenant", "create", "host", "--name", "host")
    add_human(commands, "host", "--tenant", "host", "--system")
    return api, server, commands


def add_human(commands, name, *where):
    invited = commands.run("human", "invite", f"{name}@example.com", *where)
    commands.run("human", "activate", "--code", invited["one_time_code"], "--password-stdin", stdin=PASSWORD + "\n")


def letters(folder, name, event):
    """Letters to this human that name the event."""
    found = []
    for path in sorted(pathlib.Path(f"{folder}/data/outbox").glob("*.eml")):
        mail = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
        text = mail.get_content()
        assert MARKER not in text, text
        if mail["To"] == f"{name}@example.com" and event in text:
            found.append(text)
    return found


def alerts(folder, tenant, event):
    connection = plane.UnixConnection(f"{folder}/data/operator.sock")
    status, body = plane.call(connection, "GET", f"/api/{tenant}/alerts")
    connection.close()
    assert status == 200, body
    assert MARKER.encode() not in body, body
    return [one for one in json.loads(body)["alerts"] if one["event"] == event]


def wait_until(what, check):
    deadline = time.monotonic() + plane.PATIENCE_SECONDS
    while not (found := check()):
        assert time.monotonic() < deadline, what
        time.sleep(0.05)
    return found


def fill(api, number):
    """Messages to one who is away, of which the third finds no room."""
    for _ in range(ENTRIES + 1):
        number += 1
        api.say(number, USERS["away"], text=f"{MARKER} {number}")
    api.say(number + 1, USERS["well"], text=f"{MARKER} {number + 1}")
    api.wait_for("Telegram to be told", lambda: api.offset > number + 1)
    return number + 1


def tell_a_full_instance(folder, api, server):
    number = fill(api, 0)
    server.kill()  # At the moment when it is on the relay's record.
    server = start(folder)
    alert = wait_until("the alert", lambda: alerts(folder, "away", "RELAY_SHEDDING"))
    assert len(alert) == 1 and alert[0]["detail"]["instance_id"] == "i-away", alert
    assert alert[0]["detail"]["record"].startswith("relay:away."), alert
    letter = wait_until("the letter", lambda: letters(folder, "away", "RELAY_SHEDDING"))
    assert len(letter) == 1 and "i-away" in letter[0], letter
    time.sleep(3)  # Whatever else would come has come.
    assert len(alerts(folder, "away", "RELAY_SHEDDING")) == 1
    assert len(letters(folder, "away", "RELAY_SHEDDING")) == 1
    for tenant, name in (("well", "well"), ("_system", "host")):
        assert not alerts(folder, tenant, "RELAY_SHEDDING"), tenant
        assert not letters(folder, name, "RELAY_SHEDDING"), name
    return server, number


def break_a_chain(folder, api, number):
    """Somebody with the disk adds a record to the relay's chain of one tenant."""
    database = sqlite3.connect(f"{folder}/data/relay.db", timeout=plane.PATIENCE_SECONDS)
    seq, = database.execute("SELECT max(seq) FROM ledger WHERE tenant_id = 'away'").fetchone()
    with database:
        database.execute(
            "INSERT INTO ledger (tenant_id, seq, json, hash) SELECT tenant_id, seq + 1, json, hash FROM ledger "
            "WHERE tenant_id = 'away' AND seq = ?", (seq,))
    database.close()
    api.say(number + 1, USERS["away"], text=f"{MARKER} {number + 1}")
    broken = wait_until("the break on record", lambda: alerts(folder, "away", "OTHER_CHAIN_BROKEN"))
    assert broken[0]["detail"]["book"] == "relay", broken
    wait_until("the tenant's letter", lambda: letters(folder, "away", "OTHER_CHAIN_BROKEN"))
    wait_until("the host's letter", lambda: letters(folder, "host", "OTHER_CHAIN_BROKEN"))
    wait_until("the stop", lambda: alerts(folder, "away", "KILL_SWITCH_ACTIVATED"))
    wait_until("the trouble of the server", lambda: alerts(folder, "_system", "SERVER_TROUBLE"))
    assert not alerts(folder, "well", "KILL_SWITCH_ACTIVATED")
    assert not letters(folder, "well", "OTHER_CHAIN_BROKEN")


def main():
    folder = tempfile.mkdtemp(prefix="interlock-relay-alerts-")
    api, server, commands = set_up(folder)
    server, number = tell_a_full_instance(folder, api, server)
    assert commands.run("audit", "verify")["ok"]
    break_a_chain(folder, api, number)
    server.kill()
    shutil.rmtree(folder)
    print("relay: a full instance and a chain that breaks are told to their own people and the host's, once")


if __name__ == "__main__":
    main()
