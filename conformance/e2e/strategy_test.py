"""Strategies from the command line against a real server: made, switched, paused, decided about, and
two supervisors who contradict each other all the time.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import plane
from commands import Commands, make_owner

CONCERN = "main:btcusdt"
ROUNDS = 40


def wait_for(what, ask):
    deadline = time.monotonic() + plane.PATIENCE_SECONDS
    while True:
        answer = ask()
        if answer:
            return answer
        assert time.monotonic() < deadline, f"{what} did not come about"
        time.sleep(0.2)


def concern(commands):
    (one,) = commands.run("concern", "list")["concerns"]
    return one


def open_orders(commands):
    return commands.run("account")["open_orders"]


def make_strategies(commands):
    # A table of the program: neither a server nor a tenant is needed to read it.
    alone = Commands(commands.data + "/nowhere")
    assert alone.run("strategy", "types") == commands.run("strategy", "types")
    types = {one["strategy_type"] for one in commands.run("strategy", "types")["strategy_types"]}
    assert {"grid_trader", "trend_follower", "exposure_protector", "idle"} <= types, types
    text = commands.run("strategy", "types", "grid_trader", as_json=False)
    assert "grid_levels" in text and "1 to 20" in text, text
    assert commands.refused("strategy", "types", "nonsense", code=2) == "bad_usage"
    assert "interlock strategy create" in commands.run("strategy", "list", as_json=False)
    grid = commands.as_human(
        "strategy", "create", "--type", "grid_trader", "--market", "BTCUSDT", "--name", "grid",
        "--set", "tick_seconds=1", "--set", "grid_levels=2", "--set", "order_notional_quote=50")
    assert grid["mode"] == "off" and grid["concern_id"] == CONCERN, grid
    refused = commands.as_human(
        "strategy", "create", "--type", "grid_trader", "--market", "BTCUSDT", "--set",
        "grid_levels=99", code=1)
    assert refused["error"]["code"] == "invalid_strategy_config", refused
    idle = commands.as_human("strategy", "create", "--type", "idle", "--market", "BTCUSDT")
    shown = commands.run("strategy", "show", grid["id"], "--config")
    assert shown["config"]["grid_levels"] == 2 and "report" not in shown, shown
    assert len(commands.run("strategy", "show", grid["id"])["report"]) == 8
    text = commands.run("strategy", "show", grid["id"], as_json=False)
    assert "report: execution" in text, text
    return grid["id"], idle["id"]


def further_accounts(commands):
    assert commands.refused("account", "--account", "second", code=1) == "unknown_account"
    opened = commands.as_human("account", "open", "second", "--reason", "a quiet corner")
    assert opened["account_id"] == "second" and opened["status"] == "applied", opened
    names = [one["account_id"] for one in commands.run("account", "list")["accounts"]]
    assert names == ["main", "second"], names
    idle = commands.as_human(
        "strategy", "create", "--type", "idle", "--market", "ETHUSDT", "--account", "second")
    assert idle["concern_id"] == "second:ethusdt", idle
    first = commands.as_human(
        "decide", "--concern", "second:ethusdt", "--action", "switch", "--target", idle["id"],
        "--expect", "none", "--reason", "begin")
    assert first["status"] == "applied", first
    again = commands.as_human(
        "decide", "--concern", "second:ethusdt", "--action", "set_risk_mode", "--risk-mode",
        "reduced", "--expect", "none", "--reason", "a stale view", code=1)
    assert again["errors"][0]["code"] == "expected_active_mismatch", again
    assert commands.run("account", "--account", "second")["equity"] is not None
    commands.as_human("strategy", "stop", idle["id"])
    commands.as_human("strategy", "delete", idle["id"])


def trade_and_switch(commands, grid, idle):
    switched = commands.as_human("strategy", "switch", grid, "--reason", "begin")
    assert switched["status"] == "applied" and switched["to_strategy_id"] == grid, switched
    orders = wait_for("an order of the grid", lambda: open_orders(commands))
    assert all(order["symbol"] == "BTCUSDT" for order in orders), orders
    paused = commands.as_human("strategy", "pause", grid)
    assert paused["status"] == "applied", paused
    wait_for("the end of its entries", lambda: not open_orders(commands))
    assert commands.run("strategy", "show", grid)["status"] == "paused"
    assert commands.as_human("strategy", "resume", grid)["status"] == "applied"
    wait_for("new orders", lambda: open_orders(commands))
    back = commands.as_human("strategy", "switch", idle, "--expect", grid)
    assert back["status"] == "applied" and back["from_strategy_id"] == grid, back
    assert not open_orders(commands), "the old strategy's orders are still there"
    stale = commands.as_human("strategy", "switch", grid, "--expect", grid, code=1)
    assert stale["errors"][0]["code"] == "expected_active_mismatch", stale


def change_records(commands, grid, idle):
    updated = commands.as_human("strategy", "update", grid, "--set", "grid_levels=3")
    assert updated["id"] == grid, updated
    config = commands.run("strategy", "show", grid, "--config")["config"]
    assert config["grid_levels"] == 3 and config["tick_seconds"] == 1, config
    policy = commands.as_human("strategy", "policy", grid, "--priority", "7")["policy"]
    assert policy["priority"] == 7 and policy["risk_posture"] == "balanced", policy
    assert commands.as_human("strategy", "reconcile", grid)["id"] == grid
    refused = commands.as_human("strategy", "delete", idle, code=1)
    assert refused["error"]["code"] == "instance_is_active", refused
    extra = commands.as_human("strategy", "create", "--type", "idle", "--market", "BTCUSDT")["id"]
    commands.as_human("strategy", "delete", extra)
    listed = [one["id"] for one in commands.run("strategy", "list")["strategies"]]
    assert extra not in listed and {grid, idle} == set(listed), listed
    assert commands.as_human("strategy", "stop", idle)["mode"] == "off"
    assert concern(commands)["active_strategy_id"] is None
    assert commands.as_human("strategy", "start", idle)["status"] == "applied"
    # The same key again is the same call, and nothing is done twice.
    once = commands.as_human(
        "strategy", "create", "--type", "idle", "--market", "ETHUSDT", "--key", "key_1")
    again = commands.as_human(
        "strategy", "create", "--type", "idle", "--market", "ETHUSDT", "--key", "key_1")
    assert once == again, (once, again)
    commands.as_human("strategy", "delete", once["id"])


def decide_as_agent(commands, key, grid, idle):
    def decide(*arguments, code=0, as_json=True):
        done = subprocess.run(
            [plane.program(), "decide", *arguments, "--data", commands.data,
             *(["--json"] if as_json else [])],
            env={**os.environ, "INTERLOCK_ACCESS_KEY": key}, capture_output=True, text=True,
            timeout=plane.PATIENCE_SECONDS, check=False)
        assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
        return json.loads(done.stdout or done.stderr) if as_json else done.stdout

    flags = ("--concern", CONCERN, "--action", "switch", "--target", grid, "--reason", "it ranges",
             "--confidence", "0.83", "--expect", idle, "--id", "dec_1")
    rehearsed = decide(*flags, "--dry-run")
    assert rehearsed["result"]["mode_change"] == "simulated", rehearsed
    assert concern(commands)["active_strategy_id"] == idle
    applied = decide(*flags)
    assert applied["status"] == "applied" and applied["from_strategy_id"] == idle, applied
    duplicate = decide(*flags)
    assert duplicate["status"] == "noop" and "duplicate_decision" in duplicate["warnings"], duplicate
    assert duplicate["result"]["original"] == applied, duplicate
    text = decide("--concern", CONCERN, "--action", "switch", "--target", idle, "--reason", "stale",
                  "--expect", idle, code=1, as_json=False)
    assert text.startswith("REJECTED: switch") and "expected_active_mismatch" in text, text
    payload = pathlib.Path(commands.data, "decision.json")
    payload.write_text(json.dumps({
        "decision_id": "dec_2", "concern_id": CONCERN, "account_id": "main",
        "market_symbol": "btcusdt", "action": "keep", "reason": "all is well", "confidence": 1}))
    kept = decide(str(payload), code=1)
    assert kept["errors"][0]["code"] == "unsupported_action", kept
    assert decide("--action", "pause", code=2)["error"]["code"] == "bad_usage"
    # An agent's key does nothing but this.
    connection = plane.UnixConnection(f"{commands.data}/operator.sock")
    status, body = plane.call(
        connection, "POST", f"/api/demo/instances/{grid}/pause", {"idempotency_key": "k"}, key)
    assert status == 403 and json.loads(body)["error"]["code"] == "human_required", (status, body)
    human = commands.as_human(
        "decide", "--concern", CONCERN, "--action", "set_risk_mode", "--risk-mode", "defensive",
        "--reason", "news ahead")
    assert human["risk_mode"] == "defensive", human
    assert concern(commands)["risk_mode"] == "defensive"
    commands.as_human("concern", "set", CONCERN, "informational")
    refused = decide("--concern", CONCERN, "--action", "pause", "--reason", "try", code=1)
    assert refused["errors"][0]["code"] == "concern_informational", refused
    commands.as_human("concern", "set", CONCERN, "active")


def race(commands, server, keys, strategies):
    """Both act on the same view at the same moment, each for a strategy of its own."""
    barrier = threading.Barrier(len(keys) + 1)
    view = {"active": None}
    answers = [[] for _ in keys]

    def supervise(number):
        connection = plane.connect(server.address)
        for round_number in range(ROUNDS):
            barrier.wait(plane.PATIENCE_SECONDS)
            others = [one for one in strategies if one != view["active"]]
            payload = {
                "decision_id": f"race_{round_number}_{number}", "concern_id": CONCERN,
                "account_id": "main", "market_symbol": "BTCUSDT", "action": "switch",
                "target_strategy_id": others[number], "reason": f"supervisor {number}",
                "expected_active_strategy_id": view["active"], "confidence": 0.6}
            status, body = plane.call(
                connection, "POST", "/api/demo/control_decisions", payload, keys[number])
            assert status == 200, body
            answers[number].append(json.loads(body))
            barrier.wait(plane.PATIENCE_SECONDS)

    threads = [threading.Thread(target=supervise, args=(i,), daemon=True) for i in range(len(keys))]
    for thread in threads:
        thread.start()
    for round_number in range(ROUNDS):
        view["active"] = concern(commands)["active_strategy_id"]
        barrier.wait(plane.PATIENCE_SECONDS)
        barrier.wait(plane.PATIENCE_SECONDS)
        round_answers = [answers[number][round_number] for number in range(len(keys))]
        winners = [one for one in round_answers if one["status"] == "applied"]
        losers = [one for one in round_answers if one["status"] == "rejected"]
        assert len(winners) == 1 and len(losers) == 1, round_answers
        assert losers[0]["errors"][0]["code"] in (
            "expected_active_mismatch", "switch_in_progress"), losers
        assert concern(commands)["active_strategy_id"] == winners[0]["to_strategy_id"]
    for thread in threads:
        thread.join(plane.PATIENCE_SECONDS)
    tell_the_story(commands, answers)


def tell_the_story(commands, answers):
    """Each answer stands in the audit under its id, with the payload it answers."""
    told = {}
    lines = subprocess.run(
        [plane.program(), "audit", "tail", "--tenant", "demo", "-n", "100000", "--json", "--data",
         commands.data], capture_output=True, text=True, check=True).stdout.splitlines()
    for line in lines:
        record = json.loads(line)
        if record["event"] == "CONTROL_DECISION":
            told[record["decision_id"]] = record
    for of_one in answers:
        for answer in of_one:
            record = told[answer["decision_id"]]
            assert record["detail"]["status"] == answer["status"], (record, answer)
            assert record["detail"]["errors"] == answer["errors"], (record, answer)
            assert record["detail"]["payload"]["decision_id"] == answer["decision_id"], record
    print(f"race: {ROUNDS} rounds, one winner each, all on the record")


def main():
    with tempfile.TemporaryDirectory(prefix="interlock_strategy_") as folder:
        sink = plane.start_sink(folder)
        server = None
        try:
            server = plane.start_server(folder)
            commands = Commands(f"{folder}/data")
            make_owner(commands, "demo")
            keys = [commands.run("key", "create", "--tenant", "demo", "--label", label, "--scope",
                                 "supervisor")["access_key"] for label in ("one", "two")]
            grid, idle = make_strategies(commands)
            trade_and_switch(commands, grid, idle)
            change_records(commands, grid, idle)
            decide_as_agent(commands, keys[0], grid, idle)
            print("commands: ok")
            commands.as_human("strategy", "switch", idle)
            more = [commands.as_human("strategy", "create", "--type", "idle", "--market",
                                      "BTCUSDT")["id"] for _ in range(2)]
            race(commands, server, keys, [idle, *more])
            further_accounts(commands)
            assert server.stop() == 0
            assert commands.run("audit", "verify")["ok"]
        finally:  # Nothing outlives a test that failed.
            sink.process.kill()
            if server is not None:
                server.process.kill()


if __name__ == "__main__":
    main()
