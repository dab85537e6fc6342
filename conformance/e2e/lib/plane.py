"""The real program as a child of a test: the server, the sink, and plain HTTP to talk to them."""

import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
PATIENCE_SECONDS = 60


def program():
    return os.environ.get("INTERLOCK_BIN", str(ROOT / "build/release/bin/interlock"))


class Child:
    """A command of the program that says `ready …` on standard output. With `may_die` it may end
    before that, and then has no address."""

    def __init__(self, arguments, log_path, before=(), may_die=False):
        with open(log_path, "ab") as log:
            self.process = subprocess.Popen(
                [*before, program(), *arguments], stdout=subprocess.PIPE, stderr=log, text=True)
        self.log_path = log_path
        self.address = None
        line = self.process.stdout.readline().strip()
        if may_die and not line:
            return
        if not line.startswith("ready "):
            raise AssertionError(f"{arguments[0]} did not start: {line!r}, see {log_path}: "
                                 + pathlib.Path(log_path).read_text()[-2000:])
        self.address = line.removeprefix("ready ")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(PATIENCE_SECONDS)
        self.process.stdout.close()
        return code


def start_sink(folder, *options):
    return Child(
        ["sink", "--socket", f"{folder}/sink.sock", "--journal", f"{folder}/sink.journal",
         *options],
        f"{folder}/sink.log")


def start_server(folder, **child):
    config = pathlib.Path(folder) / "config.toml"
    # Without the bounds that keep one caller from doing what these tests do.
    config.write_text(
        "[http]\nrequests_per_second = 0\ntenant_requests_per_second = 0\n"
        "[audit]\nstandard_refused_kib = 0\ntenant_refused_kib = 0\n")
    return Child(
        ["serve", "--config", str(config), "--data", f"{folder}/data", "--port", "0",
         "--sink", f"{folder}/sink.sock"],
        f"{folder}/server.log", **child)


class UnixConnection(http.client.HTTPConnection):
    """HTTP over the operator's socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE_SECONDS)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(PATIENCE_SECONDS)
        self.sock.connect(self.path)


def connect(address):
    return http.client.HTTPConnection(address.removeprefix("http://"), timeout=PATIENCE_SECONDS)


def call(connection, method, path, body=None, key=None):
    """Status and body, as bytes."""
    headers = {"Content-Type": "application/json"}
    if key is not None:
        headers["X-Access-Key"] = key
    text = None if body is None else json.dumps(body)
    connection.request(method, path, body=text, headers=headers)
    response = connection.getresponse()
    return response.status, response.read()


def make_tenant(folder, tenant, scopes=("planner", "read", "probe")):
    """Gives the access key of an agent of the new tenant."""
    operator = UnixConnection(f"{folder}/data/operator.sock")
    for path, body in (
            ("/tenants", {"tenant_id": tenant, "name": tenant}),
            (f"/api/{tenant}/keys", {"label": "test", "scopes": list(scopes)})):
        status, answer = call(operator, "POST", path, body)
        if status // 100 != 2:
            raise AssertionError(f"POST {path} was answered {status}: {answer!r}")
    operator.close()
    return json.loads(answer)["access_key"]
