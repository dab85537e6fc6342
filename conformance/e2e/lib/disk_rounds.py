"""Fails one call on the disk after another, and checks what must survive that.

strace lets the N-th call of a kind on a file of the data folder fail, or kills the server there; nothing
else on the machine notices. Each fault has a fresh copy of one small data folder and one agent that sends
probes one by one. Whatever the server makes of it,
  - an answer that arrived is in the ledger, and the same key gives the same bytes after a restart;
  - a request that did not get one said so: it may be repeated, and then it is answered;
  - a server that could not write says so (`/readyz`, `KILL`), or goes on because nothing was lost;
  - the sink saw no effect twice and none without its record (I1, I2);
  - the ledger verifies as the fault left it, and after the restart.
A file's faults end where the load no longer reaches the N-th call, so every write of a commit has its turn.
"""

import collections
import http.client
import itertools
import json
import pathlib
import shutil
import sys
import tempfile
import time

from crash_lanes import require, verify_ledger
from crash_rounds import Ledger, Probe, read_journal, retry_until_answered, send
from plane import call, connect, make_tenant, start_server, start_sink

TENANT = "alpha"
PROBES = 6
# What a commit, and what follows it, calls on each file.
PLACES = (
    ("interlock.db-wal", "pwrite64"),
    ("interlock.db-wal", "fdatasync"),
    ("interlock.db", "pwrite64"),
    ("interlock.db", "fdatasync"),
    ("heads.log", "write"),
    ("heads.log", "fdatasync"),
    ("heads/alpha.head", "pwrite64"),
    ("heads/_system.head", "pwrite64"),
)
ENDS = ("error=EIO", "error=ENOSPC", "signal=SIGKILL")

Fault = collections.namedtuple("Fault", "file call end number lasts")


def faults_of(file, call_name, number):
    """Once, and from then on; a kill is one for ever."""
    for end in ENDS:
        for lasts in ((False,) if end.startswith("signal") else (False, True)):
            yield Fault(file, call_name, end, number, lasts)


def struck(log):
    return "(INJECTED)" in log or "+++ killed by SIGKILL" in log


class DiskRounds:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.seed = self.folder / "seed"
        self.seed.mkdir()
        sink = start_sink(self.seed)
        server = start_server(self.seed)
        self.keys = {TENANT: make_tenant(self.seed, TENANT)}
        require(server.stop() == 0, "the seed's server did not end well")
        sink.kill()
        self.counts = collections.Counter()

    def run(self, fault, number):
        """Whether the fault was reached."""
        folder = self.folder / f"round_{number}"
        folder.mkdir()
        shutil.copytree(self.seed / "data", folder / "data", symlinks=True)
        sink = start_sink(folder)
        try:
            hit = self.strike(folder, fault)
        except BaseException:
            print(f"{fault} failed; everything is kept in {folder}", flush=True)
            raise
        finally:
            sink.kill()
        shutil.rmtree(folder)
        return hit

    def strike(self, folder, fault):
        trace = folder / "strace.log"
        when = f"{fault.number}+" if fault.lasts else f"{fault.number}"
        server = start_server(folder, before=(
            "strace", "--daemonize=pgroup", "-f", "-qq", "-o", str(trace),
            "-P", str(folder / "data" / fault.file), "-e", f"trace={fault.call}",
            "-e", f"inject={fault.call}:{fault.end}:when={when}"), may_die=True)
        answered, unanswered = self.load(server)
        hit = struck(trace.read_text())
        if server.address is not None and not (hit and fault.end == "signal=SIGKILL"):
            self.look(server, folder, unanswered)
        server.kill()
        verify_ledger(folder / "data")
        (folder / "data" / "KILL").unlink(missing_ok=True)  # The disk is well again.
        server = start_server(folder)
        try:
            self.check(server, folder, answered, unanswered)
        finally:
            server.kill()
        verify_ledger(folder / "data")
        self.counts["faults" if hit else "beyond the load"] += 1
        self.counts["answers kept"] += len(answered)
        self.counts["requests repeated"] += len(unanswered)
        return hit

    def load(self, server):
        answered, unanswered = [], []
        if server.address is None:
            return answered, unanswered
        for number in range(PROBES):
            probe = Probe(TENANT, {
                "decision_id": f"dec_{number}", "tick_id": f"tick_{number}",
                "idempotency_key": f"key_{number}", "effect": number % 2 == 0,
                "wait": number % 4 == 0})
            connection = connect(server.address)
            try:
                status, body = send(connection, self.keys, probe)
            except (OSError, http.client.HTTPException):
                unanswered.append(probe)
                continue
            if status == 200:
                answered.append((probe, status, body))
                continue
            error = json.loads(body)["error"]
            require(status in (409, 423, 503) and error["message"] and error["next_step"],
                    f"{probe} was refused without a clear word: {status} {body!r}")
            unanswered.append(probe)
        return answered, unanswered

    def look(self, server, folder, unanswered):
        """Who asks is told: a server that refuses its work does not say that it is ready."""
        status, body = call(connect(server.address), "GET", "/readyz")
        if unanswered:
            require(status == 503, f"requests went unanswered, and /readyz says {status} {body!r}")
            require((folder / "data" / "KILL").exists(), "the disk failed, and KILL is not there")
            self.counts["stopped themselves"] += 1

    def check(self, server, folder, answered, unanswered):
        connection = connect(server.address)
        ledger = Ledger(folder)
        for probe, status, body in answered:
            seq, short = json.loads(body)["audit_ref"].split(":")
            require(ledger.hash_of(probe.tenant, int(seq)).startswith(short),
                    f"acknowledged, but not in the ledger: {probe} {body!r}")
            again = send(connection, self.keys, probe)
            require(again == (status, body),
                    f"{probe} was answered {body!r} before the fault and {again!r} after it")
        for probe in unanswered:
            status, body = retry_until_answered(connection, self.keys, probe)
            require(status in (200, 423), f"{probe} retried: {status} {body!r}")
        recorded = ledger.effects()
        ledger.close()
        seen = set()
        for line in read_journal(folder):
            require(line["event"] != "duplicate", f"an effect ran twice: {line}")
            if line["event"] == "performed" and line["kind"] == "probe":
                require(line["effect_id"] not in seen, f"an effect ran twice: {line}")
                require(line["effect_id"] in recorded, f"an effect without its record: {line}")
                seen.add(line["effect_id"])


def main(step):
    """Every `step`-th call of each kind; 1 is the whole campaign."""
    step = int(sys.argv[1]) if len(sys.argv) > 1 else step
    folder = tempfile.mkdtemp(prefix="interlock_disk_")
    begin = time.monotonic()
    rounds = DiskRounds(folder)
    count = itertools.count(1)
    for file, call_name in PLACES:
        reached = 0
        for number in itertools.count(1, step):
            faults = list(faults_of(file, call_name, number))
            if not any([rounds.run(fault, next(count)) for fault in faults]):
                break
            reached = number
        print(f"  {file} {call_name}: up to call {reached}", flush=True)
        require(reached > 0 or file == "interlock.db", f"no {call_name} on {file} was reached")
    print(", ".join(f"{number} {what}" for what, number in rounds.counts.items())
          + f"; audit verify OK twice after each; {time.monotonic() - begin:.0f} s")
    require(rounds.counts["stopped themselves"] > 0, "no fault ever stopped a server")
    shutil.rmtree(folder)
