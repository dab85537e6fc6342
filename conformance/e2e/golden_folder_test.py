"""Golden data folders (conformance/golden/folder): what an earlier program wrote, this one opens and goes on with.

Each folder is verified as it lies there, its receipt too, and its decisions are replayed. Then a server
starts on it at the time when it was written (a preloaded clock): accounts, strategies, the bot, approvals
and the relay's mail read as recorded, repeated keys answer the stored bytes, what waited is approved and
delivered. Then a server of today trades on and its bot quotes; and everything verifies from the first record.
"""

import json
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import golden_folder as golden
import plane
from golden_folder import order, wait_until
from relay_wire import RelayWire
from shifted_clock import Clock

FOLDERS = plane.ROOT / "conformance/golden/folder"
# Members that answers have got since: by their name, with the reason.
ADDED = {}


def differences(recorded, now, path="answer"):
    """What is another thing now; members that are new are fine when ADDED names them."""
    if isinstance(recorded, dict) and isinstance(now, dict):
        for name in now:
            if name not in recorded and name not in ADDED:
                yield f"{path}.{name} is new: {now[name]!r}"
        for name, value in recorded.items():
            if name in now:
                yield from differences(value, now[name], f"{path}.{name}")
            else:
                yield f"{path}.{name} is gone"
    elif isinstance(recorded, list) and isinstance(now, list) and len(recorded) == len(now):
        for number, (one, other) in enumerate(zip(recorded, now)):
            yield from differences(one, other, f"{path}.{number}")
    elif recorded != now:
        yield f"{path} was {recorded!r} and is {now!r}"


def unpack(archive, folder):
    shutil.unpack_archive(archive, folder)
    return folder / "data", json.loads(archive.with_name(archive.name.replace(".tar.gz", ".json")).read_text())


def check_as_it_lies(folder, data, told):
    chains = golden.chains(data)
    assert chains == told["chains"], chains
    (report,) = golden.run(data, "receipt", "verify", str(folder / "receipt.json"), "--key",
                           str(data / "ledger.pub"))
    assert report["ok"] and report["authorship_proven"] and report["stage"] == "recorded", report
    replayed = golden.replay(data)
    assert replayed == told["replayed"], replayed
    print(f"holds: {sum(one['records'] for one in chains.values())} records in {len(chains)} chains, "
          f"{sum(one['decisions'] for one in replayed.values())} decisions replayed, the receipt")


def check_reads(caller, told):
    found = list(differences(told["reads"], golden.all_reads(caller, told["keys"])))
    assert not found, "\n".join(found[:20])
    for call in told["repeats"]:
        status, text = caller.raw("POST", call["path"], call["body"], call["key"])
        assert (status, text) == (call["status"], call["text"]), (call, status, text)
    print(f"reads as recorded; {len(told['repeats'])} repeated keys answer the stored bytes")


def trade_on(caller, told):
    planner = golden.Planner(caller, told["keys"]["agent"], f"after_{int(time.time())}")
    wait_until("the end of recovery", lambda: not caller.ask(
        "GET", f"/api/{golden.TENANT}/account", key=planner.key)["runtime_flags"]["entries_halted"])
    orders = planner.decide("dec_after", [order("BTCUSDT", "buy", "0.012"), order("ETHUSDT", "sell", "0.04")])
    assert len(orders) == 2, planner.kept
    before = len(told["reads"]["tenant"]["fills"]["fills"])
    fills = caller.ask("GET", f"/api/{golden.TENANT}/fills?limit=200", key=told["keys"]["agent"])["fills"]
    assert len(fills) > before, fills


def run_the_bot(caller, told):
    key, base = told["keys"]["bot"], f"/api/{told['keys']['bot_tenant']}"
    assert caller.ask("POST", f"{base}/restart", key=key)["bot_state"] == "running"
    wait_until("the bot's orders", lambda: any(
        one["open_orders"] for one in caller.ask("GET", f"{base}/positions", key=key)["positions"]))
    stopped = caller.ask("POST", f"{base}/stop", {"cancel_orders": True}, key=key)
    assert stopped["bot_state"] == "stopped" and stopped["orders_cancelled"], stopped


def approve_what_waits(caller):
    waiting = caller.ask("GET", f"/api/{golden.TENANT}/approvals?state=pending")["approvals"]
    token = caller.log_in(golden.EMAIL)
    for one in waiting:
        path = f"/api/{golden.TENANT}/approvals/{one['approval_id']}/approve"
        assert caller.ask("POST", path, {}, token=token)["state"] == "consumed", one
    return len(waiting)


def take_the_mail(server, clock_shift):
    wire = RelayWire(server.address, golden.GATEWAY, golden.SECRET, timeout=plane.PATIENCE_SECONDS,
                     life=300 + clock_shift)
    wire.send({"type": "hello", "platform": "local", "botId": "console"})
    while (frame := wire.receive())["type"] != "inbound":
        pass
    assert frame["event"]["text"] == "are you there?", frame
    wire.send({"type": "inbound_ack", "bufferId": frame["bufferId"]})
    wire.cut()


def check_folder(archive, folder, clock):
    data, told = unpack(archive, folder)
    print(f"{archive.name}: of {told['commit']}, {archive.stat().st_size} bytes")
    check_as_it_lies(folder, data, told)
    shift = min(0, told["written_at"] + 10 - int(time.time()))

    def as_it_was(server, caller):
        check_reads(caller, told)
        assert approve_what_waits(caller) == 1
        take_the_mail(server, shift)

    def go_on(_, caller):
        trade_on(caller, told)
        run_the_bot(caller, told)
        for name, one in told["chains"].items():
            if not name.startswith("relay "):
                record = caller.ask("GET", f"/api/{name}/audit/{one['head_seq']}")
                assert record["hash"] == one["head_hash"], record

    clock.set(shift)
    with_server(folder, as_it_was)
    clock.set(0)
    with_server(folder, go_on)
    after = golden.chains(data)
    for name, one in told["chains"].items():
        is_relay = name.startswith("relay ")  # Its mail may arrive without a record of it.
        assert after[name]["records"] > one["records"] - is_relay, (name, after[name])
    replayed = golden.replay(data)
    assert replayed[golden.TENANT]["decisions"] > told["replayed"][golden.TENANT]["decisions"], replayed
    print(f"went on: {sum(one['records'] for one in after.values())} records, all of them verify")


def with_server(folder, work):
    server = golden.start(folder)
    try:
        work(server, golden.Caller(server.address, folder / "data"))
        assert server.stop() == 0
    finally:
        if server.process.poll() is None:
            server.kill()


def main():
    place = pathlib.Path(tempfile.mkdtemp(prefix="interlock_golden_"))
    archives = sorted(FOLDERS.glob("*.tar.gz"))
    assert archives, "there is no golden folder"
    clock = Clock(place)
    for archive in archives:
        check_folder(archive, place / archive.name.removesuffix(".tar.gz"), clock)
    shutil.rmtree(place)


if __name__ == "__main__":
    main()
