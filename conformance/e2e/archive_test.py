"""Old segments leave the database of a server at work, through kill -9 in the middle, and nothing is lost.

A server gets a past of 40 days ago (its clock is set back by a preloaded library), then goes on
today under load. `interlock audit archive` runs while the server is killed again and again. Then the
folder must verify with the segment files and without them, the file must have become smaller, and
whoever reads old records must find them in the files, or be told where they are.
"""

import http.client
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import plane
from shifted_clock import Clock

TENANT = "demo"
DAYS_BACK = 40
OLD_PROBES = 4000
KILLS = 5
CALLERS = 4


def run(*arguments):
    done = subprocess.run(
        [plane.program(), *arguments, "--json"], capture_output=True, text=True, timeout=300,
        check=False)
    answer = json.loads(done.stdout) if done.stdout.strip() else None
    return done.returncode, answer, done.stderr


def verify(data, *arguments, code=0):
    got, report, err = run("audit", "verify", "--data", data, *arguments)
    assert got == code, (got, err, report)
    return report


def chain_of(report, tenant=TENANT):
    return next(chain for chain in report["chains"] if chain["tenant_id"] == tenant)


def probe(connection, key, name):
    return plane.call(
        connection, "POST", f"/api/{TENANT}/probes",
        {"decision_id": f"dec_{name}", "tick_id": "tick_1", "idempotency_key": f"key_{name}",
         "note": "a note that fills some room in the ledger " * 4, "effect": False, "wait": False},
        key)


def fill(address, key, count, name):
    def lane(number):
        connection = plane.connect(address)
        for i in range(number, count, CALLERS):
            status, text = probe(connection, key, f"{name}_{i}")
            assert status == 200, (status, text)
    lanes = [threading.Thread(target=lane, args=(i,)) for i in range(CALLERS)]
    for one in lanes:
        one.start()
    for one in lanes:
        one.join()


class Load(threading.Thread):
    """Calls until it is told to stop; a server that is killed in between is expected."""

    def __init__(self, key):
        super().__init__(daemon=True)
        self.key = key
        self.address = None
        self.ends = False
        self.answered = 0
        self.slowest = 0.0

    def run(self):
        count = 0
        while not self.ends:
            try:
                connection = plane.connect(self.address)
                while not self.ends:
                    count += 1
                    begun = time.monotonic()
                    status, _ = probe(connection, self.key, f"load_{count}")
                    self.slowest = max(self.slowest, time.monotonic() - begun)
                    self.answered += status == 200
            except (OSError, http.client.HTTPException):  # The server is down for a moment.
                time.sleep(0.02)


def run_pnl(address, key):
    """One run to its end; gives its outcome and how many records it had to read."""
    connection = plane.connect(address)
    status, text = plane.call(
        connection, "POST", f"/api/{TENANT}/run_pnl", {"lookback_days": 30}, key)
    assert status == 200, (status, text)
    deadline = time.monotonic() + plane.PATIENCE_SECONDS
    while True:
        status, text = plane.call(connection, "GET", f"/api/{TENANT}/pnl_status", key=key)
        answer = json.loads(text)
        if answer["status"] == "idle":
            return answer["last_outcome"]
        assert time.monotonic() < deadline, answer
        time.sleep(0.05)


def bot_key(data):
    """A key that may run PnL as well."""
    operator = plane.UnixConnection(f"{data}/operator.sock")
    status, answer = plane.call(
        operator, "POST", f"/api/{TENANT}/keys", {"label": "bot", "scopes": ["bot", "read", "probe"]})
    assert status // 100 == 2, (status, answer)
    return json.loads(answer)["access_key"]


def database_bytes(data):
    return sum(p.stat().st_size for p in pathlib.Path(data).glob("interlock.db*") if "shm" not in p.name)


def check_smaller(data, before, records):
    """What has left is gone from the file: per record that is still there it is as large as before.

    The load goes on while segments leave, and a faster machine adds more of it, so the sizes alone
    say nothing.
    """
    chains = verify(data)["chains"]
    total = sum(chain["records"] for chain in chains)
    gone = sum(segment["to"] - segment["from"] + 1
               for chain in chains for segment in chain["segments"])
    stopped = database_bytes(data)
    grown = before / records * total  # Had nothing left.
    left = before / records * (total - gone)
    assert gone >= OLD_PROBES, (gone, total)
    # Answers to repeated keys stay for their time, whether their records left or not.
    assert stopped < (grown + left) / 2, (before, records, total, gone, stopped)
    return stopped


def archive_through_kills(folder, data, server, load):
    """Archives until it is done; the server dies in between."""
    segments = 0
    for kill in range(KILLS + 1):
        command = subprocess.Popen(
            [plane.program(), "audit", "archive", "--keep", "1", "--data", data, "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if kill < KILLS:
            time.sleep(random.uniform(0.05, 0.8))
            server.kill()
            command.communicate(timeout=120)
            server = plane.start_server(folder)
            load.address = server.address
            verify(data)
        else:
            out, err = command.communicate(timeout=300)
            assert command.returncode == 0, (command.returncode, out, err)
            answer = json.loads(out)
            assert answer["done"], answer
            assert not answer["problems"], answer
        segments = len(list(pathlib.Path(data, "archive").glob("*.jsonl")))
    assert segments > 0
    return server


def check_reads(folder, data, server, key, records):
    """With the files everything is there; without them it is said where it is."""
    whole = verify(data)
    chain = chain_of(whole)
    assert chain["first_seq"] == 1 and chain["segments"], chain
    assert all(segment["state"] == "whole" for segment in chain["segments"]), chain
    assert chain["records"] >= records, (chain["records"], records)
    code, record, err = run("audit", "show", "5", "--tenant", TENANT, "--data", data)
    assert code == 0 and record["seq"] == 5, err
    code, report, err = run("replay", "--all", "--tenant", TENANT, "--data", data)
    assert code == 0 and report["ok"], (report, err)
    code, _, err = run("audit", "export", "--tenant", TENANT, "--data", data, "-o", f"{folder}/e")
    assert code == 0, err
    code, report, _ = run("audit", "verify", f"{folder}/e", "--public-key", f"{data}/ledger.pub")
    assert code == 0 and report["first_seq"] == 1, report
    for segment in pathlib.Path(data, "archive").glob("*.jsonl"):
        assert segment.stat().st_mode & 0o777 == 0o600, segment
        code, report, err = run(
            "audit", "verify", str(segment), "--public-key", f"{data}/ledger.pub")
        assert code == 0 and report["authorship_proven"], (segment, report, err)
    connection = plane.connect(server.address)
    status, text = plane.call(connection, "GET", f"/api/{TENANT}/audit/5", key=key)
    assert status == 410 and json.loads(text)["error"]["code"] == "archived", (status, text)

    shutil.move(f"{data}/archive", f"{folder}/elsewhere")
    # A run goes on from where the last one stopped, and needs no file for that.
    assert run_pnl(server.address, key) == "completed"
    cut = chain_of(verify(data))
    assert cut["first_seq"] > 1, cut
    assert all(segment["state"] == "not_at_hand" for segment in cut["segments"]), cut
    code, _, err = run("audit", "show", "5", "--tenant", TENANT, "--data", data)
    assert code != 0 and "archived" in err, (code, err)
    code, report, err = run("replay", "--all", "--tenant", TENANT, "--data", data)
    assert code == 0 and report["ok"], (report, err)
    again = chain_of(verify(data, "--archive", f"{folder}/elsewhere"))
    assert again["first_seq"] == 1, again

    some = sorted(pathlib.Path(folder, "elsewhere").glob(f"{TENANT}-*.jsonl"))[0]
    text = some.read_bytes()
    some.write_bytes(text.replace(b"a note that fills", b"A note that fills", 1))
    bad = verify(data, "--archive", f"{folder}/elsewhere", code=1)
    assert bad["problem"] == "changed_segment" and bad["first_bad_tenant"] == TENANT, bad
    some.write_bytes(text)
    shutil.move(f"{folder}/elsewhere", f"{data}/archive")


def check_offline(folder, data, clock):
    """Nobody runs, and a month later the command does it alone."""
    before = database_bytes(data)
    clock.set(DAYS_BACK * 86400)
    code, answer, err = run("audit", "archive", "--data", data)
    clock.set(0)
    assert code == 0 and answer["done"] and answer["by"] == "folder", (code, answer, err)
    assert answer["segments"], answer
    after = database_bytes(data)
    clock.set(DAYS_BACK * 86400)
    report = verify(data)
    server = plane.start_server(folder)
    assert server.stop() == 0
    verify(data)
    clock.set(0)
    print(f"without a server: {len(answer['segments'])} segments, database {before} -> {after}, "
          f"{report['records']} records verify")


def main():
    random.seed(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    children = []
    with tempfile.TemporaryDirectory(prefix="interlock_archive_test_") as folder:
        data = f"{folder}/data"
        clock = Clock(folder)
        try:
            children.append(plane.start_sink(folder))
            clock.set(-DAYS_BACK * 86400)
            server = plane.start_server(folder)
            plane.make_tenant(folder, TENANT)
            key = bot_key(data)
            fill(server.address, key, OLD_PROBES, "old")
            assert server.stop() == 0
            clock.set(0)
            server = plane.start_server(folder)
            children.append(server)
            fill(server.address, key, 50, "new")
            assert run_pnl(server.address, key) == "completed"
            server.stop()
            children.pop()
            server = plane.start_server(folder)
            whole = verify(data)
            records = chain_of(whole)["records"]
            before = database_bytes(data)
            load = Load(key)
            load.address = server.address
            load.start()
            server = archive_through_kills(folder, data, server, load)
            children.append(server)
            load.ends = True
            load.join()
            replayed = run("replay", "--all", "--tenant", TENANT, "--data", data)[1]["next_from"]
            check_reads(folder, data, server, key, records)
            code, report, err = run(
                "replay", "--from", str(replayed), "--tenant", TENANT, "--data", data)
            assert code == 0 and report["ok"], (report, err)
            assert server.stop() == 0
            children.pop()
            stopped = check_smaller(data, before, whole["records"])
            print(f"{records} records, {KILLS} kills, {load.answered} calls meanwhile (slowest "
                  f"{load.slowest * 1000:.0f} ms); database {before} -> {stopped} bytes")
            check_offline(folder, data, clock)
        finally:
            for child in children:
                child.kill()


main()
