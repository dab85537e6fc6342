"""What somebody can do to a data folder who knows the format as well as we do: records written anew
with all hashes, links, heads, head files and the index of seals made to fit; rows; and, for whoever
has stolen a key, seals and proofs. What he cannot do without a key is sign.
"""

import hashlib
import json
import pathlib
import sqlite3
import subprocess
import tempfile

GENESIS = "0" * 64
PKCS8 = bytes.fromhex("302e020100300506032b657004220420")


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def link(previous, text):
    return hashlib.sha256((previous + text).encode()).hexdigest()


class Key:
    """A sealing key: one that was stolen, or one that somebody made up."""

    def __init__(self, epoch, seed):
        self.epoch = epoch
        self.seed = seed
        self.public = self._openssl("pkey", "-pubout", "-outform", "DER", "-in")[-32:].hex()

    @staticmethod
    def stolen(data, name="ledger.key"):
        epoch, seed = pathlib.Path(f"{data}/{name}").read_text().split()
        return Key(int(epoch), seed)

    @staticmethod
    def made_up(epoch):
        return Key(epoch, hashlib.sha256(b"nobody vouches for this one").hexdigest())

    def _openssl(self, *arguments):
        with tempfile.NamedTemporaryFile() as key:
            key.write(PKCS8 + bytes.fromhex(self.seed))
            key.flush()
            done = subprocess.run(
                ["openssl", *arguments, key.name, "-keyform" if "-rawin" in arguments else "-inform",
                 "DER"], capture_output=True, check=True, timeout=30)
        return done.stdout

    def sign(self, text):
        with tempfile.NamedTemporaryFile() as plain:
            plain.write(text.encode())
            plain.flush()
            return self._openssl(
                "pkeyutl", "-sign", "-rawin", "-in", plain.name, "-inkey").hex()


class Forger:
    """Works on one book of a data folder; close() leaves everything in the database file."""

    def __init__(self, data, book="ledger"):
        self.data = data
        self.book = book
        self.db = sqlite3.connect(
            f"{data}/{'interlock' if book == 'ledger' else 'relay'}.db", isolation_level=None)
        self.head_folder = pathlib.Path(data) / ("heads" if book == "ledger" else "relay_heads")

    def close(self):
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.db.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def run(self, statement, *values):
        cursor = self.db.execute(statement, values)
        assert cursor.rowcount != 0, f"changed nothing: {statement} {values}"

    def ask(self, statement, *values):
        return self.db.execute(statement, values).fetchall()

    # Chains.

    def chain(self, tenant):
        rows = self.ask("SELECT json FROM ledger WHERE tenant_id = ? ORDER BY seq", tenant)
        return [json.loads(text) for (text,) in rows]

    def tenants(self):
        return [tenant for (tenant,) in self.ask("SELECT tenant_id FROM heads ORDER BY tenant_id")]

    def head(self, tenant):
        return self.ask("SELECT seq, hash FROM heads WHERE tenant_id = ?", tenant)[0]

    def seals(self, tenant):
        return [seq for (seq,) in self.ask(
            "SELECT seq FROM checkpoints WHERE tenant_id = ? ORDER BY seq", tenant)]

    def set_head(self, tenant, seq, digest, row=True, file=True):
        if row:
            self.run("UPDATE heads SET seq = ?, hash = ? WHERE tenant_id = ?", seq, digest, tenant)
        if file:
            (self.head_folder / f"{tenant}.head").write_text(f"{seq:019d} {digest}\n")

    def write(self, tenant, records):
        """The whole chain, hashed from genesis, with everything in the folder that knows its head."""
        self.db.execute("DELETE FROM ledger WHERE tenant_id = ?", (tenant,))
        self.db.execute("BEGIN")
        index = dict(self.ask("SELECT seq, hash FROM checkpoints WHERE tenant_id = ?", tenant))
        previous = GENESIS
        for seq, record in enumerate(records, start=1):
            record.update(seq=seq, audit_id=f"{tenant}.{seq}", tenant_id=tenant, prev_hash=previous)
            text = canonical(record)
            previous = link(previous, text)
            self.run("INSERT INTO ledger VALUES (?, ?, ?, ?)", tenant, seq, text, previous)
            if seq in index:
                self.run("UPDATE checkpoints SET hash = ? WHERE tenant_id = ? AND seq = ?", previous,
                         tenant, seq)
        self.db.execute("COMMIT")
        self.db.execute("DELETE FROM checkpoints WHERE tenant_id = ? AND seq > ?",
                        (tenant, len(records)))
        self.set_head(tenant, len(records), previous)

    def append(self, tenant, event, detail=None, rows=None, timestamp=None):
        """One record more, as a turn would have written it; gives its number and hash."""
        seq, previous = self.head(tenant)
        last = json.loads(self.ask(
            "SELECT json FROM ledger WHERE tenant_id = ? AND seq = ?", tenant, seq)[0][0])
        record = {
            "audit_id": f"{tenant}.{seq + 1}", "seq": seq + 1, "tenant_id": tenant, "event": event,
            "decision_id": f"sys_{seq + 1}", "tick_id": "-", "step": "CONTROL", "actor": "python",
            "principal": "operator:local", "status": "passed", "severity": "info", "reason": "",
            "artifacts": [], "detail": detail or {}, "timestamp": timestamp or last["timestamp"],
            "prev_hash": previous}
        if rows:
            record["rows"] = rows
        text = canonical(record)
        digest = link(previous, text)
        self.run("INSERT INTO ledger VALUES (?, ?, ?, ?)", tenant, seq + 1, text, digest)
        self.set_head(tenant, seq + 1, digest)
        return seq + 1, digest

    def seal_text(self, record):
        detail = {name: value for name, value in record["detail"].items() if name != "signature"}
        return "".join(line + "\n" for line in (
            "interlock.seal.v2", record["event"], record["tenant_id"], str(record["seq"]),
            record["prev_hash"], record["timestamp"], canonical(detail)))

    def sign_again(self, tenant, key, first):
        """Every seal from `first` on made anew with a key, in a chain that was written anew."""
        records = self.chain(tenant)
        previous, before = GENESIS, None
        for record in records:
            record["prev_hash"] = previous
            if record["event"] in ("CHECKPOINT_SEALED", "CHAIN_BROKEN"):
                if record["seq"] >= first:
                    record["detail"].update(epoch=key.epoch, public_key=key.public)
                    if before:
                        record["detail"].update(previous_seq=before[0], previous_hash=before[1])
                    record["detail"]["signature"] = key.sign(self.seal_text(record))
                    self.run("UPDATE checkpoints SET signature = ? WHERE tenant_id = ? AND seq = ?",
                             record["detail"]["signature"], tenant, record["seq"])
                before = (record["seq"], link(previous, canonical(record)))
            previous = link(previous, canonical(record))
        self.write(tenant, records)

    def append_seal(self, tenant, key, **more):
        """A seal on top, signed with whatever key somebody has."""
        seq, previous = self.head(tenant)
        place = self.seals(tenant)[-1]
        last = json.loads(self.ask(
            "SELECT json FROM ledger WHERE tenant_id = ? AND seq = ?", tenant, place)[0][0])
        at = self.ask("SELECT at FROM checkpoints WHERE tenant_id = ? AND seq = ?", tenant, place)
        record = dict(last, seq=seq + 1, audit_id=f"{tenant}.{seq + 1}", prev_hash=previous,
                      decision_id=f"sys_{seq + 1}")
        record.pop("rows", None)
        detail = dict(last["detail"], epoch=key.epoch, public_key=key.public, previous_seq=place,
                      previous_hash=self.ask(
                          "SELECT hash FROM checkpoints WHERE tenant_id = ? AND seq = ?", tenant,
                          place)[0][0])
        for name in ("next_key", "broken", "adopted"):
            detail.pop(name, None)
        record.update(more.pop("record", {}))
        detail.update(more)
        record["detail"] = detail
        detail.pop("signature")
        detail["signature"] = key.sign(self.seal_text(record))
        text = canonical(record)
        digest = link(previous, text)
        self.run("INSERT INTO ledger VALUES (?, ?, ?, ?)", tenant, seq + 1, text, digest)
        self.run("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?)", tenant, seq + 1, digest, at[0][0],
                 detail["signature"])
        self.run("UPDATE heads SET proof = '' WHERE tenant_id = ?", tenant)
        self.set_head(tenant, seq + 1, digest)
        return seq + 1

    def prove(self, tenant, key):
        """The proof of the head behind the last seal, with whatever key somebody has."""
        seq, digest = self.head(tenant)
        leaf = b"\0" + f"{self.book}/{tenant} {seq} {digest}".encode()
        root = hashlib.sha256(leaf).hexdigest()
        signature = key.sign(f"interlock.tail.v1\n{key.epoch}\n{root}\n")
        self.run("UPDATE heads SET proof = ? WHERE tenant_id = ?",
                 f"{key.epoch} 1 0 {signature}", tenant)

    # Rows.

    def rows(self, prefix):
        return [key for (key,) in self.ask(
            "SELECT machine_key FROM machine_state WHERE machine_key GLOB ? ORDER BY machine_key",
            prefix + "*")]

    def row(self, key):
        return self.ask("SELECT json FROM machine_state WHERE machine_key = ?", key)[0][0]

    def set_row(self, key, text):
        before = self.row(key)
        assert text != before, f"{key} stays what it was"
        self.run("UPDATE machine_state SET json = ? WHERE machine_key = ?", text, key)
        return [key, hashlib.sha256(before.encode()).hexdigest(),
                hashlib.sha256(text.encode()).hexdigest()]

    def edit_row(self, key, old, new):
        text = self.row(key)
        assert old in text, (key, old, text)
        return self.set_row(key, text.replace(old, new, 1))

    def relay_rows(self, kind):
        return self.ask(
            "SELECT key, json FROM relay_rows WHERE kind = ? AND expires_at IS NULL ORDER BY key", kind)
