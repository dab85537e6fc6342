"""Kills a loaded server with SIGKILL, again and again, and checks what must survive that.

Each round: start the server on the same data folder, load it with concurrent probes (half of them
with an effect, some waiting for it), kill it at a random moment, verify the ledger as the crash left
it, start the server again and check that
  - every answer that had arrived is in the ledger, and the same key gives the same bytes again;
  - every request without an answer can be repeated with its key;
  - the sink, which outlives all servers, saw no effect twice and none without its record (I1, I2).
"""

import collections
import http.client
import json
import pathlib
import random
import shutil
import sqlite3
import sys
import tempfile
import threading
import time

from crash_lanes import require, verify_ledger
from plane import PATIENCE_SECONDS, call, connect, make_tenant, start_server, start_sink

TENANTS = ("alpha", "beta")
CALLERS = 8

Probe = collections.namedtuple("Probe", "tenant body")


class Caller(threading.Thread):
    """One agent that sends probes until the server is gone."""

    def __init__(self, address, keys, name, seed):
        super().__init__(daemon=True)
        self.address = address
        self.keys = keys
        self.label = name
        self.choose = random.Random(seed)
        self.answered = []  # (probe, status, body)
        self.unanswered = None

    def next_probe(self, number):
        effect = self.choose.random() < 0.5
        label = f"{self.label}_{number}"
        return Probe(self.choose.choice(TENANTS), {
            "decision_id": f"dec_{label}", "tick_id": f"tick_{label}",
            "idempotency_key": f"key_{label}", "effect": effect,
            "wait": effect and self.choose.random() < 0.3})

    def run(self):
        connection = connect(self.address)
        number = 0
        while True:
            probe = self.next_probe(number)
            number += 1
            try:
                status, body = send(connection, self.keys, probe)
            except (OSError, http.client.HTTPException):
                self.unanswered = probe
                return
            self.answered.append((probe, status, body))


def send(connection, keys, probe):
    return call(connection, "POST", f"/api/{probe.tenant}/probes", probe.body, keys[probe.tenant])


def retry_until_answered(connection, keys, probe):
    """An effect that the crash left open is settled within seconds; until then: in_progress."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        status, body = send(connection, keys, probe)
        if status != 409 or json.loads(body)["error"]["code"] != "in_progress":
            return status, body
        require(time.monotonic() < deadline, f"{probe} is still in progress")
        time.sleep(0.05)


class Ledger:
    """Reads the records beside the server."""

    def __init__(self, folder):
        self.db = sqlite3.connect(f"file:{folder}/data/interlock.db?mode=ro", uri=True)

    def hash_of(self, tenant, seq):
        row = self.db.execute(
            "SELECT hash FROM ledger WHERE tenant_id = ? AND seq = ?", (tenant, seq)).fetchone()
        return row[0] if row else ""

    def effects(self):
        """Every effect id that an accepted probe announced."""
        found = set()
        for (text,) in self.db.execute(
                "SELECT json FROM ledger WHERE json LIKE '%PROBE_ACCEPTED%effect_id%' OR "
                "json LIKE '%effect_id%PROBE_ACCEPTED%'"):
            found.add(json.loads(text)["detail"].get("effect_id"))
        return found

    def close(self):
        self.db.close()


def read_journal(folder):
    text = (pathlib.Path(folder) / "sink.journal").read_text()
    return [json.loads(line) for line in text.splitlines()]


class CrashRounds:
    def __init__(self, folder, seed):
        self.folder = folder
        self.choose = random.Random(seed)
        self.keys = {}
        self.acknowledged = 0
        self.repeated = 0
        self.refused = 0

    def run_round(self, number):
        server = start_server(self.folder)
        if not self.keys:
            self.keys = {tenant: make_tenant(self.folder, tenant) for tenant in TENANTS}
        callers = [
            Caller(server.address, self.keys, f"r{number}_{i}", self.choose.random())
            for i in range(CALLERS)]
        for caller in callers:
            caller.start()
        time.sleep(self.choose.uniform(0.02, 0.5))
        server.kill()
        for caller in callers:
            caller.join(PATIENCE_SECONDS)
            require(not caller.is_alive(), "a caller still waits for a server that is gone")
        verify_ledger(f"{self.folder}/data")
        server = start_server(self.folder)
        try:
            self.check_answers(server, callers)
            self.check_effects()
        finally:
            server.kill()

    def check_answers(self, server, callers):
        connection = connect(server.address)
        ledger = Ledger(self.folder)
        for caller in callers:
            for probe, status, body in caller.answered:
                if status != 200:
                    # Overload and the like promise nothing; they must only say so clearly.
                    require(json.loads(body)["error"]["retryable"], f"{status} {body!r}")
                    self.refused += 1
                    continue
                seq, short = json.loads(body)["audit_ref"].split(":")
                require(ledger.hash_of(probe.tenant, int(seq)).startswith(short),
                        f"acknowledged, but not in the ledger: {probe} {body!r}")
                again = send(connection, self.keys, probe)
                require(again == (status, body),
                        f"{probe} was answered {body!r} before the crash and {again!r} after it")
                self.acknowledged += 1
            if caller.unanswered is not None:
                status, body = retry_until_answered(connection, self.keys, caller.unanswered)
                require(status == 200, f"{caller.unanswered} retried: {status} {body!r}")
                self.repeated += 1
        ledger.close()
        connection.close()

    def check_effects(self):
        # The journal first: what it holds must have been recorded before.
        journal = read_journal(self.folder)
        ledger = Ledger(self.folder)
        recorded = ledger.effects()
        ledger.close()
        seen = set()
        for line in journal:
            require(line["event"] != "duplicate", f"an effect ran twice: {line}")
            if line["event"] == "performed" and line["kind"] == "probe":
                require(line["effect_id"] not in seen, f"an effect ran twice: {line}")
                require(line["effect_id"] in recorded, f"an effect without its record: {line}")
                seen.add(line["effect_id"])

    def summary(self, rounds, seconds):
        events = collections.Counter(line["event"] for line in read_journal(self.folder))
        return (f"{rounds} kills: {self.acknowledged} acknowledged turns all there, "
                f"{self.repeated} unanswered ones repeated, {self.refused} refused; "
                f"{events['performed']} effects, {events['duplicate']} twice, "
                f"{events['tombstone']} never arrived, {events['late']} too late; "
                f"audit verify OK {rounds} times; {seconds:.0f} s")


def main(rounds):
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else rounds
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**9)
    print(f"seed {seed}", flush=True)
    folder = tempfile.mkdtemp(prefix="interlock_crash_")
    begin = time.monotonic()
    sink = start_sink(folder)
    crash = CrashRounds(folder, seed)
    try:
        for number in range(1, rounds + 1):
            crash.run_round(number)
    except BaseException:
        print(f"round {number} failed; everything is kept in {folder}", flush=True)
        sink.kill()
        raise
    require(crash.acknowledged > rounds, "the load never got going")
    print(crash.summary(rounds, time.monotonic() - begin))
    sink.kill()
    shutil.rmtree(folder)
