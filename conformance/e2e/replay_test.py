"""Decisions of a real server replay to the same bytes, and nothing that was changed afterwards does.

A server takes decisions of every kind. They are replayed while it runs and after it stopped. Then
copies of its data folder are changed as somebody with access to the disk would change them, and
`interlock replay` must name the decision. A receipt of one decision is checked where there is no
database, whole and with single bytes flipped.
"""

import json
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import plane

TENANT = "demo"
SETTLE_SECONDS = 60
FLIP_EVERY = 211  # Bytes of a receipt between two flips.


def run(*arguments):
    done = subprocess.run(
        [plane.program(), *arguments, "--json"], capture_output=True, text=True,
        timeout=plane.PATIENCE_SECONDS, check=False)
    return done.returncode, done.stdout, done.stderr


def run_json(*arguments):
    code, out, err = run(*arguments)
    assert out, f"{arguments} said nothing: {code} {err}"
    return code, json.loads(out)


def replay(data, *arguments):
    return run_json("replay", *(arguments or ["--all"]), "--data", data)


class Planner:
    def __init__(self, address, key):
        self.connection = plane.connect(address)
        self.key = key
        self.count = 0

    def tool(self, tool, decision, **fields):
        self.count += 1
        body = {"decision_id": decision, "tick_id": "tick_1",
                "idempotency_key": f"key_{self.count}", **fields}
        status, text = plane.call(
            self.connection, "POST", f"/api/{TENANT}/tools/{tool}", body, self.key)
        assert status == 200, (tool, status, text)
        return json.loads(text)

    def validate(self, decision, intents):
        wanted = [{**intent, "strategy_id": "external", "expected_edge_bps": "100"}
                  for intent in intents]
        answer = self.tool(
            "py_validate_plan", decision, plan={"intents": wanted, "reason": "replay test"})
        return answer["validation"]["pass"]

    def dry_run(self, decision, intents, slippage):
        answer = self.tool(
            "py_dry_run_plan", decision, plan={"intents": intents},
            assumptions={"slippage_bps": slippage, "fee_bps": 20})
        return answer["dry_run"]

    def trade(self, decision, intents):
        assert self.validate(decision, intents), decision
        rehearsed = self.dry_run(decision, intents, 25)
        assert rehearsed["pass"], rehearsed
        approved = [{**intent, "intent_id": row["intent_id"],
                     "order_client_id": row["order_client_id"]}
                    for intent, row in zip(intents, rehearsed["projected"])]
        answer = self.tool(
            "py_execute_plan", decision, execution_mode="paper", approved_intents=approved)
        assert answer["status"] == "ok", answer


def market_buy(qty):
    return [{"symbol": "BTCUSDT", "side": "buy", "order_type": "market", "qty": qty,
             "limit_price": None, "time_in_force": "GTC"}]


def wait_until_recorded(data, decision):
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        code, answer = run_json("decision", decision, "--tenant", TENANT, "--data", data)
        assert code == 0, answer
        if answer["stage"] == "recorded":
            return answer
        assert time.monotonic() < deadline, answer


def make_decisions(address, key):
    planner = Planner(address, key)
    planner.trade("dec_good", market_buy("0.001"))
    planner.trade("dec_more", market_buy("0.002"))
    assert not planner.validate("dec_refused", market_buy("50"))
    assert not planner.validate("dec_again", market_buy("50"))
    assert planner.validate("dec_again", market_buy("0.003"))
    assert planner.validate("dec_costly", market_buy("0.1"))
    assert not planner.dry_run("dec_costly", market_buy("0.1"), 1000000)["pass"]


def change(data, statement, *values):
    database = sqlite3.connect(f"{data}/interlock.db", isolation_level=None)
    cursor = database.execute(statement, values)
    assert cursor.rowcount > 0, f"changed nothing: {statement}"
    database.close()


ROW = f"UPDATE machine_state SET json = replace(json, ?, ?) WHERE machine_key = 'decision/{TENANT}/dec_good'"
STATE = "tenant_id = ? AND instr(CAST(bytes AS TEXT), '\"cash_free\"') > 0"

DAMAGE = {
    "a changed quantity": (ROW, '"qty":"0.001"', '"qty":"0.009"'),
    "a changed verdict": (ROW, '"pass":true', '"pass":false'),
    "a changed stage": (ROW, '"stage":"recorded"', '"stage":"executed"'),
    "a lost decision": (
        "DELETE FROM machine_state WHERE machine_key = ?", f"decision/{TENANT}/dec_good"),
    "changed facts": (
        f"UPDATE artifacts SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"cash_free\":\"', "
        f"'\"cash_free\":\"1') AS BLOB) WHERE {STATE}", TENANT),
    "lost facts": (f"DELETE FROM artifacts WHERE {STATE}", TENANT),
    "a changed record": (
        "UPDATE ledger SET json = replace(json, 'validation_hash\":\"', 'validation_hash\":\"f') "
        "WHERE tenant_id = ? AND instr(json, 'validation_hash') > 0", TENANT),
}


def check_damage(folder, data):
    for name, (statement, *values) in DAMAGE.items():
        copy = f"{folder}/damaged"
        shutil.copytree(data, copy)
        change(copy, statement, *values)
        code, report = replay(copy)
        assert code == 1 and not report["ok"], (name, report)
        found = report["findings"][0]["detail"] if report["findings"] else report["chain_fault"]
        print(f"{name}: found ({found})")
        code, _, _ = run("receipt", "dec_good", "--tenant", TENANT, "--data", copy, "-o",
                         f"{folder}/forged.json")
        assert code != 0 and not pathlib.Path(f"{folder}/forged.json").exists(), name
        shutil.rmtree(copy)


def check_receipt(folder, data):
    """In a folder of its own, with nothing of the server but its public key."""
    elsewhere = pathlib.Path(folder, "elsewhere")
    elsewhere.mkdir()
    receipt = elsewhere / "receipt.json"
    code, _, err = run(
        "receipt", "dec_good", "--tenant", TENANT, "--data", data, "-o", str(receipt))
    assert code == 0, err
    shutil.copy(f"{data}/ledger.pub", elsewhere / "ledger.pub")
    key = ("--key", str(elsewhere / "ledger.pub"))
    code, report = run_json("receipt", "verify", str(receipt), *key, "--data", "/nonexistent")
    assert code == 0 and report["ok"] and report["authorship_proven"], report
    assert report["stage"] == "recorded", report
    whole = receipt.read_bytes()
    flips = 0
    for at in range(0, len(whole), FLIP_EVERY):
        changed = bytearray(whole)
        changed[at] ^= 1
        receipt.write_bytes(changed)
        code, report = run_json("receipt", "verify", str(receipt), *key)
        assert code == 1 and not report["ok"], f"byte {at}: {report}"
        flips += 1
    print(f"receipt: {len(whole)} bytes, holds elsewhere; {flips} flipped bytes found")


def main():
    started = []
    with tempfile.TemporaryDirectory(prefix="interlock_replay_test_") as folder:
        try:
            started.append(plane.start_sink(folder))
            started.append(plane.start_server(folder))
            data = f"{folder}/data"
            key = plane.make_tenant(folder, TENANT)
            make_decisions(started[-1].address, key)
            for decision in ("dec_good", "dec_more"):
                wait_until_recorded(data, decision)
            code, account = run_json("account", "--tenant", TENANT, "--data", data)
            assert code == 0 and account["account_id"] == "main", account
            code, report = replay(data)
            assert code == 0 and report["decisions"] == 5, report
            check_receipt(folder, data)
            assert started.pop().stop() == 0
            code, report = replay(data)
            assert code == 0 and report["ok"], report
            print(f"replayed: {report['decisions']} decisions, {report['steps']} steps")
            code, one = replay(data, "dec_again", "--tenant", TENANT)
            assert code == 0 and one["decisions"] == 1, one
            code, none = replay(data, "--since", "2100-01-01T00:00:00Z", "--tenant", TENANT)
            assert code == 0 and none["decisions"] == 0, none
            code, _, _ = run("replay", "dec_none", "--tenant", TENANT, "--data", data)
            assert code != 0
            check_damage(folder, data)
        finally:
            for child in started:
                child.kill()


main()
