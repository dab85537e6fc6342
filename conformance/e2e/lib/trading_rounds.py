"""Kills a trading server with SIGKILL, again and again, and holds its books to the venue's journal.

Each round starts the server on the same data folder, waits until safe recovery is over, and checks
  - the venue never accepted one order_client_id twice, and none that was not written ahead;
  - every fill of the venue is booked once, none is invented, and holdings and open orders are equal;
  - every answer that had arrived comes back byte for byte, and every call without one can be
    repeated with its key;
  - `interlock audit verify` finds the ledger whole, as the crash left it.
Then planners trade until the next kill. Some kills come while the server still recovers.
"""

import collections
import decimal
import json
import sqlite3
import time

from crash_lanes import RECOVERY_SECONDS, CrashLane, require, run_lanes
from plane import call, make_tenant
from planner import Answered, Planner, is_kept, send

TENANTS = ("alpha", "beta")
PLANNERS = 2  # A tenant.
OLD_ANSWERS = 20


class Ledger:
    """What the server wrote down, followed as it grows."""

    def __init__(self, path):
        self.path = path
        self.seen = collections.Counter()  # Records read, by tenant.
        self.events = collections.Counter()
        self.booked = {tenant: {} for tenant in TENANTS}  # Fills by (symbol, trade_id).
        self.written_ahead = set()

    def read_on(self):
        database = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)
        for tenant in TENANTS:
            for seq, text in database.execute(
                    "SELECT seq, json FROM ledger WHERE tenant_id = ? AND seq > ? ORDER BY seq",
                    (tenant, self.seen[tenant])):
                self.take(tenant, json.loads(text))
                self.seen[tenant] = seq
        database.close()

    def take(self, tenant, record):
        event = record["event"]
        self.events[event] += 1
        if event == "FILL_BOOKED":
            fill = record["detail"]
            name = fill["symbol"], fill["trade_id"]
            require(name not in self.booked[tenant], f"booked twice: {fill}")
            self.booked[tenant][name] = fill
        elif event == "EXECUTION_ATTEMPT" and record["status"] == "started":
            self.written_ahead.update(
                order["order_client_id"] for order in record["detail"]["orders"])


def differences(account, truth, booked):
    """What our books and the venue's journal disagree about; empty when nothing."""
    ours = {}
    for row in account["balances"]:
        total = decimal.Decimal(row["free"]) + decimal.Decimal(row["locked"])
        if total != 0:
            ours[row["asset"]] = total
    found = []
    theirs = truth.balances()
    if ours != theirs:
        found.append(f"balances: ours {ours}, the venue's {theirs}")
    held = {row["symbol"]: decimal.Decimal(row["qty"]) for row in account["positions"]}
    truly = {f"{asset}USDT": amount for asset, amount in theirs.items() if asset != "USDT"}
    if held != truly:
        found.append(f"positions: ours {held}, the venue's {truly}")
    open_here = {order["order_client_id"] for order in account["open_orders"]}
    if open_here != set(truth.unfilled):
        found.append(f"open: ours {open_here}, the venue's {set(truth.unfilled)}")
    missing = truth.fills.keys() - booked.keys()
    if missing:
        found.append(f"fills not booked: {missing}")
    return found


class TradingRounds(CrashLane):
    """Planners are the users; every answer to py_execute_plan is kept."""

    def __init__(self, folder, seed):
        super().__init__(folder, seed)
        self.ledger = Ledger(self.data / "interlock.db")
        self.keys = {}

    def set_up(self):
        self.keys = {tenant: make_tenant(self.folder, tenant) for tenant in TENANTS}

    def use(self, server):
        self.users = [
            Planner(server.address, tenant, self.keys[tenant],
                    f"r{self.counts['kills']}_{number}", self.choose.random())
            for tenant in TENANTS for number in range(PLANNERS)]
        for planner in self.users:
            planner.start()
        time.sleep(self.choose.uniform(0.05, 1.2))

    def check_last(self):
        for answered in self.kept:
            self.ask_again(answered)

    def check(self):
        self.check_answers()
        for tenant in TENANTS:
            self.wait_until_equal(tenant)
        self.check_log()

    def check_answers(self):
        for planner in self.users:
            for answered in planner.answered:
                self.ask_again(answered)
                if answered.call.tool == "py_execute_plan":
                    self.kept.append(answered)
            if planner.unanswered is not None:
                self.repeat(planner.unanswered)
        self.users = []
        for answered in self.choose.sample(self.kept, min(OLD_ANSWERS, len(self.kept))):
            self.ask_again(answered)

    def ask_again(self, answered):
        again = send(self.connection, self.keys[answered.call.tenant], answered.call)
        require(again == (answered.status, answered.text),
                f"{answered.call} was answered {answered.text!r}, and later {again!r}")
        self.counts["answers asked again"] += 1

    def repeat(self, tool_call):
        """An order that the crash left open is settled first; until then: in_progress."""
        deadline = time.monotonic() + RECOVERY_SECONDS
        while True:
            status, text = send(self.connection, self.keys[tool_call.tenant], tool_call)
            if status != 409 or b'"in_progress"' not in text:
                break
            require(time.monotonic() < deadline, f"{tool_call} is still in progress")
            time.sleep(0.05)
        require(status < 500, f"{tool_call} repeated: {status} {text!r}")
        self.counts["calls repeated"] += 1
        if tool_call.tool == "py_execute_plan" and is_kept(status, text):
            self.kept.append(Answered(tool_call, status, text))

    def read_account(self, tenant):
        status, text = call(
            self.connection, "GET", f"/api/{tenant}/account", None, self.keys[tenant])
        require(status == 200, f"reading the account was answered {status}: {text!r}")
        return json.loads(text)

    def wait_until_equal(self, tenant):
        deadline = time.monotonic() + RECOVERY_SECONDS
        while True:
            account = self.read_account(tenant)
            phase = account["recovery"]["phase"]
            require(phase != "escalated", f"recovery failed: {account['recovery']}")
            self.ledger.read_on()
            self.truth.read_on()
            truth = self.truth.accounts[tenant]
            booked = self.ledger.booked[tenant]
            require(booked.keys() <= truth.fills.keys(), "a fill was invented")
            require(truth.accepted.keys() <= self.ledger.written_ahead,
                    "the venue has an order that was not written ahead")
            wrong = differences(account, truth, booked)
            if phase == "normal" and not wrong:
                for name, fill in truth.fills.items():
                    require(all(booked[name][field] == fill[field] for field in fill),
                            f"booked otherwise than it happened: {booked[name]} {fill}")
                return
            require(time.monotonic() < deadline, f"{tenant} is {phase}: {wrong}")
            time.sleep(0.1)

    def summary(self):
        accounts = self.truth.accounts.values()
        return collections.Counter({
            **self.counts,
            "orders accepted": sum(len(account.accepted) for account in accounts),
            "fills booked": sum(len(account.fills) for account in accounts),
            "orders unknown": self.ledger.events["ORDER_UNKNOWN"],
            "never arrived": self.ledger.events["ORDER_NEVER_ARRIVED"],
            "cancels": self.ledger.events["ORDER_CANCELED"],
            "records": sum(self.ledger.seen.values())})


def main(kills, lanes):
    kills, total = run_lanes(TradingRounds, "trading", kills, lanes)
    require(total["orders accepted"] > kills and total["fills booked"] > kills,
            "the planners never got going")
