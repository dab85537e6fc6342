"""Backups at the worst moments: while the server stops and starts (its sealing key moves on), with the
relay busy, killed in the middle, on a full disk; and folders that were put together by hand.

What comes out is a backup that a restore takes, or a clear error and nothing that passes for one.
"""

import json
import pathlib
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

from commands import Commands, make_owner
from plane import PATIENCE_SECONDS, Child, UnixConnection, call, program
from restore_load import GATEWAY, SECRET, USER, Writer

STARTS = 5
KILLS = 6
SMALL_BYTES = 64 * 1024


class Host:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.data = self.folder / "data"
        self.commands = Commands(str(self.data))
        (self.folder / "config.toml").write_text(
            "[http]\nrequests_per_second = 0\n[[relay.bot]]\nplatform = \"local\"\n")

    def start(self, data=None):
        return Child(
            ["serve", "--config", str(self.folder / "config.toml"), "--data",
             str(data or self.data), "--port", "0"], str(self.folder / "server.log"))

    def check(self, backup, code=0, *options):
        return Commands(str(self.folder / "nowhere")).run(
            "restore", str(backup), "--check", *options, code=code)

    def is_gone(self, *names):
        for name in names:
            assert not (self.folder / name).exists(), f"{name} was left behind"


def backups_while_the_key_moves(host):
    """Each start and each stop moves the key on; backups run all the time, with people writing."""
    results = []
    is_over = threading.Event()

    def take():
        number = 0
        while not is_over.is_set():
            number += 1
            backup = host.folder / f"moving{number}"
            done = subprocess.run(
                [program(), "backup", str(backup), "--data", str(host.data), "--json"],
                capture_output=True, text=True, timeout=PATIENCE_SECONDS)
            results.append((backup, done.returncode, done.stdout + done.stderr))

    taker = threading.Thread(target=take)
    taker.start()
    said = 0
    try:
        for _ in range(STARTS):
            server = host.start()
            writer = Writer(host.data, "busy")
            writer.start()
            time.sleep(0.3)
            writer.end()
            said += len(writer.stored)
            assert server.stop() == 0
    finally:
        is_over.set()
        taker.join()
    sealed_by = set()
    for backup, code, text in results:
        if code == 0:
            sealed_by.add(json.loads(text)["sealed_by"])
            host.check(backup)
            shutil.rmtree(backup)
        else:  # Only ever because of the moment, and then nothing is there.
            error = json.loads(text)["error"]
            assert error["code"] == "unavailable" and error["retryable"], text
            host.is_gone(backup.name, backup.name + ".partial")
    good = sum(code == 0 for _, code, _ in results)
    assert good >= STARTS and sealed_by == {"server", "folder"}, (good, sealed_by)
    assert said > 10, said
    return good, len(results) - good


def backups_that_are_killed(host, choose):
    """Whatever the moment: there is a whole backup, or none that a restore takes."""
    whole = 0
    begin = time.monotonic()
    host.commands.run("backup", str(host.folder / "whole"))
    needed = time.monotonic() - begin
    for number in range(KILLS):
        out = host.folder / f"killed{number}"
        process = subprocess.Popen(
            [program(), "backup", str(out), "--data", str(host.data), "--json"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(choose.uniform(0.1, 0.9) * needed)
        process.send_signal(signal.SIGKILL)
        process.wait()
        partial = host.folder / (out.name + ".partial")
        if out.exists():
            host.check(out)
            whole += 1
        elif partial.exists():
            if (partial / "backup.json").exists():
                host.check(partial)  # It lacked its name alone.
            else:
                assert host.check(partial, 1)["error"]["code"] == "not_found"
            refused = host.commands.run("backup", str(out), code=1)["error"]
            assert refused["code"] == "conflict" and ".partial" in refused["message"], refused
            shutil.rmtree(partial)
            host.commands.run("backup", str(out))
    return KILLS - whole


def on_a_full_disk(host):
    def small():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL_BYTES, SMALL_BYTES))

    for arguments in (("backup", str(host.folder / "full"), "--data", str(host.data)),
                      ("restore", str(host.folder / "whole"), "--data", str(host.folder / "full"))):
        done = subprocess.run([program(), *arguments, "--json"], capture_output=True, text=True,
                              preexec_fn=small, timeout=PATIENCE_SECONDS)
        error = json.loads(done.stdout or done.stderr)["error"]
        assert done.returncode == 4 and error["code"] == "io_failed", (done.stdout, done.stderr)
        assert "cannot" in error["message"], error
        host.is_gone("full", "full.partial")


def a_folder_copied_by_hand(host):
    """Without its keys it is treated as a restored one: stopped, keys locked, nobody logged in."""
    copy = host.folder / "byhand"
    copy.mkdir(mode=0o700)
    for name in ("interlock.db", "relay.db", "ledger.pub", "heads.log", "paper.journal", "heads",
                 "relay_heads"):
        source = host.data / name
        if source.is_dir():
            shutil.copytree(source, copy / name)
        elif source.exists():
            shutil.copy2(source, copy / name)
    key = host.access_key
    server = host.start(copy)
    try:
        connection = UnixConnection(str(copy / "operator.sock"))
        status, text = call(connection, "GET", "/api/_system/audit?limit=100", None)
        events = [record["event"] for record in json.loads(text)["records"]]
        assert status == 200 and "BACKUP_RESTORED" in events, (status, events)
        status, text = call(connection, "GET", "/api/demo/account", None, key)
        assert (status, json.loads(text)["error"]["code"]) == (403, "key_locked"), text
        switches = Commands(str(copy)).run("kill", "status")["switches"]
        assert any(switch["active"] and switch["tenant_id"] == "_system" for switch in switches)
    finally:
        server.kill()


def a_restore_whose_first_start_fails(host):
    """The break is on record when the port turns out to be taken; the next start has to know."""
    copy = host.folder / "taken"
    Commands(str(copy)).run("restore", str(host.folder / "whole"))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = subprocess.run(
            [program(), "serve", "--config", str(host.folder / "config.toml"), "--data", str(copy),
             "--port", str(taken.getsockname()[1])],
            capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
        assert done.returncode != 0, done.stdout
    server = host.start(copy)
    try:
        switches = Commands(str(copy)).run("kill", "status")["switches"]
        host_switch = next(one for one in switches if one["tenant_id"] == "_system")
        assert host_switch["active"] and host_switch["blocked"]["code"] == "chain_broken", switches
        connection = UnixConnection(str(copy / "operator.sock"))
        status, text = call(connection, "GET", "/readyz")
        connection.close()
        assert status == 503 and "accept-break --tenant _system" in text.decode(), text
        told = Commands(str(copy)).run("doctor", code=1)
        assert "chain of _system broken: lost_key" in json.dumps(told), told
    finally:
        server.kill()


def two_of_one_backup(host):
    """Each opens stopped and goes its own way; a confirmed key of one is locked in the other."""
    copies = [host.folder / "twin1", host.folder / "twin2"]
    for copy in copies:
        Commands(str(copy)).run("restore", str(host.folder / "whole"))
    servers = [host.start(copy) for copy in copies]
    try:
        Commands(str(copies[0])).as_human("key", "confirm", "--tenant", "demo", "--all")
        codes = []
        for copy in copies:
            connection = UnixConnection(str(copy / "operator.sock"))
            codes.append(call(connection, "GET", "/api/demo/account", None, host.access_key)[0])
            connection.close()
        assert codes[0] != 403 and codes[1] == 403, codes
    finally:
        for server in servers:
            server.kill()
    # The history of one is none of the other's: its heads.log shows it.
    refused = Commands(str(host.folder / "third")).run(
        "restore", str(host.folder / "whole"), "--lost", str(host.folder / "nothing"), code=1)
    assert refused["error"]["code"] == "not_found", refused


def a_restored_server_and_its_witness(host):
    """To a witness a restored backup is a rollback for ever; with the break accepted it is a known one."""
    witness = host.folder / "witness.log"
    shutil.copy2(host.data / "heads.log", witness)  # What it was given until the loss.
    data = host.folder / "witnessed"
    commands = Commands(str(data))
    commands.run("restore", str(host.folder / "whole"))
    server = host.start(data)
    try:
        report = commands.run("audit", "verify", "--witness", str(witness), code=1)
        assert not report["ok"], report
        commands.as_human("audit", "accept-break", "--tenant", "_system", "--reason", "restored")
        commands.run("audit", "verify", "--witness", str(witness), code=1)
        report = commands.run("audit", "verify", "--witness", str(witness), "--accept-known-breaks")
        assert report["ok"], report
    finally:
        server.kill()


def main():
    folder = tempfile.mkdtemp(prefix="interlock_backup_abuse_")
    choose = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
    host = Host(folder)
    server = host.start()
    make_owner(host.commands, "demo")
    host.access_key = host.commands.run(
        "key", "create", "--tenant", "demo", "--label", "test", "--scope", "read")["access_key"]
    host.commands.run("relay", "gateway", "add", "--gateway-id", GATEWAY, "--tenant", "demo",
                      "--instance", "i-away", "--secret", SECRET)
    host.commands.run("relay", "bind", "--platform", "local", "--user", USER, "--instance", "i-away")
    assert server.stop() == 0
    good, refused = backups_while_the_key_moves(host)
    print(f"{good} backups while the key moved {2 * STARTS} times, {refused} asked to try again",
          flush=True)
    server = host.start()
    killed = backups_that_are_killed(host, choose)
    on_a_full_disk(host)
    assert server.stop() == 0
    a_folder_copied_by_hand(host)
    a_restore_whose_first_start_fails(host)
    two_of_one_backup(host)
    a_restored_server_and_its_witness(host)
    shutil.rmtree(folder)
    print(f"{killed} of {KILLS} kills came before the end: nothing passed for a backup")


if __name__ == "__main__":
    main()
