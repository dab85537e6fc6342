#!/usr/bin/env python3
"""Writes a golden data folder with the program in INTERLOCK_BIN: write_folder.py FOLDER NAME

FOLDER/NAME.tar.gz is the data folder as a server left it, with a receipt beside it; FOLDER/NAME.json is
what lib/golden_folder.py asks of it. Everything in it is thrown away: nobody else has these keys.
"""

import email
import email.policy
import gzip
import io
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e/lib"))

import golden_folder as golden
import plane
from golden_folder import order, wait_until
from relay_wire import RelayWire

TENANT = golden.TENANT
OWNER = "maker@example.com"


class Writer:
    def __init__(self, folder, server):
        self.data = folder / "data"
        self.caller = golden.Caller(server.address, self.data)
        self.keys = {}
        self.count = 0

    def set_up(self):
        ask = self.caller.ask
        ask("POST", "/tenants", {"tenant_id": TENANT, "name": "Demo"})
        self.keys["agent"] = ask("POST", f"/api/{TENANT}/keys", {
            "label": "an agent", "scopes": ["planner", "supervisor", "read", "probe"]})["access_key"]
        gone = ask("POST", f"/api/{TENANT}/keys", {"label": "revoked", "scopes": ["read"]})["key_id"]
        ask("DELETE", f"/api/{TENANT}/keys/{gone}")
        invited = ask("POST", f"/api/{TENANT}/humans", {"email": golden.EMAIL, "system_member": True})
        self.activate(invited["one_time_code"])
        self.token = self.caller.log_in(golden.EMAIL)
        self.planner = golden.Planner(self.caller, self.keys["agent"], "golden")

    def activate(self, code):
        self.caller.ask(
            "POST", "/account/activate", {"code": code, "password": golden.PASSWORD}, token="nobody")

    def human(self, path, body):
        self.count += 1
        key = {} if "approvals" in path else {"idempotency_key": f"human_{self.count}"}
        return self.caller.ask("POST", f"/api/{TENANT}{path}", {**body, **key}, token=self.token)

    def trade(self):
        decide = self.planner.decide
        decide("dec_buy", [order("BTCUSDT", "buy", "0.01"), order("ETHUSDT", "buy", "0.2")])
        decide("dec_sell", [order("ETHUSDT", "sell", "0.05")])
        resting = decide("dec_rest", [order("SOLUSDT", "buy", "0.5", "160.00")])
        decide("dec_cancel", [], cancels=resting)
        decide("dec_too_much", [order("BTCUSDT", "buy", "50")])
        decide("dec_costly", [order("BTCUSDT", "buy", "0.01")], slippage=1_000_000)
        self.keys["decisions"] = self.planner.decisions

    def control(self):
        """Two strategies take turns on a market; the grid's orders are gone when it has left."""
        def create(kind, name, config):
            return self.human("/instances", {
                "strategy_type": kind, "market_symbol": "XRPUSDT", "name": name, "config": config})["id"]

        grid = create("grid_trader", "a grid", {
            "grid_levels": 2, "grid_step_pct": "0.01", "order_notional_quote": "100", "tick_seconds": 1})
        idle = create("idle", "idle", {})
        for number, (target, expected) in enumerate(((grid, None), (idle, grid))):
            answer = self.caller.ask("POST", f"/api/{TENANT}/control_decisions", {
                "decision_id": f"ctl_{number}", "concern_id": "main:xrpusdt", "account_id": "main",
                "market_symbol": "xrpusdt", "action": "switch", "target_strategy_id": target,
                "expected_active_strategy_id": expected, "reason": "taking turns", "confidence": 0.8},
                key=self.keys["agent"])
            assert answer["status"] == "applied", answer
            if target == grid:
                wait_until("the grid's orders", lambda: self.caller.ask(
                    "GET", f"/api/{TENANT}/account", key=self.keys["agent"])["open_orders"])

    def stop_and_release(self):
        # Not among the kept calls: a stop stops again however old its key is.
        self.caller.ask("POST", f"/api/{TENANT}/tools/py_set_kill_switch", {
            "decision_id": "dec_stop", "tick_id": "tick_stop", "idempotency_key": "key_stop",
            "active": True, "reason": "a drill", "actor": "codex"}, key=self.keys["agent"])
        asked = self.human("/kill", {"active": False, "reason": "the drill is over"})
        released = f"/approvals/{asked['release_approval_id']}/approve"
        assert self.human(released, {"comment": "seen"})["state"] == "consumed"
        self.human("/trading", {"enabled": True})
        loosened = self.caller.ask("POST", f"/api/{TENANT}/limits", {
            "idempotency_key": "loosen", "changes": {"max_spread_bps": "60"}}, key=self.keys["agent"])
        assert loosened["status"] == "approval_required", loosened  # Waits for good.
        self.human("/accounts", {"account_id": "second"})

    def run_bot(self):
        account = self.caller.ask("POST", "/signup", {
            "email": OWNER, "plan": "pro", "agent_metadata": {"model": "golden"}}, token="nobody")
        tenant, key = account["tenant_id"], account["access_key"]
        self.keys.update(bot_tenant=tenant, bot=key, bot_owner=OWNER)
        self.activate(self.letter_code())
        self.caller.ask("POST", f"/api/{tenant}/account/plan", {"plan": "pro"})  # Without an end.
        person = self.caller.log_in(OWNER)
        base = f"/api/{tenant}"
        self.caller.ask("POST", f"{base}/update_exchange_keys", {
            "exchange": "paper", "api_key": "goldenkeyQx7b9LmZ", "api_secret": "goldensecretVw3t8RkP"},
            key=key)
        self.planner.keep(f"{base}/initialize_bot", {"idempotency_key": "init"}, key)
        self.planner.keep(f"{base}/start", {"idempotency_key": "start"}, key)
        wait_until("the bot's orders", lambda: self.caller.ask(
            "GET", f"{base}/account", token=person)["open_orders"])
        proposed = self.planner.keep(f"{base}/update_pnl", {"pnl_perc": 2.5, "idempotency_key": "pnl"}, key)
        self.caller.ask("POST", f"{base}/approvals/{proposed['proposal_id']}/approve", {}, token=person)
        self.caller.ask("POST", f"{base}/run_pnl", {"lookback_days": 1}, key=key)
        wait_until("the profit and loss", lambda: self.caller.ask(
            "GET", f"{base}/pnl_last_update", key=key)["timestamp"])
        self.planner.keep(f"{base}/stop", {"cancel_orders": True, "idempotency_key": "stop"}, key)
        wait_until("the end of its orders", lambda: not self.caller.ask(
            "GET", f"{base}/account", token=person)["open_orders"])

    def letter_code(self):
        def find():
            for path in (self.data / "outbox").glob("*.eml"):
                letter = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
                if letter["To"] == OWNER:
                    return re.search(r"code=(ilc_[a-z2-7]+)", letter.get_content()).group(1)
            return None

        return wait_until("the owner's letter", find)

    def talk(self):
        """A message that is answered, and one that waits for its agent."""
        ask = self.caller.ask
        ask("POST", "/api/relay/gateways", {
            "tenant_id": TENANT, "gateway_id": golden.GATEWAY, "instance_id": golden.INSTANCE,
            "secret": golden.SECRET})
        ask("POST", "/api/relay/bindings", {
            "platform": "local", "user_id": golden.USER, "instance_id": golden.INSTANCE})
        chat = f"dm:{golden.USER}"
        say = {"user": golden.USER, "chat_id": chat}
        wire = RelayWire(self.caller.address, golden.GATEWAY, golden.SECRET)
        wire.send({"type": "hello", "platform": "local", "botId": "console"})
        ask("POST", "/api/relay/console/say", {**say, "text": "hello"})
        while (frame := wire.receive())["type"] != "inbound":
            pass
        wire.send({"type": "inbound_ack", "bufferId": frame["bufferId"]})
        wire.send({"type": "outbound", "requestId": "r1",
                   "action": {"op": "send", "chat_id": chat, "content": "an answer"}})
        while wire.receive()["type"] != "outbound_result":
            pass
        wire.cut()
        wait_until("the end of the socket", lambda: self.caller.ask(
            "GET", "/api/relay/instances")["instances"][0]["health"] != "live")
        ask("POST", "/api/relay/console/say", {**say, "text": "are you there?"})

    def write_all(self):
        self.set_up()
        self.trade()
        self.control()
        self.run_bot()
        self.stop_and_release()
        self.talk()


def pack(folder, target):
    """Owned by nobody in particular and in order, so that the bytes tell nothing of the machine."""
    def plain(info):
        info.uid = info.gid = 0
        info.uname = info.gname = "root"
        return None if info.name == "data/LOCK" else info  # Holds a process id.

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name in ("data", "receipt.json"):
            tar.add(folder / name, name, filter=plain)
    with open(target, "wb") as out, gzip.GzipFile("", "wb", 9, out, 0) as packed:
        packed.write(buffer.getvalue())


def record(folder, writer):
    """What the folder says: of itself, and once a server has started on it."""
    data = folder / "data"
    told = {"chains": golden.chains(data), "replayed": golden.replay(data)}
    server = golden.start(folder)
    try:
        reads = golden.all_reads(golden.Caller(server.address, data), writer.keys)
    finally:
        assert server.stop() == 0
    (version,) = golden.run(data, "version")
    return {"version": version["version"], "commit": version["commit"], "written_at": int(time.time()),
            "keys": writer.keys, **told, "reads": reads, "repeats": writer.planner.kept}


def main(target, name):
    with tempfile.TemporaryDirectory(prefix="interlock_golden_") as place:
        folder = pathlib.Path(place, "folder")
        folder.mkdir()
        server = golden.start(folder)
        try:
            writer = Writer(folder, server)
            writer.write_all()
        finally:
            assert server.stop() == 0
        # A copy is asked, so that what is packed is what the server left.
        copy = pathlib.Path(shutil.copytree(folder, pathlib.Path(place, "copy")))
        subprocess.run(
            [plane.program(), "receipt", "dec_buy", "--tenant", TENANT, "--data", str(copy / "data"),
             "-o", str(folder / "receipt.json")], check=True, stdout=subprocess.DEVNULL)
        told = record(copy, writer)
        pack(folder, target / f"{name}.tar.gz")
        (target / f"{name}.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2])
