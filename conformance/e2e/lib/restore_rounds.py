"""Backs up a server at work, loses it, and goes on from the backup, again and again.

Each round
  - takes a hot backup while planners trade, probes wait for a slow sink, a bot quotes and people write
    to an agent that is away; and checks it (`restore --check`);
  - lets everybody go on, so that the venue lives on behind the cut, and kills the server;
  - restores into a new folder: in odd rounds with the lost server's journals (the venue lived on), in
    even rounds without (everything went with the disk);
  - starts it, and holds it to what a restored server owes: it is stopped, keys are locked, sessions and
    requests are void, effects of the cut are unknown and sent by nobody, the relay is shut, a release is
    refused before a human has accepted the break;
  - orders that only the venue knows have come up for a human, and no id is used a second time;
  - walks the operator's chapter (docs/operations.md, "Restoring") as a human, and after it the books
    are equal to the venue's journal, planners trade, the bot goes on, and what waited for the agent
    at the cut reaches it, in its order.
The next round's server is the restored one, so backups of restored servers are restored, too.
"""

import collections
import contextlib
import json
import pathlib
import random
import shutil
import sqlite3
import sys
import tempfile
import time

from commands import EMAIL, PASSWORD, Commands
from crash_lanes import CONFIG, RECOVERY_SECONDS, require
from paper_truth import PaperTruth
from plane import PATIENCE_SECONDS, Child, UnixConnection, call, connect, start_sink
from planner import send
from restore_load import (GATEWAY, SECRET, USER, BotOwner, Prober, TimedPlanner, Writer, read_waiting,
                          relay_status)
from trading_rounds import Ledger, differences

TENANTS = ("alpha", "beta")
STOPPED = "gamma"  # Waits for its release at every cut.
PLANNERS = 2  # A tenant.
SECRETS = ("ledger.key", "ledger.key.next", "operator.token", "master.key", "KILL", "LOCK", "outbox")


class RestoreRounds:
    def __init__(self, folder, seed):
        self.folder = pathlib.Path(folder)
        self.choose = random.Random(seed)
        self.counts = collections.Counter()
        self.answer_seconds = []
        self.backup_seconds = []
        self.keys = {}
        self.data = self.folder / "data0"
        self.bot = None
        (self.folder / "config.toml").write_text(
            CONFIG + '[audit]\nstandard_refused_kib = 0\ntenant_refused_kib = 0\n'
            '[[relay.bot]]\nplatform = "local"\n')

    @property
    def commands(self):
        return Commands(str(self.data))

    def start(self):
        server = Child(
            ["serve", "--config", str(self.folder / "config.toml"), "--data", str(self.data),
             "--port", "0", "--sink", str(self.folder / "sink.sock")],
            str(self.folder / "server.log"))
        self.connection = connect(server.address)
        if self.bot:
            self.bot.address = server.address
        return server

    def set_up(self, server):
        for number, tenant in enumerate((*TENANTS, STOPPED)):
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
                self.operator("POST", f"/api/{tenant}/humans", {"email": EMAIL})
        self.commands.run("kill", "on", "--tenant", STOPPED)
        self.commands.run("relay", "gateway", "add", "--gateway-id", GATEWAY, "--tenant", TENANTS[0],
                          "--instance", "i-away", "--secret", SECRET)
        self.commands.run("relay", "bind", "--platform", "local", "--user", USER,
                          "--instance", "i-away")
        self.bot = BotOwner(server.address)
        self.operator("POST", f"/api/{self.bot.tenant}/humans", {"email": EMAIL})
        self.keys[self.bot.tenant] = self.bot.key
        self.token = self.human_token()

    def operator(self, method, path, body=None):
        operator = UnixConnection(str(self.data / "operator.sock"))
        status, text = call(operator, method, path, body)
        operator.close()
        require(status // 100 == 2, f"{method} {path} was answered {status}: {text!r}")
        return json.loads(text)

    def human(self, token, method, path, body=None):
        """Status and answer to a human who is logged in."""
        self.connection.request(
            method, path, body=None if body is None else json.dumps(body),
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
        response = self.connection.getresponse()
        return response.status, json.loads(response.read() or "{}")

    def trade(self, server):
        planners = [
            TimedPlanner(server.address, tenant, self.keys[tenant],
                         f"r{self.counts['rounds']}_{number}_{self.choose.randrange(10**6)}",
                         self.choose.random())
            for tenant in TENANTS for number in range(PLANNERS)]
        for planner in planners:
            planner.start()
        return planners

    # --- one round ---

    def run(self, rounds):
        server = self.start()
        try:
            self.set_up(server)
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
        token = self.token  # Of the first server, or given by the restored one.
        wish = self.commands.run("kill", "off", "--tenant", STOPPED)["release_approval_id"]
        status, granted = self.human(
            token, "POST", f"/api/{self.bot.tenant}/account/key-grant", {"hours": 1})
        require(status == 200 and granted["key_grant"], f"the grant was answered {status}: {granted}")
        planners = self.trade(server)
        others = [
            Prober(server.address, TENANTS[0], self.keys[TENANTS[0]],
                   f"p{number}_{self.choose.randrange(10**6)}"),
            Writer(self.data, f"w{number}")]
        for other in others:
            other.start()
        time.sleep(self.choose.uniform(0.5, 1.5))
        backup = self.folder / f"backup{number}"
        begin, before = time.monotonic(), time.time()
        taken = self.commands.run("backup", str(backup))
        self.backup_seconds.append(time.monotonic() - begin)
        require(taken["sealed_by"] == "server" and not taken["left_out"], taken)
        cut = time.time()
        self.check_secrets(backup)
        # The venue lives on, however slow the machine is.
        time.sleep(self.choose.uniform(0.3, 1.0))
        patience = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < patience and not any(
                when > cut for planner in planners for when, _, _ in list(planner.executed)):
            time.sleep(0.05)
        server.kill()
        for caller in (*planners, *others):
            caller.join(PATIENCE_SECONDS)
            require(not caller.is_alive(), "somebody waits for a server that is gone")
            if caller.problem is not None:
                raise caller.problem
        for planner in planners:
            self.answer_seconds += planner.seconds
            self.counts["calls"] += len(planner.answered)
        later = [(call_, answer) for planner in planners
                 for when, call_, answer in planner.executed if when > cut]
        self.counts["executions after the cut"] += len(later)
        written = [text for when, text in others[1].stored if when < before]
        lives_on = number % 2 == 1
        lost = self.data
        self.restore(backup, lost if lives_on else None)
        performed = self.performed()
        under_way = self.effects_under_way()
        server = self.start()
        try:
            self.check_stopped(token, wish)
            self.check_effects(performed, under_way)
            self.check_venue(later if lives_on else [])
            require(relay_status(server.address) == 503, "the relay of a restored server is open")
            self.walk_the_chapter()
            self.wait_until_equal()
            self.check_no_second_order(later if lives_on else [])
            require(server.stop() == 0, "the restored server did not stop")
            server = self.start()  # The relay opens with the first start after the acceptance.
            self.check_messages(server, written)
            self.check_everybody_goes_on(server)
        except BaseException:
            server.kill()
            raise
        shutil.rmtree(lost)
        shutil.rmtree(backup)
        return server

    def check_secrets(self, backup):
        for name in SECRETS:
            require(not list(backup.rglob(name)), f"the backup holds {name}")
        manifest = (backup / "backup.json").read_text()
        for secret in (PASSWORD, SECRET, EMAIL, *self.keys.values()):
            require(secret not in manifest, "the manifest holds a secret")

    def human_token(self):
        return self.operator("POST", "/account/login", {
            "email": EMAIL, "password": PASSWORD, "want_token": True})["token"]

    def restore(self, backup, lost):
        # The folder itself was restored before, in later rounds: a break that we know of.
        known = ["--accept-known-breaks"] if self.counts["rounds"] else []
        if known:
            refused = self.commands.refused("restore", str(backup), "--check", code=4)
            require(refused == "corrupt_data", f"a break was taken without a word: {refused}")
        self.commands.run("restore", str(backup), "--check", "--public-key",
                          str(self.data / "ledger.pub"), *known)
        master = self.data / "master.key"
        self.data = self.folder / f"data{self.counts['rounds'] + 1}"
        arguments = ["--lost", str(lost)] if lost else []
        restored = self.commands.run("restore", str(backup), *arguments, *known)
        require(("paper.journal" in restored["from_lost"]) == bool(lost), restored)
        self.counts["restores with a venue that lived on" if lost else "plain restores"] += 1
        for name in SECRETS:
            require(not (self.data / name).exists(), f"the restore brought {name}")
        if not lost:
            verified = self.commands.run("audit", "verify", *known)
            require(verified["ok"], f"the restored folder does not verify: {verified}")
        shutil.copy2(master, self.data / "master.key")

    def performed(self):
        lines = (self.folder / "sink.journal").read_text().splitlines()
        effects = [json.loads(line) for line in lines]
        require(all(line["event"] != "duplicate" for line in effects), "an effect was sent twice")
        # The cancels of the stop go there, too, and shall.
        return [line["effect_id"] for line in effects
                if line["event"] == "performed" and line["kind"] == "probe"]

    def effects_under_way(self):
        with contextlib.closing(
                sqlite3.connect(f"file:{self.data}/interlock.db?mode=ro", uri=True)) as database:
            return {row[0] for row in database.execute(
                "SELECT effect_id FROM outbox WHERE state = 'pending' AND delivery = 'at_most_once'")}

    def check_stopped(self, token, wish):
        switches = self.commands.run("kill", "status")["switches"]
        require(any(switch["active"] and switch["tenant_id"] == "_system" for switch in switches),
                f"a restored server is not stopped: {switches}")
        for tenant, key in self.keys.items():
            status, text = call(self.connection, "GET", f"/api/{tenant}/account", None, key)
            require(status == 403 and json.loads(text)["error"]["code"] == "key_locked",
                    f"a key of before works: {status} {text!r}")
            self.counts["keys found locked"] += 1
        status, answer = self.human(token, "GET", "/account/session")
        require(status == 401, f"a session of before works: {status} {answer}")
        approval = self.operator("GET", f"/api/{STOPPED}/approvals/{wish}")
        require(approval["state"] == "expired", f"a request of before waits: {approval}")
        # A release that nobody has looked into is refused.
        self.token = self.human_token()
        status, account = self.human(self.token, "GET", f"/api/{self.bot.tenant}/account/status")
        require(status == 200 and account["key_grant"] is None, f"a grant of before lives: {account}")
        self.release = self.commands.run("kill", "off", "--global")["release_approval_id"]
        status, refused = self.approve_release()
        require(status == 409 and refused["error"]["code"] == "release_blocked", refused)
        report = self.commands.run("audit", "verify", code=1)
        require(any(chain["breaks"] for chain in report["chains"]
                    if chain["tenant_id"] == "_system"), report)

    def check_effects(self, performed, under_way):
        """What was under way at the cut is unknown, and nobody sends it once more."""
        unknown = set()
        with contextlib.closing(
                sqlite3.connect(f"file:{self.data}/interlock.db?mode=ro", uri=True)) as database:
            for (text,) in database.execute(
                    "SELECT json FROM ledger WHERE json LIKE '%_UNKNOWN\"%effect_id%' "
                    "OR json LIKE '%effect_id%_UNKNOWN\"%'"):
                record = json.loads(text)
                unknown.add(record["detail"].get("effect_id"))
        orders = {effect for effect in under_way if effect not in unknown}
        self.counts["effects under way at a cut"] += len(under_way)
        self.counts["of them settled as orders"] += len(orders)
        require(self.effects_under_way() == set(), "an effect of the cut still waits to be sent")
        require(self.performed() == performed, "a stopped server sent an effect")

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
        for tenant in TENANTS:
            recovery = self.operator("GET", f"/api/{tenant}/account")["recovery"]
            if tenant in with_orders:
                require(recovery["phase"] == "escalated" and any(
                    reason.startswith("unexpected_order:") for reason in recovery["reasons"]),
                    f"orders that the backup does not know were passed over: {recovery}")
            if recovery["phase"] == "escalated":
                self.counts["accounts that waited for a human"] += 1

    def approve_release(self):
        return self.human(
            self.token, "POST", f"/api/_system/approvals/{self.release}/approve", {})

    def walk_the_chapter(self):
        """Each command once as it is printed; what repeats, by the calls behind it."""
        self.commands.as_human(
            "audit", "accept-break", "--tenant", "_system", "--reason", "restored from a backup")
        self.commands.as_human("key", "confirm", "--tenant", TENANTS[0], "--all")
        for tenant in [tenant for tenant in self.keys if tenant != TENANTS[0]]:
            keys = self.human(self.token, "GET", f"/api/{tenant}/keys")[1]["keys"]
            for key in [key for key in keys if key.get("locked")]:
                status, answer = self.human(
                    self.token, "POST", f"/api/{tenant}/keys/{key['key_id']}/confirm", {})
                require(status == 200 and "locked" not in answer, answer)
        for tenant in (*TENANTS, self.bot.tenant):
            account = self.operator("GET", f"/api/{tenant}/account")
            if account["recovery"]["phase"] == "escalated":
                status, answer = self.human(
                    self.token, "POST", f"/api/{tenant}/recovery/resume",
                    {"idempotency_key": f"resume_{self.choose.randrange(10**12)}",
                     "reason": "seen at the venue"})
                require(status == 200, f"resuming was answered {status}: {answer}")
        deadline = time.monotonic() + RECOVERY_SECONDS
        while True:
            status, answer = self.approve_release()
            if status == 200:
                break
            # Effects of the moment of the cut are unknown until the venue has settled them.
            require(answer["error"]["code"] == "release_blocked" and time.monotonic() < deadline,
                    f"the release was refused: {answer}")
            time.sleep(0.5)
        self.release_tenants()
        self.commands.as_human("trading", "on", "--tenant", "_system")

    def release_tenants(self):
        """An order of the cut that outlived its cancel stops its tenant by rule; a human lifts that, too."""
        for switch in self.commands.run("kill", "status")["switches"]:
            if not switch["tenant_active"] or switch["tenant_id"] not in TENANTS:
                continue
            tenant = switch["tenant_id"]
            require(switch["reason"] == "recovery_cancels_failed", f"{tenant} is stopped: {switch}")
            release = self.commands.run("kill", "off", "--tenant", tenant)["release_approval_id"]
            status, answer = self.human(
                self.token, "POST", f"/api/{tenant}/approvals/{release}/approve", {})
            require(status == 200, f"the release of {tenant} was refused: {answer}")
            self.commands.as_human("trading", "on", "--tenant", tenant)
            self.counts["tenants that a rule had stopped"] += 1

    def wait_until_equal(self):
        ledger = Ledger(self.data / "interlock.db")
        deadline = time.monotonic() + RECOVERY_SECONDS
        for tenant in TENANTS:
            while True:
                account = self.operator("GET", f"/api/{tenant}/account")
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

    def check_no_second_order(self, later):
        """What was executed after the cut is forgotten here, and must not happen once more."""
        before = {tenant: set(self.truth.accounts[tenant].accepted) for tenant in TENANTS}
        for call_, answer in later[-10:]:
            send(self.connection, self.keys[call_.tenant], call_)
            intents = [{key: value for key, value in intent.items()
                        if key not in ("intent_id", "order_client_id")}
                       for intent in call_.body["approved_intents"]]
            if intents:
                self.ask_again(call_, intents)
            self.counts["executions asked for again"] += 1
        self.truth.read_on()  # Fails when the venue took an id twice.
        for tenant in TENANTS:
            require(set(self.truth.accounts[tenant].accepted) == before[tenant],
                    "a call that was repeated after the restore placed an order")

    def ask_again(self, call_, intents):
        """The same decision from its beginning, with fresh idempotency keys."""
        wanted = [{**intent, "strategy_id": "external", "expected_edge_bps": "100"}
                  for intent in intents]
        body = {key: call_.body[key] for key in ("decision_id", "tick_id")}
        for tool, fields in (
                ("py_validate_plan",
                 {"plan": {"intents": wanted, "cancels": [], "reason": "again"}}),
                ("py_dry_run_plan",
                 {"plan": {"intents": intents, "cancels": []},
                  "assumptions": {"slippage_bps": 25, "fee_bps": 20}}),
                ("py_execute_plan", call_.body)):
            send(self.connection, self.keys[call_.tenant], call_._replace(
                tool=tool,
                body={**body, **fields, "idempotency_key": f"again_{self.choose.randrange(10**12)}"}))

    def check_messages(self, server, written):
        """What waited at the cut reaches the agent that was away, in its order."""
        got = read_waiting(server.address, written[-1]) if written else []
        require([text for text in got if text in set(written)] == written,
                f"of {len(written)} messages that waited, these came: {got}")
        self.counts["messages that waited and came"] += len(written)

    def check_everybody_goes_on(self, server):
        """Trades again: planners through the tools, and the bot by itself."""
        before = {tenant: len(self.truth.accounts[tenant].accepted) for tenant in TENANTS}
        planners = self.trade(server)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            self.truth.read_on()
            if all(len(self.truth.accounts[tenant].accepted) > before[tenant] for tenant in TENANTS):
                break
            require(time.monotonic() < deadline, "nobody could trade after the restore")
            time.sleep(0.1)
        for planner in planners:
            planner.is_over = True
        status, view = self.bot.bot("GET", "/status")
        require(status == 200 and view["bot_state"] == "running", f"the bot does not run: {view}")
        for planner in planners:
            planner.join(PATIENCE_SECONDS)

    def summary(self):
        def rank(values, share):
            return round(sorted(values)[int(share * (len(values) - 1))], 3) if values else None

        return {**self.counts,
                "backup seconds, median and longest":
                    (rank(self.backup_seconds, 0.5), rank(self.backup_seconds, 1)),
                "answers in seconds, p50, p99 and longest":
                    tuple(rank(self.answer_seconds, share) for share in (0.5, 0.99, 1))}


def main(rounds):
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else rounds
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**9)
    print(f"seed {seed}", flush=True)
    folder = tempfile.mkdtemp(prefix="interlock_restore_")
    sink = start_sink(folder, "--delay-ms", "30")
    drill = RestoreRounds(folder, seed)
    begin = time.monotonic()
    try:
        drill.run(rounds)
    except BaseException:
        print(f"after {drill.summary()}: everything is kept in {folder}", flush=True)
        raise
    finally:
        sink.kill()
    print(f"{drill.summary()} in {time.monotonic() - begin:.0f} s", flush=True)
    require(drill.counts["calls"] > 5 * rounds, "the planners never got going")
    for what in ("effects under way at a cut", "messages that waited and came"):
        require(drill.counts[what] > 0, f"no {what}: nothing was tested")
    if rounds > 1:
        require(drill.counts["executions asked for again"] > 0, "nothing happened after a cut")
    shutil.rmtree(folder)
