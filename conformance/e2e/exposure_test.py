"""How a real server can be reached: what it refuses to listen on, who is believed about whom, where the
numbers are, a certificate that is renewed under it, and what doctor says about all of it.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import front_doors
import plane
from commands import Commands


def start(folder, text, *options):
    config = pathlib.Path(folder) / "config.toml"
    config.write_text(text)
    return plane.Child(
        ["serve", "--config", str(config), "--data", f"{folder}/data", "--port", "0", *options],
        f"{folder}/server.log")


def refused(folder, *options, text=""):
    """The sentence with which `serve` refuses to start."""
    config = pathlib.Path(folder) / "refused.toml"
    config.write_text(text)
    done = subprocess.run(
        [plane.program(), "serve", "--config", str(config), "--data", f"{folder}/none", "--port", "0",
         *options], capture_output=True, text=True, timeout=plane.PATIENCE_SECONDS)
    assert done.returncode not in (0, -signal.SIGKILL) and "ready" not in done.stdout, done
    return done.stderr


def port_of(server):
    return int(server.address.rsplit(":", 1)[1])


def doctor(folder, text=None):
    options = []
    if text is not None:
        path = pathlib.Path(folder) / "doctor.toml"
        path.write_text(text)
        options = ["--config", str(path)]
    done = subprocess.run(
        [plane.program(), "doctor", "--json", "--data", f"{folder}/data", *options],
        capture_output=True, text=True, timeout=plane.PATIENCE_SECONDS)
    return {one["name"]: one for one in json.loads(done.stdout)["checks"]}


def check_plaintext(folder):
    for address in ("0.0.0.0", "::"):
        said = refused(folder, "--address", address)
        assert "http.address" in said and "in clear" in said and "http.allow_plaintext" in said, said
    said = refused(folder, text='[metrics]\nlisten = "0.0.0.0:1"\n')
    assert "metrics.listen" in said, said
    assert not pathlib.Path(f"{folder}/none").exists(), "it got as far as a folder"
    assert doctor(folder, '[http]\naddress = "0.0.0.0"\n')["reach"]["state"] == "bad"
    # Loopback addresses only, in a test: 127.0.0.9 is this machine, and needs no word.
    server = start(folder, "", "--address", "127.0.0.9")
    assert server.stop() == 0


def check_numbers(folder):
    port = front_doors.free_port()
    server = start(folder, f'[metrics]\nlisten = "127.0.0.1:{port}"\n')
    status, _, body = front_doors.Door(port, name="127.0.0.1").ask("GET", "/metrics")
    assert status == 200 and b"interlock_turns_total" in body, (status, body[:200])
    assert front_doors.Door(port, name="evil.example").ask("GET", "/metrics")[0] == 403
    assert front_doors.Door(port, name="127.0.0.1").ask("GET", "/healthz")[0] == 404
    # The port of everybody gives them to nobody from this machine either.
    own = front_doors.Door(port_of(server), name="localhost")
    assert own.ask("GET", "/metrics")[0] == 401
    token = pathlib.Path(f"{folder}/data/operator.token").read_text().strip()
    status, _, body = own.ask("GET", "/metrics", Authorization=f"Bearer {token}")
    assert status == 200 and b"interlock_turns_total" in body, status
    own.close()
    shown = doctor(folder)
    assert str(port) in shown["metrics"]["detail"] and shown["metrics"]["state"] == "ok", shown
    assert "this machine only" in shown["reach"]["detail"], shown
    assert server.stop() == 0


def check_forwarded(folder):
    """A neighbour on this machine is believed only when he is a proxy by name."""
    public = f'[http]\npublic_url = "https://{front_doors.NAME}"\n'
    for trusts, seen in ((False, ""), (True, "198.51.100.7")):
        server = start(folder, public + ('trusted_proxies = ["127.0.0.1"]\n' if trusts else ""))
        door = front_doors.Door(port_of(server))
        body = {"email": f"{trusts}@example.com", "plan": "standard", "agent_metadata": None}
        claims = {"X_Forwarded_For": "198.51.100.7", "X_Forwarded_Proto": "https"}
        status, _, answer = door.ask("POST", "/signup", body, **claims)
        assert status == 201, (status, answer)
        door.close()
        found = Commands(f"{folder}/data").run(
            "audit", "export", "--tenant", answer["tenant_id"], as_json=False)
        assert ("198.51.100.7" in found) == trusts, (trusts, found)
        state = doctor(folder)["proxy"]["state"]
        assert state == ("ok" if trusts else "note"), state
        assert server.stop() == 0


def wait_until(what, look):
    deadline = time.monotonic() + plane.PATIENCE_SECONDS
    while not look():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def check_reload(folder):
    certificate, key = front_doors.make_certificate(folder)
    tls = f'[http]\ntls_certificate = "{certificate}"\ntls_key = "{key}"\n'
    os.chmod(key, 0o644)
    said = refused(folder, text=tls)
    assert "open to other users" in said and f"chmod 600 {key}" in said, said
    os.chmod(key, 0o600)
    server = start(folder, tls + f'public_url = "https://{front_doors.NAME}"\n')
    port = port_of(server)
    kept = front_doors.Door(port, certificate)
    assert kept.ask("GET", "/healthz")[0] == 200
    first = front_doors.serial_of(port)

    front_doors.make_certificate(folder)
    assert front_doors.serial_of(port) == first, "taken without being told"
    server.process.send_signal(signal.SIGHUP)
    wait_until("the new certificate", lambda: front_doors.serial_of(port) != first)
    second = front_doors.serial_of(port)
    assert kept.ask("GET", "/healthz")[0] == 200, "an old connection was cut"
    kept.close()
    assert doctor(folder)["served TLS"]["state"] == "ok"

    pathlib.Path(key).write_text("no key\n")
    server.process.send_signal(signal.SIGHUP)
    wait_until("doctor to tell", lambda: doctor(folder)["served TLS"]["state"] == "bad")
    assert "private key" in doctor(folder)["served TLS"]["detail"]
    assert front_doors.serial_of(port) == second, "a bad pair took the good one's place"
    assert "tls_reload_failed" in pathlib.Path(server.log_path).read_text()
    records = Commands(f"{folder}/data").run(
        "audit", "export", "--tenant", "_system", as_json=False)
    assert "TLS_RELOAD_FAILED" in records, records

    front_doors.make_certificate(folder)
    server.process.send_signal(signal.SIGHUP)
    wait_until("the third", lambda: front_doors.serial_of(port) not in (first, second))
    assert doctor(folder)["served TLS"]["state"] == "ok"
    assert server.stop() == 0


def check_hangup_without_tls(folder):
    server = start(folder, "")
    for _ in range(3):
        server.process.send_signal(signal.SIGHUP)
    assert front_doors.Door(port_of(server), name="localhost").ask("GET", "/healthz")[0] == 200
    assert server.stop() == 0


def main():
    if shutil.which("openssl") is None:
        print("openssl is not here")
        return 77
    folder = tempfile.mkdtemp(prefix="interlock-exposure-")
    try:
        for check in (check_plaintext, check_numbers, check_forwarded, check_reload,
                      check_hangup_without_tls):
            check(folder)
            print(f"{check.__name__}: ok")
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
