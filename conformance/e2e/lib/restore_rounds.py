"""Backs up a trading server while it trades, loses it, and goes on from the backup, again and again.

Each round
  - takes a hot backup under load, and checks it (`restore --check`);
  - lets the planners trade on, so that the venue lives on behind the cut, and kills the server;
  - restores into a new folder: in odd rounds with the lost server's journals (the venue lived on), in
    even rounds without (everything went with the disk);
  - starts it, and holds it to what a restored server owes: it is stopped, keys are locked, sessions and
    requests are void, nothing trades, a release is refused before a human has accepted the break;
  - orders that only the venue knows have come up for a human, and no id is used a second time;
  - walks the operator's chapter (docs/operations.md, "Restoring") as a human, and after it the books
    are equal to the venue's journal and planners trade again.
The next round's server is the restored one, so backups of restored servers are restored, too.
"""

import collections
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

from commands import EMAIL, PASSWORD, Commands
from crash_lanes import CONFIG, RECOVERY_SECONDS, require
from paper_truth import PaperTruth
from plane import PATIENCE_SECONDS, Child, UnixConnection, call, connect, program
from planner import Planner, send
from trading_rounds import Ledger, differences

TENANTS = ("alpha", "beta")
PLANNERS = 2  # A tenant.


class TimedPlanner(Planner):
    """Also notes when each order was answered, and how long the longest answer took."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.executed = []  # (when, call, answer)
        self.longest = 0.0

    def tool(self, tool, decision, **fields):
        begin = time.monotonic()
        answer = super().tool(tool, decision, **fields)
        self.longest = max(self.longest, time.monotonic() - begin)
        last = self.answered[-1].call if self.answered else None
        if (tool == "py_execute_plan" and answer.get("execution") and last.tool == tool
                and last.body["decision_id"] == decision):
            self.executed.append((time.time(), last, answer))
        return answer


class RestoreRounds:
    def __init__(self, folder, seed):
        self.folder = pathlib.Path(folder)
        self.choose = random.Random(seed)
        self.counts = collections.Counter()
        self.longest_answer = 0.0
        self.backup_seconds = []
        self.keys = {}
        self.data = self.folder / "data0"
        (self.folder / "config.toml").write_text(CONFIG)

    @property
    def commands(self):
        return Commands(str(self.data))

    def start(self):
        server = Child(
            ["serve", "--config", str(self.folder / "config.toml"), "--data", str(self.data),
             "--port", "0"], str(self.folder / "server.log"))
        self.connection = connect(server.address)
        return server

    def set_up(self):
        for number, tenant in enumerate(TENANTS):
            self.commands.run("tenant", "create", tenant, "--name", tenant)
            made = self.commands.run(
                "key", "create", "--tenant", tenant, "--label", "test",
                "--scope", "planner,read,probe")
            self.keys[tenant] = made["access_key"]
            if number == 0:
                invited = self.commands.run(
                    "human", "invite", EMAIL, "--tenant", tenant, "--system")
                self.commands.run(
                    "human", "activate", "--code", invited["one_time_code"], "--password-stdin",
                    stdin=PASSWORD + "\n")
            else:
                self.invite_into(tenant)

    def invite_into(self, tenant):
        """The same person is a human of every tenant."""
        operator = UnixConnection(str(self.data / "operator.sock"))
        status, answer = call(operator, "POST", f"/api/{tenant}/humans", {"email": EMAIL})
        require(status // 100 == 2, f"inviting was answered {status}: {answer!r}")
        operator.close()

    def trade(self, server, seconds):
        planners = [
            TimedPlanner(server.address, tenant, self.keys[tenant],
                         f"r{self.counts['rounds']}_{number}_{self.choose.randrange(10**6)}",
                         self.choose.random())
            for tenant in TENANTS for number in range(PLANNERS)]
        for planner in planners:
            planner.start()
        time.sleep(seconds)
        return planners

    def account(self, tenant):
        status, text = call(
            self.connection, "GET", f"/api/{tenant}/account", None, self.keys[tenant])
        require(status == 200, f"reading the account was answered {status}: {text!r}")
        return json.loads(text)

    # --- one round ---

    def run(self, rounds):
        server = self.start()
        try:
            self.set_up()
            while self.counts["rounds"] < rounds:
                server = self.round(server)
                self.counts["rounds"] += 1
            server.stop()
            verified = self.commands.run("audit", "verify", "--accept-known-breaks")
            require(verified["ok"], "the last folder does not verify")
            self.counts["records"] += verified["records"]
        except BaseException:
            server.kill()
            raise

    def round(self, server):
        number = self.counts["rounds"]
        token = self.human_token()
        planners = self.trade(server, self.choose.uniform(0.5, 1.5))
        backup = self.folder / f"backup{number}"
        begin = time.monotonic()
        taken = self.commands.run("backup", str(backup))
        self.backup_seconds.append(time.monotonic() - begin)
        require(taken["sealed_by"] == "server", taken)
        cut = time.time()
        require(not (backup / "ledger.key").exists() and not (backup / "operator.token").exists()
                and not (backup / "master.key").exists(), "the backup holds a secret")
        time.sleep(self.choose.uniform(0.3, 1.0))  # The venue lives on.
        server.kill()
        for planner in planners:
            planner.join(PATIENCE_SECONDS)
            require(not planner.is_alive(), "a planner waits for a server that is gone")
            if planner.problem is not None:
                raise planner.problem
            self.longest_answer = max(self.longest_answer, planner.longest)
            self.counts["calls"] += len(planner.answered)
        later = [(call_, answer) for planner in planners
                 for when, call_, answer in planner.executed if when > cut]
        lives_on = number % 2 == 1
        lost = self.data
        self.restore(backup, lost if lives_on else None)
        server = self.start()
        try:
            self.check_stopped(token)
            self.check_venue(later if lives_on else [])
            self.walk_the_chapter(lives_on)
            self.wait_until_equal()
            self.check_no_second_order(later if lives_on else [])
            for planner in self.trade_a_little(server):
                require(planner.answered, "nobody could trade after the restore")
        except BaseException:
            server.kill()
            raise
        shutil.rmtree(lost)
        shutil.rmtree(backup)
        return server

    def human_token(self):
        operator = UnixConnection(str(self.data / "operator.sock"))
        status, text = call(
            operator, "POST", "/account/login",
            {"email": EMAIL, "password": PASSWORD, "want_token": True})
        require(status == 200, f"logging in was answered {status}: {text!r}")
        operator.close()
        return json.loads(text)["token"]

    def restore(self, backup, lost):
        self.commands.run("restore", str(backup), "--check", "--public-key",
                          str(self.data / "ledger.pub"))
        self.data = self.folder / f"data{self.counts['rounds'] + 1}"
        arguments = ["--lost", str(lost)] if lost else []
        restored = self.commands.run("restore", str(backup), *arguments)
        require(("paper.journal" in restored["from_lost"]) == bool(lost), restored)
        self.counts["restores with a venue that lived on" if lost else "plain restores"] += 1
        require(not (self.data / "ledger.key").exists(), "the restore brought a sealing key")
        if not lost:
            verified = self.commands.run("audit", "verify", "--accept-known-breaks")
            require(verified["ok"], f"the restored folder does not verify: {verified}")

    def check_stopped(self, token):
        switches = self.commands.run("kill", "status")["switches"]
        require(any(switch["active"] and switch["tenant_id"] == "_system" for switch in switches),
                f"a restored server is not stopped: {switches}")
        for tenant in TENANTS:
            status, text = call(
                self.connection, "GET", f"/api/{tenant}/account", None, self.keys[tenant])
            require(status == 403 and json.loads(text)["error"]["code"] == "key_locked",
                    f"a key of before works: {status} {text!r}")
            self.counts["keys found locked"] += 1
        connection = self.connection
        connection.request("GET", "/account/session", headers={"Authorization": f"Bearer {token}"})
        response = connection.getresponse()
        response.read()
        require(response.status == 401, f"a session of before works: {response.status}")
        # A release that nobody has looked into is refused.
        wish = self.commands.run("kill", "off", "--global")
        refused = self.commands.run(
            "approvals", "approve", wish["release_approval_id"], "--yes", "--email", EMAIL,
            "--password-stdin", stdin=PASSWORD + "\n", code=1)
        require(refused["error"]["code"] == "release_blocked", refused)
        report = self.commands.run("audit", "verify", code=1)
        require(any(chain["breaks"] for chain in report["chains"]
                    if chain["tenant_id"] == "_system"), report)

    def check_venue(self, later):
        """Nothing was sent since the start; what the venue knows and we did not waits for a human."""
        self.truth = PaperTruth(self.data / "paper.journal")
        self.truth.read_on()
        orders = {tenant: len(self.truth.accounts[tenant].accepted) for tenant in TENANTS}
        time.sleep(0.5)
        self.truth.read_on()
        for tenant in TENANTS:
            require(len(self.truth.accounts[tenant].accepted) == orders[tenant],
                    "a stopped server sent an order")
        with_orders = {call_.tenant for call_, answer in later
                       if any(row.get("status") != "rejected" for row in answer["execution"])}
        operator = UnixConnection(str(self.data / "operator.sock"))
        for tenant in TENANTS:
            status, text = call(operator, "GET", f"/api/{tenant}/account")
            require(status == 200, f"the operator read the account: {status} {text!r}")
            recovery = json.loads(text)["recovery"]
            if tenant in with_orders:
                require(recovery["phase"] == "escalated" and any(
                    reason.startswith("unexpected_order:") for reason in recovery["reasons"]),
                    f"orders that the backup does not know were passed over: {recovery}")
            if recovery["phase"] == "escalated":
                self.counts["accounts that waited for a human"] += 1
        operator.close()

    def walk_the_chapter(self, lives_on):
        self.commands.as_human(
            "audit", "accept-break", "--tenant", "_system", "--reason", "restored from a backup")
        for tenant in TENANTS:
            self.commands.as_human("key", "confirm", "--tenant", tenant, "--all")
        for tenant in TENANTS:
            account = self.account(tenant)
            if account["recovery"]["phase"] == "escalated":
                self.commands.as_human(
                    "trading", "resume", "--tenant", tenant, "--reason", "seen at the venue")
        deadline = time.monotonic() + RECOVERY_SECONDS
        wish = self.commands.run("kill", "off", "--global")
        while True:
            done = subprocess.run(
                [program(), "approvals", "approve", wish["release_approval_id"], "--yes",
                 "--email", EMAIL, "--password-stdin", "--data", str(self.data), "--json"],
                input=PASSWORD + "\n", capture_output=True, text=True, timeout=PATIENCE_SECONDS)
            if done.returncode == 0:
                break
            # Effects of the moment of the cut are unknown until the venue has settled them.
            require("release_blocked" in done.stdout + done.stderr,
                    f"the release was refused: {done.stdout} {done.stderr}")
            require(time.monotonic() < deadline, f"still refused: {done.stdout} {done.stderr}")
            time.sleep(0.5)
        self.commands.as_human("trading", "on", "--tenant", "_system")

    def wait_until_equal(self):
        ledger = Ledger(self.data / "interlock.db")
        deadline = time.monotonic() + RECOVERY_SECONDS
        for tenant in TENANTS:
            while True:
                account = self.account(tenant)
                ledger.read_on()
                self.truth.read_on()
                truth = self.truth.accounts[tenant]
                wrong = differences(account, truth, ledger.booked[tenant])
                phase = account["recovery"]["phase"]
                if phase == "normal" and not wrong:
                    break
                require(phase != "escalated" and time.monotonic() < deadline,
                        f"{tenant} is {account['recovery']}: {wrong}")
                time.sleep(0.1)
        self.counts["books equal to the venue"] += 1
        self.counts["orders imported"] += ledger.events["VENUE_HISTORY_IMPORTED"]

    def check_no_second_order(self, later):
        """What was executed after the cut is forgotten here, and must not happen once more."""
        for call_, answer in later[-10:]:
            send(self.connection, self.keys[call_.tenant], call_)
            intents = [{key: value for key, value in intent.items()
                        if key not in ("intent_id", "order_client_id")}
                       for intent in call_.body["approved_intents"]]
            if intents:
                wanted = [{**intent, "strategy_id": "external", "expected_edge_bps": "100"}
                          for intent in intents]
                body = {key: call_.body[key] for key in ("decision_id", "tick_id")}
                send(self.connection, self.keys[call_.tenant], call_._replace(
                    tool="py_validate_plan",
                    body={**body, "idempotency_key": f"again_{self.choose.randrange(10**12)}",
                          "plan": {"intents": wanted, "cancels": [], "reason": "again"}}))
                send(self.connection, self.keys[call_.tenant], call_._replace(
                    tool="py_dry_run_plan",
                    body={**body, "idempotency_key": f"again_{self.choose.randrange(10**12)}",
                          "plan": {"intents": intents, "cancels": []},
                          "assumptions": {"slippage_bps": 25, "fee_bps": 20}}))
                send(self.connection, self.keys[call_.tenant], call_._replace(
                    body={**call_.body,
                          "idempotency_key": f"again_{self.choose.randrange(10**12)}"}))
            self.counts["executions asked for again"] += 1
        self.truth.read_on()  # Fails when the venue took an id twice.

    def trade_a_little(self, server):
        return self.trade(server, 0.3)

    def summary(self):
        times = sorted(self.backup_seconds)
        return {**self.counts,
                "backup seconds, median": round(times[len(times) // 2], 2) if times else None,
                "backup seconds, longest": round(times[-1], 2) if times else None,
                "longest answer while backups ran": round(self.longest_answer, 2)}


def main(rounds):
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else rounds
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**9)
    print(f"seed {seed}", flush=True)
    folder = tempfile.mkdtemp(prefix="interlock_restore_")
    drill = RestoreRounds(folder, seed)
    begin = time.monotonic()
    try:
        drill.run(rounds)
    except BaseException:
        print(f"after {drill.summary()}: everything is kept in {folder}", flush=True)
        raise
    print(f"{drill.summary()} in {time.monotonic() - begin:.0f} s", flush=True)
    require(drill.counts["calls"] > 5 * rounds, "the planners never got going")
    shutil.rmtree(folder)
