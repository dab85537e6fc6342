"""The table of audit_tamper.py: what is done to a data folder, and what each of the three must say.

`found` are the chains that `audit verify` names, as (chain, seq, problem, rows); `start` those that the
server names when it starts, where that is not the same; `trades` who of alpha and gamma still trades
then; `witness` what `audit verify --witness` adds. Numbers come from the untouched folder.
"""

import hashlib
import json
import pathlib
import shutil

from forger import Forger, Key
from tampering import ALL, BAD, BUSY_PORT, LARGEST, NOBODY, ROTATE, Tampering, on


def table(world):
    """All rows; `world` knows the numbers."""
    heads, seals = world.whole_heads, world.whole_seals
    alpha, gamma, system = heads["alpha"], heads["gamma"], heads["_system"]
    rows = [Tampering("nothing", lambda data, w: None, [], trades=ALL, daily=True)]
    rows += records(alpha, gamma, seals)
    rows += forged_chains(world, alpha, system, seals)
    rows += changed_states(world, system)
    rows += relay_rows(world)
    rows += files(world, alpha, system)
    rows += keys(world, system)
    rows += tails(world)
    return rows


# Records, as somebody changes them who does not know the format.

def records(alpha, gamma, seals):
    def one(name, forge, found, **more):
        return Tampering(name, on()(forge), found, **more)

    where = "WHERE tenant_id = 'alpha' AND seq ="

    def flip(f, w):
        f.run(f"UPDATE ledger SET json = replace(json, '\"timestamp\":\"20', '\"timestamp\":\"21') {where} {BAD}")

    def swap(f, w):
        f.run(f"UPDATE ledger SET seq = -1 {where} {BAD}")
        f.run(f"UPDATE ledger SET seq = {BAD} {where} {BAD + 1}")
        f.run(f"UPDATE ledger SET seq = {BAD + 1} {where} -1")

    def lend(f, w):
        f.run(f"DELETE FROM ledger {where} {BAD}")
        f.run("INSERT INTO ledger SELECT 'alpha', ?, json, hash FROM ledger WHERE tenant_id = 'gamma' "
              "AND seq = 5", BAD)

    def swap_tenants(f, w):
        for name in ("ledger", "heads", "checkpoints"):
            for old, new in (("alpha", "-"), ("gamma", "alpha"), ("-", "gamma")):
                f.run(f"UPDATE {name} SET tenant_id = ? WHERE tenant_id = ?", new, old)
        for tenant in ("alpha", "gamma"):
            f.set_head(tenant, *f.head(tenant), row=False)

    def cut(f, w):
        f.run(f"DELETE FROM ledger WHERE tenant_id = 'alpha' AND seq >= {BAD}")

    def cut_heads(f, w):
        cut(f, w)
        digest = f.ask(f"SELECT hash FROM ledger {where} {BAD - 1}")[0][0]
        f.set_head("alpha", BAD - 1, digest)

    def cut_index(f, w):
        cut_heads(f, w)
        f.run(f"DELETE FROM checkpoints WHERE tenant_id = 'alpha' AND seq >= {BAD}")

    def lead(f, w):
        f.run("UPDATE heads SET seq = seq + 3 WHERE tenant_id = 'alpha'")

    def absurd_row(f, w):
        f.run("UPDATE heads SET seq = ? WHERE tenant_id = 'gamma'", LARGEST)

    def absurd_file(f, w):
        f.set_head("gamma", LARGEST - 1, f.head("gamma")[1], row=False)

    def absurd_index(f, w):
        f.run("INSERT INTO checkpoints (tenant_id, seq, hash, at, signature) SELECT tenant_id, ?, hash, "
              "at, signature FROM checkpoints WHERE tenant_id = 'gamma' LIMIT 1", LARGEST)

    def other_head(f, w):
        f.run("UPDATE heads SET hash = ? WHERE tenant_id = 'alpha'", "0" * 64)

    def empty(f, w):
        f.run("DELETE FROM ledger WHERE tenant_id = 'alpha'")

    gone = f"{BAD}"
    bad = lambda problem, seq=BAD: [("alpha", seq, problem, [])]  # noqa: E731
    swapped = [("alpha", 1, "misplaced_record", []), ("gamma", 1, "misplaced_record", [])]
    return [
        one("one word of a record", flip, bad("content_changed"), start=[], trades=ALL, daily=True),
        one("a record removed", lambda f, w: f.run(f"DELETE FROM ledger {where} {gone}"),
            bad("missing_record"), start=[], trades=ALL),
        one("two records swapped", swap, bad("misplaced_record"), start=[], trades=ALL),
        one("a record of another tenant in its place", lend, bad("misplaced_record"), start=[],
            trades=ALL),
        one("the chains of two tenants swapped", swap_tenants, swapped),
        one("the end cut off", cut, bad("truncated_tail"), trades={"gamma"}, daily=True),
        one("... with its head row and head file", cut_heads, bad("truncated_tail"),
            trades={"gamma"}),
        one("... and the index of its seals", cut_index, bad("truncated_tail"), trades={"gamma"}),
        one("a head row ahead of its chain", lead, bad("truncated_tail", alpha + 1),
            trades={"gamma"}),
        one("a head row of a number that no chain can have", absurd_row,
            [("gamma", gamma, "head_mismatch", [])], trades={"alpha"}, daily=True),
        one("a head file of such a number", absurd_file, [("gamma", gamma, "head_mismatch", [])],
            trades={"alpha"}, daily=True),
        one("the index of seals with such a number", absurd_index,
            [("gamma", gamma, "bad_checkpoint", [])], trades={"alpha"}),
        one("another hash in a head row", other_head, bad("head_mismatch", alpha), trades={"gamma"}),
        one("all records of a chain removed", empty, bad("truncated_tail", 1), trades={"gamma"}),
    ]


# Chains hashed anew by somebody without the key.

def unsealed_everywhere(world):
    """Each chain from its beginning, with every row that it ever named; the relay's seals are of keys
    that nobody vouches for any more."""
    found = []
    with Forger(f"{world.folder}/whole/data") as look:
        for tenant in look.tenants():
            named = {row[0] for record in look.chain(tenant) for row in record.get("rows", [])}
            found.append((tenant, 1, "unproven_tail", sorted(named)))
    for tenant, places in world.whole_relay_seals.items():
        found.append((f"relay {tenant}", places[0], "bad_checkpoint", []))
    return found


def forged_chains(world, alpha, system, seals):
    def change(records):
        records[BAD - 1]["reason"] = "something else"
        return records

    def again(f, w):
        f.write("alpha", change(f.chain("alpha")))

    def unsealed(f, tenant):
        f.run("DELETE FROM checkpoints WHERE tenant_id = ?", tenant)
        f.write(tenant, [r for r in f.chain(tenant) if r["event"] != "CHECKPOINT_SEALED"])

    def no_seals(f, w):
        unsealed(f, "alpha")

    def no_seals_at_all(f, w):
        for tenant in f.tenants():
            unsealed(f, tenant)

    def index(f, w):
        f.run("DELETE FROM checkpoints")

    def index_of_one(f, w):
        f.run("DELETE FROM checkpoints WHERE tenant_id = 'alpha'")

    def signature(f, w):
        f.run("UPDATE checkpoints SET signature = ? WHERE tenant_id = 'alpha' AND seq = ?", "0" * 128,
              seals["alpha"][-1])

    def vanish(f, w):
        for name in ("ledger", "heads", "checkpoints"):
            f.run(f"DELETE FROM {name} WHERE tenant_id = 'gamma'")
        (f.head_folder / "gamma.head").unlink()

    first = next(seq for seq in seals["alpha"] if seq > BAD)
    gone = [("alpha", seals["alpha"][0], "missing_checkpoint", [])]
    everything = sorted(
        (tenant, places[0], "missing_checkpoint", []) for tenant, places in seals.items())
    return [
        Tampering("a chain hashed anew with one record changed", on()(again),
                  [("alpha", first, "bad_checkpoint", [])], trades={"gamma"}, daily=True),
        Tampering("... and all its seals taken out", on()(no_seals),
                  [("alpha", seals["alpha"][0], "head_mismatch", [])],
                  start=[("alpha", alpha - len(seals["alpha"]) + 1, "truncated_tail", [])],
                  trades={"gamma"}, daily=True),
        Tampering("every chain hashed anew without seals", on()(no_seals_at_all),
                  unsealed_everywhere(world), witness="other_history"),
        Tampering("the index of all seals deleted", on()(index), everything),
        Tampering("the index of one chain deleted", on()(index_of_one), gone, trades={"gamma"}),
        Tampering("a signature in the index changed", on()(signature),
                  [("alpha", seals["alpha"][-1], "bad_checkpoint", [])], start=[], trades=ALL),
        Tampering("a tenant's chain gone with all that knew of it", on()(vanish),
                  [("gamma", 1, "truncated_tail", [])], trades={"alpha"}, daily=True),
    ]


# Rows that give rights.

def changed_states(world, system):
    signed = world.signed

    def one(name, forge, chain, key, problem, trades, **more):
        """A row that is not what the records say is told at the end of its chain."""
        seq = world.whole_heads[chain]
        return Tampering(name, on()(forge), [(chain, seq, problem, [key])], trades=trades, **more)

    def edit(key, old, new):
        return lambda f, w: f.edit_row(key, old, new)

    def insert(key, text):
        return lambda f, w: f.run(
            "INSERT INTO machine_state (machine_key, version, json) VALUES (?, 1, ?)", key, text)

    def remove(key):
        return lambda f, w: f.run("DELETE FROM machine_state WHERE machine_key = ?", key)

    def copy_row(source, target):
        return lambda f, w: f.set_row(target, f.row(source))

    with Forger(f"{world.folder}/whole/data") as look:
        humans = {bool("$argon2id$" in look.row(key)): key for key in look.rows("human/")}
        owner, invited = humans[True], humans[False]
        email = look.rows("email/")
        approval = look.rows(f"approval/{signed}/")[0]
        account = look.rows(f"account/{signed}/")[0]
        plans = look.rows(f"onboarding/{signed}")
        vaults = look.rows(f"vault/{signed}")
        planted = look.row("tenant/alpha")
        stop = look.row("kill/beta")
        limits = look.row(account)
        hashed = json.loads(look.row("tenant/gamma"))
        words = {key: look.row(key) for key in (approval, owner)}
        loops = look.rows(f"loop/{signed}")
    known = hashed["keys"][0] if "keys" in hashed else hashed["access_keys"][0]
    digest = next(value for value in known.values()
                  if isinstance(value, str) and len(value) == 64)
    planted_digest = hashlib.sha256(b"ilk_planted").hexdigest()
    limit = limits[limits.index('"limits":{') + 10:].split('"')[3]
    parameter = words[owner].split("$argon2id$")[1][:24]
    rows = [
        one("a stop lifted", edit("kill/beta", '"active":true', '"active":false'), "beta",
            "kill/beta", "changed_row", ALL, daily=True),
        one("a stop removed", remove("kill/beta"), "beta", "kill/beta", "missing_row", ALL),
        one("a stop invented that is off", insert("kill/gamma", stop.replace("beta", "gamma").replace(
            '"active":true', '"active":false')), "gamma",
            "kill/gamma", "unknown_row", {"alpha"}),
        *(one(f"... found by {first}", insert("kill/gamma", stop.replace("beta", "gamma").replace(
            '"active":true', '"active":false')), "gamma", "kill/gamma", "unknown_row", {"alpha"},
              before=first, daily=True) for first in (BUSY_PORT, ROTATE)),
        one("an access key planted", edit("tenant/gamma", digest, planted_digest), "_system",
            "tenant/gamma", "changed_row", NOBODY, daily=True),
        one("a tenant invented", insert("tenant/ghost", planted.replace("alpha", "ghost")), "_system",
            "tenant/ghost", "unknown_row", NOBODY),
        one("a tenant removed", remove("tenant/gamma"), "_system", "tenant/gamma", "missing_row",
            NOBODY),
        one("a human's row removed", remove(invited), "_system", invited, "missing_row", NOBODY),
        one("an address that leads to another human", copy_row(email[0], email[1]), "_system",
            email[1], "changed_row", NOBODY),
        one("a limit raised", edit(account, f'"{limit}"', f'"{limit}0"'), signed, account,
            "changed_row", ALL),
        one("trading switched in an account", swap_trading(account, limits), signed, account,
            "changed_row", ALL),
        one("an approval that nobody gave", edit(approval, '"state":"pending"', '"state":"approved"'),
            signed, approval, "changed_row", ALL),
        one("a break that never was", insert("break/gamma", planted_break()), "gamma", "break/gamma",
            "unknown_row", {"alpha"}),
        one("a restored folder that was none", insert(
            "restore/_system", '{"break_seq":1,"voided_at":null}'),
            "_system", "restore/_system", "unknown_row", NOBODY),
    ]
    rows.append(one("another password", edit(owner, parameter, parameter[::-1]), "_system", owner,
                    "changed_row", NOBODY, keeps_out=True))
    for kind, found in (("a plan", plans), ("a vault", vaults), ("a loop", loops)):
        for key in found[:1]:
            rows.append(one(f"{kind} removed", remove(key), signed, key, "missing_row", ALL))
    return rows


def planted_break():
    return json.dumps({"seq": 1, "bad_seq": 1, "reason": "x", "detail": "", "at":
                       "2026-01-01T00:00:00.000Z", "accepted_by": ""})


def swap_trading(key, text):
    on_now = '"trading_enabled":true' in text
    words = ("true", "false") if on_now else ("false", "true")
    return lambda f, w: f.edit_row(
        key, f'"trading_enabled":{words[0]}', f'"trading_enabled":{words[1]}')


# The relay's book.

def relay_rows(world):
    seq = world.whole_relay_heads["_system"]

    def one(name, forge, key, problem, **more):
        return Tampering(name, on("relay")(forge), [("relay _system", seq, problem, [key])], **more)

    with Forger(f"{world.folder}/whole/data", "relay") as look:
        kinds = {kind: look.relay_rows(kind) for kind in (
            "binding", "gateway", "instance", "route", "scope", "tenant_token", "dm_default")}

    def edit(kind, key, old, new):
        return lambda f, w: f.run(
            "UPDATE relay_rows SET json = replace(json, ?, ?) WHERE kind = ? AND key = ?", old, new,
            kind, key)

    def insert(kind, key, text):
        return lambda f, w: f.run(
            "INSERT INTO relay_rows (kind, key, json) VALUES (?, ?, ?)", kind, key, text)

    def remove(kind, key):
        return lambda f, w: f.run("DELETE FROM relay_rows WHERE kind = ? AND key = ?", kind, key)

    rows = []
    for kind, what in (("binding", "a person bound to another instance"),
                       ("instance", "an instance moved to another tenant"),
                       ("gateway", "a gateway's credential moved"),
                       ("tenant_token", "a tenant's token moved"),
                       ("dm_default", "a default instance moved")):
        for key, text in kinds[kind][:1]:
            old, new = ("i1", "i2") if '"i1"' in text else ("alpha", "gamma")
            rows.append(one(what, edit(kind, key, f'"{old}"', f'"{new}"'), f"{kind}/{key}",
                            "changed_row", daily=kind == "binding"))
            if kind == "binding":
                rows.append(one(f"... found by {BUSY_PORT}, in relay.db", edit(kind, key, f'"{old}"', f'"{new}"'),
                                f"{kind}/{key}", "changed_row", before=BUSY_PORT, daily=True))
    key, text = kinds["binding"][0]
    rows.append(one("a person's binding removed", remove("binding", key), f"binding/{key}",
                    "missing_row"))
    rows.append(one("a binding invented", insert("binding", key + "x", text), f"binding/{key}x",
                    "unknown_row"))
    rows.append(one("a route invented", insert("route", "local/x", "{}"), "route/local/x",
                    "unknown_row"))

    def again(f, w):
        records = f.chain("alpha")
        records[0]["reason"] = "something else"
        f.write("alpha", records)

    first = world.whole_relay_seals["alpha"][0]
    rows.append(Tampering(
        "a chain of the relay hashed anew", on("relay")(again),
        [("relay alpha", first, "bad_checkpoint", [])],
        trades={"gamma"}))
    return rows


# Artifacts, logs and whole files.

def files(world, alpha, system):
    whole, old = f"{world.folder}/whole/data", f"{world.folder}/old/data"

    def put_back(*names):
        def forge(data, w):
            for name in names:
                target, source = pathlib.Path(data) / name, pathlib.Path(old) / name
                if target.is_dir():
                    shutil.rmtree(target)
                else:
                    target.unlink(missing_ok=True)
                (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
        return forge

    def rid(*names):
        def forge(data, w):
            for name in names:
                path = pathlib.Path(data) / name
                (shutil.rmtree if path.is_dir() else pathlib.Path.unlink)(path)
        return forge

    with Forger(whole) as look:
        referred = next(
            (record["seq"], record["artifacts"][0].removeprefix("sha256:"))
            for record in look.chain("_system")
            if record["artifacts"] and record["event"] == "CHECKPOINT_SEALED")
        last = look.chain("_system")[world.whole_seals["_system"][-1] - 1]
    at, digest = referred
    last_at, last_digest = last["seq"], last["artifacts"][0].removeprefix("sha256:")

    def artifact(statement, name):
        return on()(lambda f, w: f.run(statement + " WHERE hash = ?", name))

    def edit_log(data, w):
        path = pathlib.Path(data) / "heads.log"
        lines = path.read_text().splitlines()
        line = json.loads(lines[-1])
        line["hash"] = "0" * 64
        path.write_text("\n".join([*lines[:-1], json.dumps(line)]) + "\n")

    old_system, old_relay = world.old_heads["_system"], world.old_relay_heads
    back = ("interlock.db", "heads", "relay.db", "relay_heads")
    relay_back = sorted(
        (f"relay {tenant}", seq + 1, "truncated_tail", [])
        for tenant, seq in old_relay.items() if world.whole_relay_heads[tenant] > seq)
    relay_gone = sorted(
        (f"relay {tenant}", 1, "unreadable_record", []) for tenant in world.whole_relay_heads)
    relay_anew = sorted(
        (f"relay {tenant}", 1, "truncated_tail", []) for tenant in world.whole_relay_heads)
    return [
        Tampering("an artifact changed", artifact("UPDATE artifacts SET bytes = x'00'", digest),
                  [("_system", at, "changed_artifact", [])], start=[], trades=ALL),
        Tampering("an artifact deleted", artifact("DELETE FROM artifacts", digest),
                  [("_system", at, "missing_artifact", [])], start=[], trades=ALL),
        Tampering("the newest list of heads deleted", artifact("DELETE FROM artifacts", last_digest),
                  [("_system", last_at, "missing_artifact", [])]),
        Tampering("a line of heads.log changed", edit_log,
                  [("_system", last_at, "head_mismatch", [])]),
        Tampering("heads.log deleted", rid("heads.log"), [], trades=ALL,
                  says="nothing is lost with it alone"),
        Tampering("the head files deleted", rid("heads", "relay_heads"), [], trades=ALL,
                  says="warned; a crash can do the same"),
        Tampering("the databases of before, heads.log left", put_back(*back),
                  [("_system", old_system + 1, "truncated_tail", [])], witness="rolled_back",
                  daily=True, warned="rolled_back"),
        Tampering("the databases and heads.log of before, keys left", put_back(*back, "heads.log"),
                  [("_system", old_system, "lost_key", [])], witness="rolled_back",
                  warned="rolled_back"),
        Tampering("relay.db of before, alone", put_back("relay.db"), relay_back),
        Tampering("relay.db and its head files of before", put_back("relay.db", "relay_heads"),
                  relay_back),
        Tampering("relay.db gone with its head files", rid("relay.db", "relay_heads"), relay_gone,
                  start=relay_anew),
        Tampering("the whole folder of before, keys included", put_back(
            *back, "heads.log", "ledger.key", "ledger.key.next", "ledger.pub"), [], start=[],
            trades=NOBODY, witness="rolled_back", daily=True, warned="rolled_back"),
    ]


# Keys: lost, exchanged, stolen.

def keys(world, system):
    def replace_key(data, w):
        epoch = Key.stolen(data).epoch
        pathlib.Path(f"{data}/ledger.key").write_text(f"{epoch} {Key.made_up(epoch).seed}\n")
        pathlib.Path(f"{data}/ledger.key.next").unlink(missing_ok=True)

    def lose_key(data, w):
        for name in ("ledger.key", "ledger.key.next"):
            pathlib.Path(f"{data}/{name}").unlink(missing_ok=True)

    def replace_pub(data, w):
        pathlib.Path(f"{data}/ledger.pub").write_text(Key.made_up(0).public + "\n")

    def rewrite_with_current(data, w):
        key = Key.stolen(data)
        with Forger(data) as f:
            records = f.chain("alpha")
            records[BAD - 1]["reason"] = "something else"
            f.write("alpha", records)
            f.sign_again("alpha", key, next(s for s in w.whole_seals["alpha"] if s > BAD))

    def forge_on_top(data, w):
        with Forger(data) as f:
            f.append("alpha", "PROBE_DONE")
            f.prove("alpha", Key.stolen(data))

    def old_seal(data, w):
        with Forger(data) as f:
            f.append("gamma", "PROBE_DONE")
            f.append_seal("gamma", w.old_key)

    def old_next_seal(data, w):
        with Forger(data) as f:
            f.append("gamma", "PROBE_DONE")
            f.append_seal("gamma", w.old_next_key)

    def old_next_proof(data, w):
        with Forger(data) as f:
            f.append("gamma", "PROBE_DONE")
            f.prove("gamma", w.old_next_key)

    def old_system_seal(data, w):
        with Forger(data) as f:
            f.append_seal("_system", w.old_key)

    def old_proof(data, w):
        with Forger(data) as f:
            f.append("gamma", "PROBE_DONE")
            f.prove("gamma", w.old_key)

    def own_break(data, w):
        key = Key.made_up(Key.stolen(data).epoch + 1)
        with Forger(data) as f:
            place = w.whole_heads["_system"]
            f.append_seal("_system", key, broken={
                "bad_seq": place, "reason": "lost_key", "detail": "x", "good_seq": place, "rows": []},
                record={"event": "CHAIN_BROKEN", "status": "failed", "severity": "critical",
                        "reason": "x", "artifacts": []})

    heads = world.whole_heads
    first = world.whole_seals["_system"][0]
    stolen = next(s for s in world.whole_seals["alpha"] if s > BAD)
    return [
        Tampering("another sealing key in its place", replace_key,
                  [("_system", system, "lost_key", [])], daily=True),
        Tampering("the sealing key gone", lose_key, [], start=[("_system", system, "lost_key", [])],
                  says="a copy without its key is whole"),
        Tampering("another ledger.pub", replace_pub, sorted(
            [(tenant, places[0], "bad_checkpoint", [])
             for tenant, places in world.whole_seals.items()] +
            [(f"relay {tenant}", places[0], "bad_checkpoint", [])
             for tenant, places in world.whole_relay_seals.items()]), daily=True),
        Tampering("history of before its turn, signed with the stolen current key",
                  rewrite_with_current, [("alpha", stolen, "head_mismatch", [])],
                  trades={"gamma"}, start=[("alpha", heads["alpha"], "head_mismatch", [])]),
        Tampering("a record on top, proven with the stolen current key", forge_on_top, [], trades=ALL,
                  says="whoever has today's key writes today's history"),
        Tampering("a seal by a stolen key whose turn is over", old_seal,
                  [("gamma", heads["gamma"] + 2, "bad_checkpoint", [])], trades={"alpha"},
                  daily=True),
        Tampering("a seal by the key stolen with it as the next one, whose turn is over",
                  old_next_seal, [("gamma", heads["gamma"] + 2, "bad_checkpoint", [])],
                  trades={"alpha"}, daily=True),
        Tampering("a record proven by that key while it has its turn", old_next_proof, [], trades=ALL,
                  base="turn", daily=True, says="who steals both keys has two turns"),
        Tampering("a seal of _system by such a key", old_system_seal,
                  [("_system", system + 1, "bad_checkpoint", [])]),
        Tampering("a record on top, proven by such a key", old_proof,
                  [("gamma", heads["gamma"] + 1, "unproven_tail", [])], trades={"alpha"}),
        Tampering("a lost key made up, with a key of one's own", own_break,
                  [("_system", system + 1, "bad_checkpoint", [])], daily=True),
    ]


# What came after the last seal: the part that no seal vouches for yet.

def tails(world):
    sealed = {tenant: places[-1] for tenant, places in world.crashed_seals.items()}

    def plant(f, w):
        text = f.row("tenant/gamma")
        key = json.loads(text)
        held = (key.get("keys") or key.get("access_keys"))[0]
        digest = next(v for v in held.values() if isinstance(v, str) and len(v) == 64)
        change = f.edit_row("tenant/gamma", digest, hashlib.sha256(b"ilk_planted").hexdigest())
        f.append("_system", "KEY_CREATED", {"tenant_id": "gamma"}, [change])

    def lift(f, w):
        before = f.row("kill/beta")
        after = before.replace('"active":true', '"active":false')
        f.set_row("kill/beta", after)
        change = ["kill/beta", *(hashlib.sha256(
            text[:text.rindex(',"audit_ref":"')].encode()).hexdigest() for text in (before, after))]
        f.append("beta", "KILL_SWITCH_RELEASED", {}, [change])

    def replace_last(f, w):
        records = f.chain("alpha")
        records[-1]["reason"] = "something else"
        f.write("alpha", records)

    def swap(f, w):
        records = f.chain("alpha")
        records[-1], records[-2] = records[-2], records[-1]
        f.write("alpha", records)

    def cut(f, w):
        f.write("alpha", f.chain("alpha")[:-2])

    def cut_to_seal(f, w):
        f.write("gamma", f.chain("gamma")[:sealed["gamma"]])

    def bind(f, w):
        key, text = f.relay_rows("binding")[0]
        f.run("UPDATE relay_rows SET json = ? WHERE kind = 'binding' AND key = ?",
              text.replace("i1", "i2"), key)
        change = [f"binding/{key}", *(hashlib.sha256(one.encode()).hexdigest()
                                      for one in (text, text.replace("i1", "i2")))]
        f.append("_system", "ROWS_SEALED", {}, [change])

    with Forger(f"{world.folder}/whole/data", "relay") as look:
        binding = look.relay_rows("binding")[0][0]
    whole = world.whole_heads
    unproven = lambda tenant, seq, rows: [(tenant, seq, "unproven_tail", rows)]  # noqa: E731
    return [
        Tampering("nothing, after a kill -9", lambda data, w: None, [], trades=ALL, base="crashed",
                  daily=True),
        Tampering("a key planted with a record that names it", on()(plant),
                  unproven("_system", whole["_system"] + 1, ["tenant/gamma"]), daily=True),
        Tampering("a stop lifted with a record that names it", on()(lift),
                  unproven("beta", whole["beta"] + 1, ["kill/beta"]), trades=ALL, daily=True),
        Tampering("a binding moved with a record that names it", on("relay")(bind),
                  unproven("relay _system", world.whole_relay_heads["_system"] + 1,
                           [f"binding/{binding}"])),
        Tampering("the last record after a crash written anew", on()(replace_last),
                  unproven("alpha", sealed["alpha"] + 1, []), trades={"gamma"}, base="crashed",
                  daily=True),
        Tampering("two records after a crash swapped", on()(swap),
                  unproven("alpha", sealed["alpha"] + 1, []), trades={"gamma"}, base="crashed"),
        Tampering("the end after a crash cut off", on()(cut),
                  unproven("alpha", sealed["alpha"] + 1, []), trades={"gamma"}, base="crashed"),
        Tampering("the end after a crash cut back to the last seal", on()(cut_to_seal), [], trades=ALL,
                  base="crashed", says="at most an hour or 10,000 records"),
    ]
