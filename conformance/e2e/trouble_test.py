"""A venue whose journal fails is told everywhere somebody looks: readiness, doctor, alerts, metrics
and, once, the log; and the server is well again after a restart on a disk that works. So is a chain
that does not hold, until a human has accepted the break."""

import fcntl
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

from forger import Forger
from plane import (
    PATIENCE_SECONDS, UnixConnection, call, connect, make_tenant, program, start_server)

F_ADD_SEALS = 1033
F_SEAL_GROW = 4


class FailingJournal:
    """A journal that lies in memory and, from a moment on, cannot grow: every write of the server
    to it fails as on a full disk, and nothing else does."""

    def __init__(self, data):
        self.descriptor = os.memfd_create("journal", os.MFD_ALLOW_SEALING)
        self.path = pathlib.Path(data) / "paper.journal"
        self.path.symlink_to(f"/proc/{os.getpid()}/fd/{self.descriptor}")

    def fail(self):
        fcntl.fcntl(self.descriptor, F_ADD_SEALS, F_SEAL_GROW)

    def mend(self):
        self.path.unlink()
        self.path.write_bytes(pathlib.Path(f"/proc/self/fd/{self.descriptor}").read_bytes())
        self.path.chmod(0o600)


def operator_get(folder, path):
    operator = UnixConnection(f"{folder}/data/operator.sock")
    status, answer = call(operator, "GET", path)
    operator.close()
    return status, answer


def doctor(folder):
    done = subprocess.run(
        [program(), "doctor", "--data", f"{folder}/data", "--json"],
        capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    return done.returncode, done.stdout


def use_account(address, tenant, key):
    """The first use opens the account at the venue, which has to write that down."""
    status, answer = call(
        connect(address), "POST", f"/api/{tenant}/tools/py_get_canonical_state",
        {"decision_id": f"dec_{tenant}", "tick_id": "tick_1", "idempotency_key": f"key_{tenant}",
         "as_of": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}, key)
    assert status == 200, answer


def wait_for_trouble(folder):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        status, answer = operator_get(folder, "/readyz")
        if status == 503:
            return json.loads(answer)["error"]["message"]
        time.sleep(0.1)
    raise AssertionError("the server is still ready")


def wait_for_alert(folder, event, tenant="_system"):
    """Readiness is told at once; the alert is a record, which has to be committed first."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        status, answer = operator_get(folder, f"/api/{tenant}/alerts")
        assert status == 200, answer
        if event in answer.decode():
            return
        time.sleep(0.1)
    raise AssertionError(f"nobody was told of {event}")


def check_doctor_names(folder, tenant):
    code, found = doctor(folder)
    step = f"`interlock audit accept-break --tenant {tenant}`"
    named = [one for one in json.loads(found)["checks"] if one["name"] == "chains"]
    assert code != 0 and any(one["state"] == "bad" and step in one["next_step"] for one in named), found


def plant_break(data, tenant):
    """A protected row that no record names."""
    text = json.dumps({"seq": 1, "bad_seq": 1, "reason": "x", "detail": "", "accepted_by": "",
                       "at": "2026-01-01T00:00:00.000Z"})
    with Forger(data) as forger:
        forger.run("INSERT INTO machine_state (machine_key, version, json) VALUES (?, 1, ?)",
                   f"break/{tenant}", text)


def check_broken_chain(tenant):
    """A break that nobody has accepted is told for as long, and not only by the start that found it."""
    with tempfile.TemporaryDirectory() as folder:
        server = start_server(folder)
        make_tenant(folder, "beta")
        assert b"interlock_chains_broken 0" in operator_get(folder, "/metrics")[1]
        assert server.stop() == 0
        plant_break(f"{folder}/data", tenant)
        is_ready = tenant != "_system"
        for _ in range(2):
            server = start_server(folder)
            status, answer = operator_get(folder, "/readyz")
            assert status == (200 if is_ready else 503), answer
            assert is_ready or b"accept-break --tenant _system" in answer, answer
            metrics = operator_get(folder, "/metrics")[1].decode()
            assert "interlock_chains_broken 1" in metrics, metrics
            assert f"interlock_troubles {0 if is_ready else 1}" in metrics, metrics
            blocked = json.loads(operator_get(folder, "/api/beta/kill")[1])["blocked"]
            assert blocked["code"] == "chain_broken" and "accept-break" in blocked["next"], blocked
            check_doctor_names(folder, tenant)
            wait_for_alert(folder, "SERVER_TROUBLE" if not is_ready else "CHAIN_BROKEN", tenant)
            assert server.stop() == 0
            check_doctor_names(folder, tenant)


def main():
    check_broken_chain("beta")
    check_broken_chain("_system")
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "data"
        data.mkdir(mode=0o700)
        journal = FailingJournal(data)
        server = start_server(folder)
        use_account(server.address, "alpha", make_tenant(folder, "alpha"))
        assert operator_get(folder, "/readyz")[0] == 200
        assert b"interlock_troubles 0" in operator_get(folder, "/metrics")[1]

        journal.fail()
        use_account(server.address, "beta", make_tenant(folder, "beta"))
        why = wait_for_trouble(folder)
        assert "paper venue" in why and "restart" in why, why
        assert operator_get(folder, "/healthz")[0] == 200
        assert b"interlock_troubles 1" in operator_get(folder, "/metrics")[1]
        wait_for_alert(folder, "SERVER_TROUBLE")
        code, found = doctor(folder)
        assert code != 0 and why in found, found
        time.sleep(1)  # Several looks at the venue, and nothing more is told.
        lines = pathlib.Path(server.log_path).read_text().splitlines()
        assert len([line for line in lines if "server_trouble" in line]) == 1, lines

        assert server.stop() == 0
        journal.mend()
        server = start_server(folder)
        assert operator_get(folder, "/readyz")[0] == 200
        use_account(server.address, "gamma", make_tenant(folder, "gamma"))
        assert operator_get(folder, "/readyz")[0] == 200
        assert server.stop() == 0
    print("a failed journal and a broken chain are told: OK")


if __name__ == "__main__":
    main()
