"""Every way of tampering with the ledger of a real server is found, and named where it is.

A server makes a data folder with people, rights and messages of all kinds and a witness outside. Per
kind of tampering a copy is changed as somebody with access to the disk would change it; then
`audit verify`, the start of a server and `audit verify --witness` must say exactly what the table
expects (lib/tamperings.py). What a start found stays told for ever. long/audit_tamper.py tries
every row's start, this one only those of some. With `only WORDS` one row is tried.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import commands
import plane
import tamper_world
import tamperings
from forger import Forger, canonical
from tamper_world import copy, probe, verify

LOOKS = 3


def named(report):
    """The chains that a report does not find whole: (name, seq, problem, rows)."""
    found = []
    for prefix, chains in (("", report["chains"]), ("relay ", report["relay_chains"])):
        for chain in chains:
            if not chain["integrity"] or not chain["completeness"]:
                found.append((prefix + chain["tenant_id"], chain["first_bad_seq"], chain["problem"],
                              [row["key"] for row in chain["changed_rows"]]))
    return sorted(found)


def breaks(report):
    """The breaks that are on record: (name, seq, problem)."""
    return sorted(
        (prefix + chain["tenant_id"], one["first_bad_seq"], one["problem"])
        for prefix, chains in (("", report["chains"]), ("relay ", report["relay_chains"]))
        for chain in chains for one in chain["breaks"])


def logged(home, event):
    lines = pathlib.Path(f"{home}/server.log").read_text().splitlines()
    return [line["fields"] for line in (json.loads(text) for text in lines) if line["event"] == event]


def who_trades(world, server):
    trading = set()
    connection = plane.connect(server.address)
    for tenant in ("alpha", "gamma"):
        status, answer = probe(connection, tenant, world.keys[tenant], effect=True)
        if status == 200 and json.loads(answer)["effect_status"] == "done":
            trading.add(tenant)
    connection.close()
    return trading


class Case:
    """One row of the table on a copy of its own."""

    def __init__(self, world, row):
        self.world = world
        self.row = row
        self.home = f"{world.folder}/case"
        shutil.rmtree(self.home, ignore_errors=True)
        pathlib.Path(self.home).mkdir()
        self.data = f"{self.home}/data"
        copy(f"{world.folder}/{row.base}/data", self.data)
        # What the witness has is newer than a folder that was put back.
        newest = row.base if row.base in ("crashed", "turn") else "whole"
        shutil.copy(f"{world.folder}/{newest}/witness.log", f"{self.home}/witness.log")
        row.forge(self.data, world)

    def check(self, what, got, expected):
        assert got == expected, f"{what}: {got}, expected {expected}"

    def verify(self):
        code, report = verify(self.data)
        self.check("audit verify", named(report), sorted(self.row.found))
        self.check("exit status", (code, report["ok"]), (1, False) if self.row.found or
                   self.row.told_breaks else (0, True))
        self.check("breaks on record", breaks(report), sorted(self.row.told_breaks))
        _, report = verify(self.data, "--witness", f"{self.home}/witness.log")
        self.check("the witness", report["witnesses"][0]["problem"] or "agrees", self.row.witness)

    def start(self):
        if not self.row.starts:
            done = subprocess.run(
                [plane.program(), "serve", "--data", self.data, "--port", "0"], capture_output=True,
                text=True, timeout=plane.PATIENCE_SECONDS, check=False)
            assert done.returncode != 0 and self.row.says in done.stderr, done.stderr
            return
        expected = sorted(self.row.found if self.row.start is None else self.row.start)
        self.find_first()
        server = self.world.start(self.home)
        try:
            # What a command found is told by that command, and by nobody after it.
            names = [] if self.row.before == tamperings.ROTATE else expected
            self.check("the start", sorted(
                ("relay " * (line["where"] == "relay") + line["tenant_id"], line["seq"],
                 line["reason"]) for line in logged(self.home, "chain_broken")),
                [one[:3] for one in names])
            if self.row.warned:
                self.await_witness()
            self.check("who trades", who_trades(self.world, server), set(self.row.trades))
            self.refuse_release(expected)
        finally:
            self.check("its end", server.stop(), 0)
        self.told_for_ever(expected)

    def find_first(self):
        """The break gets on record by somebody who stops nobody."""
        if self.row.before == tamperings.BUSY_PORT:
            tamper_world.start_on_a_taken_port(self.home, self.world.sink_socket)
        elif self.row.before == tamperings.ROTATE:
            subprocess.run([plane.program(), "vault", "rotate", "--data", self.data], check=True,
                           capture_output=True, timeout=plane.PATIENCE_SECONDS)

    def await_witness(self):
        """The server asks its witness a moment after it started."""
        deadline = tamper_world.time.monotonic() + plane.PATIENCE_SECONDS
        while True:
            operator = plane.UnixConnection(f"{self.data}/operator.sock")
            _, answer = plane.call(operator, "GET", "/witness")
            _, kill = plane.call(operator, "GET", "/api/_system/kill")
            operator.close()
            said = json.loads(answer)["witnesses"][0]["disagreement"]
            if said and json.loads(kill)["active"]:
                return
            assert tamper_world.time.monotonic() < deadline, (self.row.name, answer)
            tamper_world.time.sleep(0.05)

    def refuse_release(self, expected):
        """No human can lift the stop of a broken chain before he has accepted the break."""
        if not expected:
            return
        tenant = expected[0][0].removeprefix("relay ")
        cli = commands.Commands(self.data)
        asked = cli.run("kill", "off", "--tenant", tenant) if tenant != "_system" \
            else cli.run("kill", "off")
        done = subprocess.run(
            [plane.program(), "approvals", "approve", asked["release_approval_id"], "--yes", "--email",
             commands.EMAIL, "--password-stdin", "--data", self.data, "--json"],
            input=commands.PASSWORD + "\n", capture_output=True, text=True,
            timeout=plane.PATIENCE_SECONDS, check=False)
        code = json.loads(done.stdout or done.stderr)["error"]["code"]
        # The human belongs to alpha and the host; elsewhere he has no say at all.
        may_ask = tenant in ("alpha", "_system") and not self.row.keeps_out
        self.check("the release", code, "release_blocked" if may_ask else "unauthenticated")

    def told_for_ever(self, expected):
        """One more life changes nothing of what is told; evidence was put aside."""
        kept = sorted(path.name.rsplit("-", 2)[0] for path in
                      pathlib.Path(self.data).glob("quarantine/*"))
        self.check("quarantine", sorted(set(kept)), sorted(
            {one[0] for one in expected if not one[0].startswith("relay ")}))
        told = []
        for _ in range(2):
            code, report = verify(self.data)
            told.append((named(report), breaks(report)))
            on_record = [(name, seq, problem) for name, seq, problem in breaks(report)]
            for one in expected:
                assert one[:3] in on_record, (self.row.name, one, on_record, named(report))
            if self.row.found or self.row.start or self.row.told_breaks:
                assert code == 1, f"{self.row.name}: healed by a start"
            server = self.world.start(self.home)
            self.check("who trades after another start", who_trades(self.world, server),
                       set(self.row.trades))
            self.check("its end", server.stop(), 0)
        self.check("what is told later", told[1], told[0])


class Load(threading.Thread):
    """Probes, one after the other, until told to finish."""

    def __init__(self, world, server):
        super().__init__(daemon=True)
        self.world = world
        self.server = server
        self.stopping = threading.Event()
        self.problem = None

    def run(self):
        while not self.stopping.is_set() and self.problem is None:
            try:
                self.world.probes(self.server, "alpha", 20)
            except AssertionError as error:
                self.problem = error

    def finish(self):
        self.stopping.set()
        self.join()
        assert self.problem is None, self.problem


def check_at_work(world):
    """A server at work never looks cut off, whenever one looks."""
    home = f"{world.folder}/busy"
    pathlib.Path(home).mkdir()
    copy(f"{world.folder}/whole/data", f"{home}/data")
    shutil.copy(f"{world.folder}/whole/witness.log", f"{home}/witness.log")
    server = world.start(home)
    load = Load(world, server)
    load.start()
    seen = []
    while len(seen) < LOOKS or seen[-1] < seen[0] + 100:
        code, report = verify(f"{home}/data")
        assert code == 0 and report["ok"], report
        seen.append(report["records"])
    load.finish()
    assert server.stop() == 0
    print(f"at work: OK, {len(seen)} times between {seen[0]} and {seen[-1]} records")


def check_competent(world):
    """The forger writes what we write: a chain written anew without a change is the same chain."""
    with Forger(f"{world.folder}/whole/data") as forger:
        for tenant in forger.tenants():
            for (text,) in forger.ask("SELECT json FROM ledger WHERE tenant_id = ?", tenant):
                assert canonical(json.loads(text)) == text, text


def check_damage(world):
    """A page that SQLite itself cannot read, and a copy that was cut in half."""
    bad = tamperings.BAD
    for name in ("page", "half"):
        data = f"{world.folder}/damaged_{name}"
        copy(f"{world.folder}/whole/data", data)
        path = pathlib.Path(f"{data}/interlock.db")
        content = bytearray(path.read_bytes())
        if name == "page":
            size = int.from_bytes(content[16:18], "big")
            at = content.find(f'"audit_id":"alpha.{bad}"'.encode())
            assert at > 0
            content[at - at % size] = 0x7F
        else:
            content = content[:len(content) // 2]
        path.write_bytes(content)
        code, report = verify(data)
        assert code == 1 and not report["ok"] and report["database_damage"], report
        problems = {chain["problem"] for chain in report["chains"] if not chain["ok"]}
        assert "unreadable_record" in problems or "truncated_tail" in problems, report
        print(f"a damaged database ({name}): found, {sorted(problems)}")


def check_read_only(world):
    """Evidence on a disk that nobody can write, not even root."""
    data, mount = f"{world.folder}/whole/data", f"{world.folder}/read_only"
    pathlib.Path(mount).mkdir()
    script = f"mount --bind {data} {mount} && mount -o remount,ro,bind {mount} && exec \"$@\""
    verifying = [plane.program(), "audit", "verify", "--data", mount, "--json", "--witness",
                 f"{world.folder}/whole/witness.log"]
    if os.geteuid() != 0:
        os.chmod(data, 0o500)
        code, report = verify(data)
        os.chmod(data, 0o700)
        assert code == 0 and report["ok"], report
        return
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", *verifying],
        capture_output=True, text=True, timeout=plane.PATIENCE_SECONDS, check=False)
    assert done.returncode == 0 and json.loads(done.stdout)["ok"], (done.stdout, done.stderr)
    print("on a read-only disk, with the witness: OK")


def check_exports(world):
    data, target = f"{world.folder}/whole/data", f"{world.folder}/alpha.ndjson"
    exporting = [plane.program(), "audit", "export", "--tenant", "alpha", "-o", target, "--data"]
    subprocess.run([*exporting, data], check=True, capture_output=True)
    public_key = f"{data}/ledger.pub"
    code, report = verify("nowhere", target, "--public-key", public_key)
    assert code == 0 and report["ok"] and report["authorship_proven"], report
    code, report = verify("nowhere", target)
    assert code == 0 and not report["authorship_proven"], report
    lines = pathlib.Path(target).read_text().splitlines(keepends=True)
    at = tamperings.BAD
    bad = next(i for i, line in enumerate(lines) if f'"audit_id":"alpha.{at}"' in line)
    for name, changed, expected in (
            ("changed", [*lines[:bad], lines[bad].replace('"step":"', '"step":"X', 1),
                         *lines[bad + 1:]], at),
            ("removed", [*lines[:bad], *lines[bad + 1:]], at),
            ("swapped", [*lines[:bad], lines[bad + 1], lines[bad], *lines[bad + 2:]], at),
            ("cut", [*lines[:bad], lines[-1]], at),
            ("headless", lines[:-1], None)):
        assert changed != lines, name
        pathlib.Path(target).write_text("".join(changed))
        code, report = verify("nowhere", target, "--public-key", public_key)
        assert code == 1 and not report["ok"], (name, report)
        assert report["first_bad_seq"] == expected, (name, report)
        assert not report["authorship_proven"], (name, report)
        print(f"export {name}: found, {report['problem']}")
    # Our signature does not make good what was hung on the last seal.
    forged = f"{world.folder}/forged"
    copy(data, forged)
    with Forger(forged) as forger:
        forger.append("alpha", "PROBE_DONE")
    done = subprocess.run([*exporting, forged], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "unproven_tail" in done.stderr, done.stderr


def show(rows, tried):
    """The table as the documents have it."""
    def words(found):
        return "; ".join(f"{name}: `{problem}`" for name, _, problem, _ in found) or "OK"

    print("\n| tampering | `audit verify` | start | with the witness |\n|---|---|---|---|")
    for row in rows:
        at_start = row.found if row.start is None else row.start
        start = words(at_start) if row.name in tried else "(not tried)"
        if row.warned:
            start += ", told by the witness"
        print(f"| {row.name} | {words(row.found)} | {start} | {row.witness} |")


def main(everything=False):
    only = " ".join(sys.argv[2:]) if sys.argv[1:2] == ["only"] else None
    with tempfile.TemporaryDirectory(prefix="interlock_tamper_") as folder:
        world = tamper_world.World(folder)
        try:
            world.make()
            check_competent(world)
            rows = [row for row in tamperings.table(world) if only is None or only in row.name]
            assert only is not None or len(rows) >= 50, len(rows)
            tried = set()
            failed = []
            for row in rows:
                try:
                    case = Case(world, row)
                    case.verify()
                    if everything or only is not None or row.daily:
                        case.start()
                        tried.add(row.name)
                except (AssertionError, KeyError) as error:
                    failed.append(row.name)
                    print(f"FAILED: {row.name}: {error!r}", flush=True)
            if only is None:
                check_at_work(world)
                check_damage(world)
                check_exports(world)
                check_read_only(world)
            show(rows, tried)
            assert not failed, failed
            print(f"{len(rows)} rows, {len(tried)} of them started")
        finally:
            world.close()


if __name__ == "__main__":
    main()
