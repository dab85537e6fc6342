"""Every way of tampering with the ledger of a real server is found, at the right record.

A server makes a chain of probes and stops. Per kind of damage a copy of its data folder is changed as
somebody with access to the disk would change it, and `interlock audit verify` must name the record.
"""

import hashlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import plane

TENANT = "demo"
PROBES = 120  # At least.
LOOKS = 3
BAD = 57  # The record that is tampered with; a whole page of the database lies before and after it.


def verify(data, *arguments):
    result = subprocess.run(
        [plane.program(), "audit", "verify", *arguments, "--data", data, "--json"],
        capture_output=True, text=True, timeout=plane.PATIENCE_SECONDS)
    if not result.stdout:
        raise AssertionError(f"verify said nothing: {result.returncode} {result.stderr}")
    return result.returncode, json.loads(result.stdout)


class Load(threading.Thread):
    """Probes, one after the other, until told to finish."""

    def __init__(self, address, key):
        super().__init__(daemon=True)
        self.connection = plane.connect(address)
        self.key = key
        self.count = 0
        self.stopping = threading.Event()
        self.problem = None

    def run(self):
        while not self.stopping.is_set() and self.problem is None:
            status, answer = plane.call(
                self.connection, "POST", f"/api/{TENANT}/probes",
                {"decision_id": f"dec_{self.count}", "tick_id": "-",
                 "idempotency_key": f"key_{self.count}", "note": f"number {self.count}"}, self.key)
            if status != 200:
                self.problem = answer
            self.count += 1

    def finish(self):
        self.stopping.set()
        self.join()
        assert self.problem is None, self.problem


def make_ledger(folder, started):
    sink = plane.start_sink(folder)
    started.append(sink)
    server = plane.start_server(folder)
    started.append(server)
    key = plane.make_tenant(folder, TENANT)
    load = Load(server.address, key)
    load.start()
    # A server at work never looks cut off, whenever one looks.
    seen = []
    while len(seen) < LOOKS or load.count < PROBES:
        code, report = verify(f"{folder}/data")
        assert code == 0 and report["ok"], report
        seen.append(report["records"])
    load.finish()
    shutil.copytree(f"{folder}/data", f"{folder}/before",
                    ignore=shutil.ignore_patterns("*.sock"))
    settle(f"{folder}/before")
    assert seen[-1] > seen[0], "nothing was written while it was verified"
    print(f"at work: OK, {len(seen)} times between {seen[0]} and {seen[-1]} records")
    assert server.stop() == 0
    sink.stop()
    settle(f"{folder}/data")
    return f"{folder}/data"


def settle(data):
    """Puts what is in the write-ahead log into the database file."""
    database = sqlite3.connect(f"{data}/interlock.db")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


def change(data, *statements):
    database = sqlite3.connect(f"{data}/interlock.db", isolation_level=None)
    for statement in statements:
        cursor = database.execute(statement)
        assert cursor.rowcount != 0, f"changed nothing: {statement}"
    database.close()
    settle(data)


def flip_byte(data):
    path = pathlib.Path(f"{data}/interlock.db")
    database = sqlite3.connect(path)
    (record,) = database.execute(
        "SELECT json FROM ledger WHERE tenant_id = ? AND seq = ?", (TENANT, BAD)).fetchone()
    database.close()
    content = bytearray(path.read_bytes())
    at = content.find(record.encode())
    assert at > 0, "the record's text does not lie in one piece in the file"
    at += record.index('"timestamp":"20') + len('"timestamp":"20')
    content[at] ^= 1
    path.write_bytes(content)


def damage_page(data):
    """Makes the page that holds the record unreadable for SQLite."""
    path = pathlib.Path(f"{data}/interlock.db")
    content = bytearray(path.read_bytes())
    size = int.from_bytes(content[16:18], "big")
    at = content.find(f'"audit_id":"{TENANT}.{BAD}"'.encode())
    assert at > 0
    content[at - at % size] = 0x7F
    path.write_bytes(content)


def delete_row(data):
    change(data, f"DELETE FROM ledger WHERE tenant_id = '{TENANT}' AND seq = {BAD}")


def swap_rows(data):
    where = f"WHERE tenant_id = '{TENANT}' AND seq ="
    change(
        data,
        f"UPDATE ledger SET seq = -1 {where} {BAD}",
        f"UPDATE ledger SET seq = {BAD} {where} {BAD + 1}",
        f"UPDATE ledger SET seq = {BAD + 1} {where} -1")


def swap_texts(data):
    where = f"WHERE tenant_id = '{TENANT}' AND seq ="
    texts = f"(SELECT json FROM ledger {where} {BAD}), (SELECT json FROM ledger {where} {BAD + 1})"
    change(
        data,
        f"CREATE TABLE kept AS SELECT * FROM (VALUES ({texts}))",
        f"UPDATE ledger SET json = (SELECT column2 FROM kept) {where} {BAD}",
        f"UPDATE ledger SET json = (SELECT column1 FROM kept) {where} {BAD + 1}",
        "DROP TABLE kept")


def cut_tail(data):
    change(data, f"DELETE FROM ledger WHERE tenant_id = '{TENANT}' AND seq >= {BAD}")


def cut_tail_and_stored_head(data):
    cut_tail(data)
    change(
        data,
        f"UPDATE heads SET seq = {BAD - 1}, hash = (SELECT hash FROM ledger WHERE "
        f"tenant_id = '{TENANT}' AND seq = {BAD - 1}) WHERE tenant_id = '{TENANT}'")


def cut_tail_and_every_head(data):
    """All that is left is the checkpoint that the server signed when it stopped."""
    cut_tail_and_stored_head(data)
    database = sqlite3.connect(f"{data}/interlock.db")
    (stored,) = database.execute(
        "SELECT hash FROM heads WHERE tenant_id = ?", (TENANT,)).fetchone()
    database.close()
    head = pathlib.Path(f"{data}/heads/{TENANT}.head")
    digits = len(head.read_text().split(" ")[0])
    head.write_text(f"{BAD - 1:0{digits}d} {stored}\n")


def forge_checkpoint(data):
    change(
        data,
        "UPDATE checkpoints SET signature = replace(signature, substr(signature, 1, 2), "
        f"CASE substr(signature, 1, 2) WHEN '00' THEN '11' ELSE '00' END) "
        f"WHERE tenant_id = '{TENANT}'")


def lose_chain(data):
    change(
        data,
        f"DELETE FROM ledger WHERE tenant_id = '{TENANT}'",
        f"DELETE FROM heads WHERE tenant_id = '{TENANT}'",
        f"DELETE FROM checkpoints WHERE tenant_id = '{TENANT}'")


def hash_anew(data, tenant, without_seals):
    """What anybody can do who knows the format: another text, and every hash behind it made anew."""
    database = sqlite3.connect(f"{data}/interlock.db", isolation_level=None)
    rows = database.execute(
        "SELECT json FROM ledger WHERE tenant_id = ? ORDER BY seq", (tenant,)).fetchall()
    texts = [json.loads(text) for (text,) in rows]
    if without_seals:
        texts = [text for text in texts if text["event"] != "CHECKPOINT_SEALED"]
        database.execute("DELETE FROM checkpoints WHERE tenant_id = ?", (tenant,))
    database.execute("DELETE FROM ledger WHERE tenant_id = ?", (tenant,))
    previous = "0" * 64
    for seq, record in enumerate(texts, start=1):
        record.update(seq=seq, audit_id=f"{tenant}.{seq}", prev_hash=previous)
        if seq == 3:
            record["reason"] = "something else"
        text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        previous = hashlib.sha256((previous + text).encode()).hexdigest()
        database.execute("INSERT INTO ledger VALUES (?, ?, ?, ?)", (tenant, seq, text, previous))
    database.execute(
        "UPDATE heads SET seq = ?, hash = ? WHERE tenant_id = ?", (len(texts), previous, tenant))
    database.close()
    settle(data)
    head = pathlib.Path(f"{data}/heads/{tenant}.head")
    digits = len(head.read_text().split(" ")[0])
    head.write_text(f"{len(texts):0{digits}d} {previous}\n")


def hash_chain_anew(data):
    hash_anew(data, TENANT, without_seals=False)


def hash_chain_anew_without_seals(data):
    hash_anew(data, TENANT, without_seals=True)


def hash_all_chains_anew_without_seals(data):
    hash_anew(data, TENANT, without_seals=True)
    hash_anew(data, "_system", without_seals=True)


def delete_the_index(data):
    change(data, "DELETE FROM checkpoints")


def vanish(data):
    """The tenant's chain with everything in the folder that knew of it."""
    lose_chain(data)
    pathlib.Path(f"{data}/heads/{TENANT}.head").unlink()


def plant_a_key(data):
    change(data, "UPDATE machine_state SET json = replace(json, '\"access_keys\":[', "
                 "'\"access_keys\":[{\"planted\":true},') WHERE machine_key = "
                 f"'tenant/{TENANT}'")


def switch_trading_on(data):
    change(data, "INSERT INTO machine_state (machine_key, version, json) VALUES "
                 f"('kill/{TENANT}', 1, '{{\"active\":false}}')")


def roll_back_without_heads_log(data):
    """The whole database of before, with all that lies beside it but the log of seals."""
    for name in ("interlock.db", "heads"):
        old = pathlib.Path(f"{data}.before/{name}")
        new = pathlib.Path(f"{data}/{name}")
        if old.is_dir():
            shutil.rmtree(new)
            shutil.copytree(old, new)
        else:
            shutil.copy(old, new)
    for suffix in ("-wal", "-shm"):
        pathlib.Path(f"{data}/interlock.db{suffix}").unlink(missing_ok=True)


def start_and_stop(folder, data, name):
    """One life of a server on the folder; what it says of chains while it starts."""
    home = f"{folder}/{name}_life"
    pathlib.Path(home).mkdir()
    shutil.move(data, f"{home}/data")
    server = plane.start_server(home)
    try:
        assert server.stop() == 0
    finally:
        server.process.kill()
    return f"{home}/data"


def check_forgeries(folder, data):
    """What needs no key and passed before seals were records; a start heals none of it."""
    for forge, tenant, problem in (
            (hash_chain_anew, TENANT, "bad_checkpoint"),
            (hash_chain_anew_without_seals, TENANT, "truncated_tail"),
            (hash_all_chains_anew_without_seals, "_system", "truncated_tail"),
            (delete_the_index, "_system", "missing_checkpoint"),
            (vanish, TENANT, "truncated_tail"),
            (plant_a_key, "_system", "changed_row"),
            (switch_trading_on, TENANT, "unknown_row"),
            (cut_tail_and_every_head, TENANT, "truncated_tail"),
            (roll_back_without_heads_log, "_system", "truncated_tail")):
        copy = f"{folder}/forged_{forge.__name__}"
        shutil.copytree(data, copy, ignore=shutil.ignore_patterns("*.sock"))
        if forge is roll_back_without_heads_log:
            shutil.copytree(f"{folder}/before", f"{copy}.before",
                            ignore=shutil.ignore_patterns("*.sock"))
        forge(copy)
        code, report = verify(copy)
        assert code == 1 and not report["ok"], (forge.__name__, report)
        named = {chain["tenant_id"]: chain.get("problem") for chain in report["chains"]}
        assert named[tenant] == problem, (forge.__name__, named)
        if forge is switch_trading_on or forge is plant_a_key:
            assert report["chains"][[*named].index(tenant)]["changed_rows"], report
            print(f"{forge.__name__}: found in {tenant}, {problem}")
            continue  # Rows of this make do not decode: the server does not even start.
        copy = start_and_stop(folder, copy, forge.__name__)
        code, report = verify(copy)
        chain = next(one for one in report["chains"] if one["tenant_id"] == tenant)
        assert code == 1 and not chain["ok"], (forge.__name__, chain)
        assert len(chain["breaks"]) == 1 or chain["first_bad_seq"] is not None, chain
        print(f"{forge.__name__}: found in {tenant}, {problem}; still told after a start")


def check_read_only(folder, data):
    """Evidence on a disk that nobody can write, not even root."""
    mount = f"{folder}/read_only"
    pathlib.Path(mount).mkdir()
    script = f"mount --bind {data} {mount} && mount -o remount,ro,bind {mount} && exec \"$@\""
    verifying = [plane.program(), "audit", "verify", "--data", mount, "--json"]
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
    print("on a read-only disk: OK")


def check_exports(folder, data):
    target = f"{folder}/demo.ndjson"
    subprocess.run(
        [plane.program(), "audit", "export", "--tenant", TENANT, "-o", target, "--data", data],
        check=True, capture_output=True)
    public_key = f"{data}/ledger.pub"
    code, report = verify("nowhere", target, "--public-key", public_key)
    assert code == 0 and report["ok"] and report["authorship_proven"], report
    head = report["head_seq"]
    code, report = verify("nowhere", target)
    assert code == 0 and not report["authorship_proven"], report
    lines = pathlib.Path(target).read_text().splitlines(keepends=True)
    bad = next(i for i, line in enumerate(lines) if f'"audit_id":"{TENANT}.{BAD}"' in line)
    for name, changed, expected in (
            ("changed", [*lines[:bad], lines[bad].replace('"PROBE', '"PRUBE', 1),
                         *lines[bad + 1:]], BAD),
            ("removed", [*lines[:bad], *lines[bad + 1:]], BAD),
            ("swapped", [*lines[:bad], lines[bad + 1], lines[bad], *lines[bad + 2:]], BAD),
            ("cut", [*lines[:bad], lines[-1]], BAD),
            ("headless", lines[:-1], None)):
        assert changed != lines, name
        pathlib.Path(target).write_text("".join(changed))
        code, report = verify("nowhere", target, "--public-key", public_key)
        assert code == 1 and not report["ok"], (name, report)
        assert report["first_bad_seq"] == expected, (name, report)
        assert not report["authorship_proven"], (name, report)
        print(f"export {name}: found, {report['problem']}")
    return head


def main():
    with tempfile.TemporaryDirectory(prefix="interlock_tamper_") as folder:
        started = []
        try:
            data = make_ledger(folder, started)
        finally:
            for child in started:
                child.process.kill()  # Nothing outlives a test that failed.
        code, report = verify(data)
        assert code == 0 and report["ok"] and report["first_bad_seq"] is None, report
        print(f"untouched: OK, {report['records']} records")
        head = check_exports(folder, data)
        check_forgeries(folder, data)
        check_read_only(folder, data)
        for damage, expected, problem in (
                (flip_byte, BAD, "content_changed"),
                (delete_row, BAD, "missing_record"),
                (swap_rows, BAD, "misplaced_record"),
                (swap_texts, BAD, "misplaced_record"),
                (cut_tail, BAD, "truncated_tail"),
                (cut_tail_and_stored_head, BAD, "truncated_tail"),
                (cut_tail_and_every_head, BAD, "truncated_tail"),
                (forge_checkpoint, head, "bad_checkpoint"),
                (lose_chain, 1, "truncated_tail"),
                (damage_page, None, "unreadable_record")):
            copy = f"{folder}/{damage.__name__}"
            shutil.copytree(data, copy, ignore=shutil.ignore_patterns("*.sock"))
            damage(copy)
            code, report = verify(copy)
            assert code == 1 and not report["ok"], (damage.__name__, report)
            assert report["first_bad_tenant"] == TENANT, (damage.__name__, report)
            assert report["problem"] == problem, (damage.__name__, report)
            found = report["first_bad_seq"]
            # Of a damaged page the first record on it is named, which is at most a page before.
            right = BAD - 20 < found <= BAD if expected is None else found == expected
            assert right, (damage.__name__, found, expected)
            print(f"{damage.__name__}: found at {found}, {problem}")
        code, report = verify(data)
        assert code == 0 and report["ok"], report


if __name__ == "__main__":
    main()
