"""The stop listener answers the stop and its state, to whoever the ordinary port would, and nothing
else; without TLS it stays on this machine."""

import http.client
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

from plane import Child, UnixConnection, call, connect, make_tenant, program


def serve(folder, config=""):
    path = pathlib.Path(folder) / "config.toml"
    path.write_text(config)
    return ["serve", "--config", str(path), "--data", f"{folder}/data", "--port", "0"]


def send(address, method, path, headers, body=None):
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    response = connection.getresponse()
    answer = response.status, json.loads(response.read() or b"null")
    connection.close()
    return answer


def make_human(folder, address, tenant):
    """Gives the token of the session."""
    operator = UnixConnection(f"{folder}/data/operator.sock")
    status, answer = call(
        operator, "POST", f"/api/{tenant}/humans", {"email": "owner@example.org"})
    assert status == 201, answer
    code = json.loads(answer)["one_time_code"]
    status, answer = call(
        connect(address), "POST", "/account/activate",
        {"code": code, "password": "a password for the test", "want_token": True})
    assert status == 200, answer
    return json.loads(answer)["token"]


def check_answers(folder, server, stop):
    keys = {tenant: make_tenant(folder, tenant) for tenant in ("alpha", "beta")}
    token = make_human(folder, server.address, "alpha")
    with_key = {"X-Access-Key": keys["alpha"]}
    path = "/api/alpha/kill"
    status, answer = send(stop, "GET", path, with_key)
    assert (status, answer["active"]) == (200, False), answer

    for headers in ({}, {"X-Access-Key": "ilk_wrong"}, {"X-Access-Key": keys["beta"]}):
        for method, body in (("GET", None), ("POST", {"active": True})):
            status, answer = send(stop, method, path, headers, body)
            assert (status, answer["error"]["code"]) == (401, "unauthenticated"), answer
    for other in ("/healthz", "/", "/account/login", "/mcp", "/api/alpha/probes", "/relay",
                  "/api/alpha/tools/py_set_kill_switch", "/metrics"):
        status, answer = send(stop, "POST", other, with_key, {})
        assert status == 404, (other, status, answer)
    cookie = {"Cookie": f"interlock_session={token}"}
    status, answer = send(
        stop, "POST", path, {**cookie, "Origin": "https://evil.example"}, {"active": True})
    assert (status, answer["error"]["code"]) == (403, "cross_origin"), answer
    status, answer = send(stop, "POST", path, {**with_key, "Host": "evil.example"},
                          {"active": True})
    assert (status, answer["error"]["code"]) == (403, "host_not_allowed"), answer
    status, answer = send(stop, "GET", path, with_key)
    assert (status, answer["active"]) == (200, False), answer  # None of them stopped anything.

    status, answer = send(stop, "POST", path, {**cookie, "Origin": stop}, {"active": True})
    assert (status, answer["active"]) == (200, True), answer
    status, answer = send(server.address, "GET", path, with_key)
    assert (status, answer["active"]) == (200, True), answer
    status, answer = send(stop, "POST", f"/{keys['beta']}/kill", {}, {"active": True})
    assert (status, answer["active"]) == (200, True), answer
    # Not even here does an agent turn it off.
    status, answer = send(stop, "POST", path, with_key, {"active": False})
    assert (status, answer["active"]) == (202, True), answer


def doctor_on(folder):
    done = subprocess.run(
        [program(), "doctor", "--data", f"{folder}/data", "--json"],
        capture_output=True, text=True, timeout=60, check=False)
    checks = json.loads(done.stdout)["checks"]
    return next(one for one in checks if one["name"] == "stop listener")


def main():
    with tempfile.TemporaryDirectory(prefix="interlock_stop_test_") as folder:
        server = Child(serve(folder), f"{folder}/server.log")
        stop = server.process.stdout.readline().strip().removeprefix("stop ")
        assert stop.startswith("http://127.0.0.1:") and stop != server.address, stop
        url = pathlib.Path(folder) / "data/stop.url"
        assert url.read_text().strip() == stop
        finding = doctor_on(folder)
        assert stop in finding["detail"] and "takes connections" in finding["detail"], finding
        check_answers(folder, server, stop)
        assert server.stop() == 0
        assert not url.exists()
        done = subprocess.run(
            [program(), *serve(folder, '[stop]\naddress = "0.0.0.0"\n')],
            capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode != 0 and "plain text" in done.stderr, done
        without = Child(serve(folder, '[stop]\naddress = ""\n'), f"{folder}/server.log")
        assert not url.exists()
        assert without.stop() == 0


main()
