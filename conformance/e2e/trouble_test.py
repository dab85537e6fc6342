"""A venue whose journal fails is told everywhere somebody looks: readiness, doctor, alerts, metrics
and, once, the log; and the server is well again after a restart on a disk that works."""

import fcntl
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

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


def wait_for_alert(folder, event):
    """Readiness is told at once; the alert is a record, which has to be committed first."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        status, answer = operator_get(folder, "/api/_system/alerts")
        assert status == 200, answer
        if event in answer.decode():
            return
        time.sleep(0.1)
    raise AssertionError(f"nobody was told of {event}")


def main():
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
    print("a failed journal is told: OK")


if __name__ == "__main__":
    main()
