"""Witnesses of a real server (audit-ledger.md 6): a file, a webhook, an RFC 3161 time-stamp server
played by the `openssl` program, and a second Interlock. A data folder that was put back as a whole is
of one piece for `audit verify`, and named with each witness; the server itself notices when it starts.
"""

import http.server
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import plane

TENANT = "demo"

TSA_CONFIG = """
[ tsa ]
default_tsa = tsa_one
[ tsa_one ]
serial = {folder}/tsa.serial
crypto_device = builtin
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
accuracy = secs:1
ordering = no
tsa_name = no
ess_cert_id_chain = no
ess_cert_id_alg = sha256
"""


def openssl(*arguments):
    done = subprocess.run(["openssl", *arguments], capture_output=True, timeout=30, check=False)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


def make_tsa(folder):
    """An authority, and the certificate and configuration of a time-stamp server."""
    pathlib.Path(f"{folder}/tsa.cnf").write_text(TSA_CONFIG.format(folder=folder))
    pathlib.Path(f"{folder}/tsa.serial").write_text("01\n")
    pathlib.Path(f"{folder}/tsa.ext").write_text("extendedKeyUsage = critical,timeStamping\n")
    for name in ("ca", "stranger"):
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                "-keyout", f"{folder}/{name}.key", "-out", f"{folder}/{name}.pem")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=a time-stamp server",
            "-keyout", f"{folder}/tsa.key", "-out", f"{folder}/tsa.csr")
    openssl("x509", "-req", "-in", f"{folder}/tsa.csr", "-CA", f"{folder}/ca.pem", "-CAkey",
            f"{folder}/ca.key", "-days", "2", "-extfile", f"{folder}/tsa.ext", "-out",
            f"{folder}/tsa.pem")


class Outside(http.server.ThreadingHTTPServer):
    """A webhook and a time-stamp server on one port."""

    def __init__(self, folder):
        self.folder = folder
        self.lines = []
        self.is_down = False
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), OutsideCall)
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()

    def url(self, path):
        return f"http://127.0.0.1:{self.server_address[1]}{path}"


class OutsideCall(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            status, answer = self.answer(body)
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def answer(self, body):
        if self.path == "/hook":
            if self.server.is_down:
                return 503, b"later"
            assert self.headers["Authorization"] == "Bearer hook-secret"
            self.server.lines.append(body.decode())
            return 204, b""
        assert self.headers["Content-Type"] == "application/timestamp-query"
        folder = self.server.folder
        pathlib.Path(f"{folder}/query.tsq").write_bytes(body)
        return 200, openssl("ts", "-reply", "-config", f"{folder}/tsa.cnf", "-queryfile",
                            f"{folder}/query.tsq", "-signer", f"{folder}/tsa.pem", "-inkey",
                            f"{folder}/tsa.key")

    def log_message(self, *_):
        pass


def start(folder, config=""):
    path = pathlib.Path(folder) / "config.toml"
    path.write_text("[http]\nrequests_per_second = 0\n" + config)
    return plane.Child(
        ["serve", "--config", str(path), "--data", f"{folder}/data", "--port", "0"],
        f"{folder}/server.log")


def run(*arguments, expect=0):
    done = subprocess.run(
        [plane.program(), *arguments, "--json"], capture_output=True, text=True,
        timeout=plane.PATIENCE_SECONDS, check=False)
    assert done.returncode == expect, (arguments, done.returncode, done.stdout, done.stderr)
    return json.loads(done.stdout) if done.stdout else {}


def verify(folder, *arguments, expect=0):
    return run("audit", "verify", *arguments, "--data", f"{folder}/data", expect=expect)


def probe(server, key, count):
    connection = plane.connect(server.address)
    for number in range(count):
        name = f"{time.monotonic_ns()}_{number}"
        status, answer = plane.call(
            connection, "POST", f"/api/{TENANT}/probes",
            {"decision_id": f"dec_{name}", "tick_id": "-", "idempotency_key": name, "note": "n"},
            key)
        assert status == 200, answer
    connection.close()


def put_back(folder, kept):
    shutil.rmtree(f"{folder}/data")
    shutil.copytree(kept, f"{folder}/data")


def wait_for(what, why):
    deadline = time.monotonic() + 30
    while not what():
        assert time.monotonic() < deadline, why
        time.sleep(0.05)


def ask_operator(folder, path):
    connection = plane.UnixConnection(f"{folder}/data/operator.sock")
    status, answer = plane.call(connection, "GET", path)
    connection.close()
    assert status == 200, answer
    return json.loads(answer)


def check_each(own, outside, other, key_file, expect, problem):
    """What verification says with each of the four witnesses."""
    export = f"{own}/witnessed.jsonl"
    run("audit", "export", "--tenant", "watch", "-o", export, "--data", f"{other}/data")
    tsa_ca = ["--tsa-ca", f"{outside.folder}/ca.pem"]
    pathlib.Path(f"{own}/hook.log").write_text("\n".join(outside.lines) + "\n")
    sources = {
        "file": ["--witness", f"{own}/mount/heads.log"],
        "webhook": ["--witness", f"{own}/hook.log"],
        "time stamps": ["--witness", f"{own}/stamps", *tsa_ca],
        "interlock": ["--witness", f"{other_url(other)}", "--witness-key-file", key_file],
        "interlock's export": ["--witness", export],
    }
    for name, arguments in sources.items():
        report = verify(own, *arguments, expect=expect)
        witness = report["witnesses"][0]
        assert report["problem"] == problem and witness["problem"] == problem, (name, report)
        assert (witness["missing"] == 0) == (problem is None), (name, witness)
        if name == "time stamps":
            assert witness["time_stamps"] == witness["seals"] > 0, witness
        if problem is not None:
            assert report["first_bad_tenant"] == "_system" and witness["missing_heads"], report
        print(f"{name}: {witness['seals']} seals, {witness['problem'] or 'all in the chain'}")


def other_url(other):
    return pathlib.Path(f"{other}/address").read_text() + "/api/watch/witness/heads"


def check_files(own, outside):
    """The kept tokens need nothing of ours; one that was swapped is named."""
    tokens = sorted(pathlib.Path(f"{own}/stamps").glob("*.tsr"))
    assert len(tokens) >= 2, tokens
    for token in tokens:
        openssl("ts", "-verify", "-in", str(token), "-data", str(token.with_suffix(".json")),
                "-CAfile", f"{outside.folder}/ca.pem")
    # And what we asked is what RFC 3161 calls a request, with a nonce and for the certificate.
    asked = openssl("ts", "-query", "-in", f"{outside.folder}/query.tsq", "-text").decode()
    for words in ("Version: 1", "Hash Algorithm: sha256", "Certificate required: yes", "Nonce: 0x"):
        assert words in asked, asked
    stamps = ["--witness", f"{own}/stamps"]
    report = verify(own, *stamps)
    assert report["witnesses"][0]["unchecked_tokens"] == len(tokens), report
    assert verify(own, *stamps, "--tsa-ca", f"{outside.folder}/stranger.pem",
                  expect=1)["problem"] == "bad_time_stamp"
    swapped = tokens[0].read_bytes()
    tokens[0].write_bytes(tokens[1].read_bytes())
    assert verify(own, *stamps, "--tsa-ca", f"{outside.folder}/ca.pem",
                  expect=1)["problem"] == "bad_time_stamp"
    tokens[0].write_bytes(swapped)


def check_export(own):
    export = f"{own}/demo.jsonl"
    run("audit", "export", "--tenant", TENANT, "-o", export, "--data", f"{own}/data")
    key = ["--public-key", f"{own}/data/ledger.pub"]
    report = run("audit", "verify", export, *key, "--witness", f"{own}/mount/heads.log")
    assert report["witness"]["ok"] and report["witnessed_seq"] > 0, report
    lines = pathlib.Path(f"{own}/mount/heads.log").read_text().splitlines()
    pathlib.Path(f"{own}/older.log").write_text("\n".join(lines[:-1]) + "\n")
    report = run("audit", "verify", export, *key, "--witness", f"{own}/older.log", expect=1)
    assert not report["witness"]["ok"], report


def check_late_webhook(own, config, outside, key):
    """What a webhook did not take is shown, and given when it is back, though we started anew."""
    outside.is_down = True
    before = len(outside.lines)
    server = start(own, config)
    probe(server, key, 2)
    wait_for(lambda: any("503" in w["problem"] for w in ask_operator(own, "/witness")["witnesses"]),
             "the failure is not told")
    doctor = run("doctor", "--config", f"{own}/config.toml", "--data", f"{own}/data", expect=1)
    bad = [f for f in doctor["checks"] if f["name"] == "witness" and "503" in f["detail"]]
    assert bad, doctor
    assert server.stop() == 0
    assert len(outside.lines) == before
    outside.is_down = False
    server = start(own, config)
    log = pathlib.Path(f"{own}/data/heads.log")  # Grows once more when the relay is open.
    wait_for(lambda: outside.lines[-1] == log.read_text().splitlines()[-1],
             "what waited was not given")
    assert server.stop() == 0
    heads = pathlib.Path(f"{own}/data/heads.log").read_text().splitlines()
    assert outside.lines == heads[-len(outside.lines):], "lines are missing or twice"


def check_noticed(own, other, config):
    """A server that is started on a folder that was put back stops everything and says why."""
    server = start(own, config)
    wait_for(lambda: any(w["disagreement"] for w in ask_operator(own, "/witness")["witnesses"]),
             "the server did not notice")
    wait_for(lambda: ask_operator(own, "/api/_system/kill")["active"], "the stop is not on")
    events = [r["event"] for r in ask_operator(own, "/api/_system/audit?limit=100")["records"]]
    assert "WITNESS_DISAGREES" in events, events
    doctor = run("doctor", "--config", f"{own}/config.toml", "--data", f"{own}/data", expect=1)
    assert any(f["name"] == "witness" and "rolled_back" not in f["name"] and "the witness got seal"
               in f["detail"] for f in doctor["checks"]), doctor
    wait_for(lambda: any(r["event"] == "WITNESSED_HEAD" and r["severity"] == "critical" for r in
                         ask_operator(other, "/api/watch/audit?limit=100")["records"]),
             "the other Interlock raised no alert")
    assert server.stop() == 0
    report = verify(own, "--witness", f"{own}/mount/heads.log", expect=1)
    assert report["problem"] in ("rolled_back", "other_history"), report
    print("started on it: noticed, stopped, recorded, and told by the other Interlock")


def main():
    with tempfile.TemporaryDirectory() as base:
        own, other, outer = (f"{base}/own", f"{base}/other", f"{base}/outer")
        for folder in (own, other, outer, f"{own}/mount", f"{own}/stamps"):
            pathlib.Path(folder).mkdir()
        make_tsa(outer)
        outside = Outside(outer)
        watcher = start(other)
        try:
            pathlib.Path(f"{other}/address").write_text(watcher.address)
            key_file = f"{own}/watch.key"
            pathlib.Path(key_file).write_text(plane.make_tenant(other, "watch") + "\n")
            pathlib.Path(f"{own}/hook.token").write_text("hook-secret\n")
            for secret in (key_file, f"{own}/hook.token"):
                pathlib.Path(secret).chmod(0o600)
            config = f"""
[audit.witness]
files = ["{own}/mount/heads.log"]
webhook = "{outside.url('/hook')}"
webhook_token_file = "{own}/hook.token"
interlock = "{other_url(other)}"
interlock_key_file = "{key_file}"
tsa = "{outside.url('/tsa')}"
tsa_folder = "{own}/stamps"
tsa_ca_file = "{outer}/ca.pem"
"""
            play(own, other, outside, config, key_file)
        finally:
            watcher.stop()
            outside.shutdown()


def play(own, other, outside, config, key_file):
    server = start(own, config)
    key = plane.make_tenant(own, TENANT)
    probe(server, key, 5)
    assert server.stop() == 0
    check_each(own, outside, other, key_file, 0, None)
    check_files(own, outside)
    check_export(own)
    check_late_webhook(own, config, outside, key)
    shutil.copytree(f"{own}/data", f"{own}/kept", ignore=shutil.ignore_patterns("*.sock"))
    server = start(own, config)
    probe(server, key, 5)
    assert server.stop() == 0
    check_each(own, outside, other, key_file, 0, None)
    put_back(own, f"{own}/kept")
    report = verify(own)
    assert report["ok"], "a folder that was put back as a whole is of one piece"
    print(f"put back: plain verification says OK to {report['records']} records")
    check_each(own, outside, other, key_file, 1, "rolled_back")
    # A folder made from nothing has other keys altogether.
    shutil.rmtree(f"{own}/data")
    server = start(own)
    assert server.stop() == 0
    report = verify(own, "--witness", f"{own}/mount/heads.log", expect=1)
    assert report["problem"] in ("wrong_key", "rolled_back"), report
    put_back(own, f"{own}/kept")
    check_noticed(own, other, config)


if __name__ == "__main__":
    main()
