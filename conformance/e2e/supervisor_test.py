"""The built-in supervisor of a real server: off unless asked for, on the record with every look, and
its stored decisions decided again to the same, while the server runs and after it stopped.
"""

import os
import pathlib
import shutil
import sqlite3
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import plane
from commands import Commands, make_owner

TENANT = "demo"
CONCERN = "main:btcusdt"
ROUNDS = 2


def decisions(commands, *arguments):
    return commands.run("supervisor", "decisions", "--tenant", TENANT, *arguments)["decisions"]


def wait_for_rounds(commands, count):
    deadline = time.monotonic() + plane.PATIENCE_SECONDS
    while len(decisions(commands)) < count:
        assert time.monotonic() < deadline, "the supervisor did not look"
        time.sleep(0.5)


def start_strategies(commands):
    make_owner(commands, TENANT)
    grid = commands.as_human(
        "strategy", "create", "--type", "grid_trader", "--market", "BTCUSDT")["id"]
    commands.as_human("strategy", "create", "--type", "trend_follower", "--market", "BTCUSDT")
    assert commands.as_human("strategy", "switch", grid)["status"] == "applied"


def check_records(commands):
    for number, one in enumerate(decisions(commands), start=1):
        assert one["decision_id"] == f"hermes.{CONCERN}.{number}", one
        assert one["selector"] == "hermes.v1" and one["bundle"].startswith("sha256:"), one
        made = one["decision"]
        assert made["reason"] and made["rule"] and len(made["fits"]) == 2, made
        assert one["dispatch"] == ("none" if made["action"] == "keep" else "blocked"), one
    assert len(decisions(commands, "--limit", "1")) == 1
    (status,) = commands.run("supervisor", "status", "--tenant", TENANT)["decisions"]
    assert status["concern_id"] == CONCERN, status
    text = commands.run("supervisor", "status", "--tenant", TENANT, as_json=False)
    assert CONCERN in text, text


def check_replay(commands):
    report = commands.run("supervisor", "replay", "--tenant", TENANT)
    assert report["ok"] and report["decisions"] >= ROUNDS, report
    assert len(report["verdicts"]) == report["decisions"], report
    assert all(one["outcome"] == "same" for one in report["verdicts"]), report
    report = commands.run("supervisor", "replay", "--only-changed", "--tenant", TENANT)
    assert report["ok"] and not report["verdicts"], report
    later = commands.run(
        "supervisor", "replay", "--tenant", TENANT, "--since", "2100-01-01T00:00:00Z")
    assert later["decisions"] == 0, later


def check_damage(folder, data):
    """Changed facts no longer have their name."""
    copy = f"{folder}/damaged"
    shutil.copytree(data, copy)
    with sqlite3.connect(f"{copy}/interlock.db") as database:
        changed = database.execute(
            "UPDATE artifacts SET bytes = CAST(replace(CAST(bytes AS TEXT), "
            "'\"risk_mode\":\"normal\"', '\"risk_mode\":\"halted\"') AS BLOB) "
            "WHERE instr(CAST(bytes AS TEXT), '\"candidates\"') > 0").rowcount
    assert changed > 0
    report = Commands(copy).run(
        "supervisor", "replay", "--only-changed", "--tenant", TENANT, code=1)
    assert not report["ok"] and report["not_replayable"] == report["decisions"], report
    print(f"changed facts: found ({report['verdicts'][0]['detail']})")


def check_configuration(commands):
    shown = {one["key"]: one["value"] for one in commands.run("config", "show")["config"]}
    assert shown["supervisor.enabled"] == "false", shown
    assert shown["supervisor.allow_actions"] == "false", shown
    assert shown["supervisor.min_confidence"] == "0.65", shown
    assert shown["supervisor.minimum_hold_minutes"] == "15", shown
    for name, bad in (("MIN_CONFIDENCE", "1.5"), ("EVERY_SECONDS", "0"), ("ENABLED", "yes"),
                      ("MINIMUM_HOLD_MINUTES", "x"), ("TENANTS", "no/tenant")):
        os.environ[f"INTERLOCK_SUPERVISOR_{name}"] = bad
        commands.run("config", "show", code=4)
        del os.environ[f"INTERLOCK_SUPERVISOR_{name}"]


def main():
    check_configuration(Commands("/nonexistent"))
    os.environ["INTERLOCK_SUPERVISOR_EVERY_SECONDS"] = "5"
    started = []
    with tempfile.TemporaryDirectory(prefix="interlock_supervisor_test_") as folder:
        try:
            commands = Commands(f"{folder}/data")
            started.append(plane.start_sink(folder))
            started.append(plane.start_server(folder))
            start_strategies(commands)
            assert started.pop().stop() == 0
            assert decisions(commands) == [], "it looked without being asked to"

            os.environ["INTERLOCK_SUPERVISOR_ENABLED"] = "true"
            started.append(plane.start_server(folder))
            wait_for_rounds(commands, ROUNDS)
            check_records(commands)
            check_replay(commands)
            assert started.pop().stop() == 0
            check_records(commands)
            check_replay(commands)
            commands.run("audit", "verify")
            check_damage(folder, commands.data)
            print(f"supervised: {len(decisions(commands))} rounds")
        finally:
            for child in started:
                child.kill()


main()
