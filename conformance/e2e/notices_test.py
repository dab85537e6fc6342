"""People are told on a real server (notices.md): by letters in a folder and by a signed webhook, with
ids and a link and no token; not to who asked; again, under the same id, after a kill; refused where the
guard refuses; and doctor, metrics and the ledger say how it went.
"""

import email
import email.policy
import hashlib
import hmac
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

PASSWORD = "an entirely private phrase"
LINK = "https://desk.example/"


class Receiver(http.server.ThreadingHTTPServer):
    """A webhook: keeps what it got, and answers as told."""

    def __init__(self):
        self.calls = []
        self.status = 204
        super().__init__(("127.0.0.1", 0), ReceiverCall)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/hook?key=hidden-part"


class ReceiverCall(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.calls.append((self.headers["Interlock-Signature"], body))
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def start(folder, ranges, public_url=LINK[:-1]):
    path = pathlib.Path(folder) / "config.toml"
    named = f"public_url = \"{public_url}\"\n" if public_url else ""
    path.write_text(
        f"[http]\nrequests_per_second = 0\n{named}"
        f"[notices]\nallow_cidrs = {json.dumps(ranges)}\n")
    return plane.Child(
        ["serve", "--config", str(path), "--data", f"{folder}/data", "--port", "0"],
        f"{folder}/server.log")


def run(folder, *arguments, password=None):
    done = subprocess.run(
        [plane.program(), *arguments, "--data", f"{folder}/data", "--json"],
        input=None if password is None else password + "\n", capture_output=True, text=True,
        timeout=plane.PATIENCE_SECONDS, check=False)
    return done.returncode, json.loads(done.stdout or done.stderr)


def ask(server, method, path, body=None, token=None, expect=200):
    connection = plane.connect(server.address)
    headers = {"Content-Type": "application/json"}
    if token is not None:
        headers["Authorization"] = "Bearer " + token
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    assert response.status == expect, (method, path, response.status, answer)
    return answer


def operator_text(folder, path):
    connection = plane.UnixConnection(f"{folder}/data/operator.sock")
    status, body = plane.call(connection, "GET", path)
    connection.close()
    assert status == 200, (path, status, body)
    return body.decode()


def log_in(server, address):
    return ask(server, "POST", "/account/login",
               {"email": address, "password": PASSWORD, "want_token": True})["token"]


def letters(folder, to):
    found = []
    for path in sorted(pathlib.Path(f"{folder}/data/outbox").glob("*.eml")):
        mail = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
        if mail["To"] == to and mail["Subject"].startswith("Interlock: "):
            found.append((mail["Subject"], mail.get_content()))
    return found


def wait_until(what, check):
    deadline = time.monotonic() + plane.PATIENCE_SECONDS
    while not (found := check()):
        assert time.monotonic() < deadline, what
        time.sleep(0.05)
    return found


def told(receiver, event, secret):
    """Notices of this event so far, each call's signature checked."""
    found = []
    for signature, body in receiver.calls:
        at, _, digest = signature.partition(",")
        assert at.startswith("t=") and digest.startswith("v1="), signature
        expected = hmac.new(
            secret.encode(), at[2:].encode() + b"." + body, hashlib.sha256).hexdigest()
        assert hmac.compare_digest(digest[3:], expected), (signature, body)
        assert abs(int(at[2:]) - time.time()) < 300, signature
        parsed = json.loads(body)
        assert parsed["link"] == LINK and parsed["tenant_id"] == "demo", parsed
        for never in (b"hidden-part", b"ils_", b"ilk_", b"ilw_", b"reason"):
            assert never not in body, (never, body)
        found += [notice for notice in parsed["notices"] if notice["event"] == event]
    return found


def add_people(folder, server):
    _, invited = run(folder, "human", "invite", "one@example.com", "--tenant", "demo")
    run(folder, "human", "activate", "--code", invited["one_time_code"], "--password-stdin",
        password=PASSWORD)
    token = log_in(server, "one@example.com")
    invited = ask(server, "POST", "/api/demo/humans", {"email": "two@example.com"}, token, 201)
    run(folder, "human", "activate", "--code", invited["one_time_code"], "--password-stdin",
        password=PASSWORD)
    return token


def as_human(folder, *words):
    code, answer = run(folder, "notices", *words, "--email", "one@example.com", "--password-stdin", password=PASSWORD)
    assert code == 0, (words, answer)
    return answer


def link_without_a_public_url(folder, server):
    """On a server whose name nobody configured a letter leads to where it listens; and the commands say what the
    calls do."""
    as_human(folder, "test")
    wait_until("the letter with a link", lambda: [
        text for _, text in letters(folder, "one@example.com") if server.address + "/" in text])
    wait_until("what came of it", lambda: [
        one for one in as_human(folder, "show")["outlets"] if one["kind"] == "test" and one["sent_at"]])
    assert as_human(folder, "letters", "trial", "approval")["letters"] == ["approval", "trial"]
    assert as_human(folder, "letters", "none")["letters"] == []
    everything = ["approval", "critical", "blocked", "chain_broken", "trial"]
    assert as_human(folder, "letters", *everything)["letters"] == everything


def hear_of_an_approval(folder, server, token, receiver, secret):
    ask(server, "POST", "/api/demo/kill", {"active": True, "reason": "evil words"}, token)
    stop = wait_until("the alert by webhook", lambda: told(receiver, "KILL_SWITCH_ACTIVATED", secret))
    assert stop[0]["kind"] == "critical", stop
    approval = ask(server, "POST", "/api/demo/kill", {"active": False}, token, 202)
    approval = approval["release_approval_id"]
    asked = wait_until("the approval by webhook",
                       lambda: told(receiver, "APPROVAL_REQUESTED", secret))
    assert asked[0]["subject"] == approval and asked[0]["notice_id"].startswith("ntc_"), asked
    wait_until("the letter to who may vote", lambda: [
        text for subject, text in letters(folder, "two@example.com")
        if "approval" in subject and approval in text and asked[0]["notice_id"] in text
        and LINK in text])
    for subject, text in letters(folder, "one@example.com"):
        assert "approval" not in subject, subject  # Who asked knows.
        assert "evil" not in text and "ils_" not in text, text
    return approval


def survive_a_kill(folder, server, token, receiver, secret):
    """Killed as soon as the request is answered: the notice is in the store and nowhere else."""
    before = len(told(receiver, "NOTICE_TEST", secret))
    ask(server, "POST", "/api/demo/notices/test", None, token, 202)
    server.kill()
    server = start(folder, ["127.0.0.0/8"])
    wait_until("the notice after the kill",
               lambda: len(told(receiver, "NOTICE_TEST", secret)) > before)
    time.sleep(2)
    ids = [notice["notice_id"] for notice in told(receiver, "NOTICE_TEST", secret)]
    assert len(set(ids)) == before + 1, ids  # Perhaps twice, but never as another.
    return server


def fail_and_say_so(folder, server, token, receiver):
    receiver.status = 503
    ask(server, "POST", "/api/demo/notices/test", None, token, 202)
    outlet = wait_until("the failure in get_notices", lambda: [
        one for one in ask(server, "GET", "/api/demo/notices", token=token)["outlets"]
        if one["to"] == "webhook" and one["last_error"] == "webhook_failed"])[0]
    assert outlet["waiting"] == 1 and outlet["attempts"] == 1 and outlet["next_at"], outlet
    _, report = run(folder, "doctor")
    finding = [one for one in report["checks"] if one["name"] == "notices"]
    assert finding and finding[0]["state"] == "warning", finding
    assert "demo (webhook_failed)" in finding[0]["detail"], finding
    metrics = operator_text(folder, "/metrics")
    assert "interlock_notice_failures_total 1\n" in metrics, metrics
    assert "interlock_notice_asked_to_sent_seconds_count 0" not in metrics, metrics


def choose(server, token, key):
    ask(server, "PUT", "/api/demo/notices/letters", {"letters": ["approval"]}, token)
    assert ask(server, "GET", "/api/demo/notices", token=token)["letters"] == ["approval"]
    for method, path, body in (
            ("GET", "/api/demo/notices", None),
            ("PUT", "/api/demo/notices/letters", {"letters": []}),
            ("PUT", "/api/demo/notices/webhook", {"url": "https://example.org/"}),
            ("DELETE", "/api/demo/notices/webhook", None),
            ("POST", "/api/demo/notices/test", None)):
        refused = ask(server, method, path, body, key, 403)
        assert refused["error"]["code"] in ("forbidden", "human_required"), refused


def main():
    folder = tempfile.mkdtemp()
    receiver = Receiver()
    server = start(folder, [], public_url=None)
    try:
        key = plane.make_tenant(folder, "demo")
        token = add_people(folder, server)
        link_without_a_public_url(folder, server)
        refused = ask(server, "PUT", "/api/demo/notices/webhook", {"url": receiver.url()}, token, 400)
        assert refused["error"]["code"] == "url_not_allowed", refused
        assert server.stop() == 0
        server = start(folder, ["127.0.0.0/8"])
        made = as_human(folder, "webhook", "set", receiver.url())
        as_human(folder, "webhook", "remove")
        assert as_human(folder, "show")["webhook"] is None
        made = ask(server, "PUT", "/api/demo/notices/webhook", {"url": receiver.url()}, token)
        assert made["host"] == "127.0.0.1" and "hidden-part" not in json.dumps(made), made
        hear_of_an_approval(folder, server, token, receiver, made["secret"])
        server = survive_a_kill(folder, server, token, receiver, made["secret"])
        fail_and_say_so(folder, server, token, receiver)
        choose(server, token, key)
        assert server.stop() == 0
        code, report = run(folder, "audit", "verify")
        assert code == 0, report
        ledger = subprocess.run(
            [plane.program(), "audit", "export", "--tenant", "demo", "--data", f"{folder}/data"],
            capture_output=True, text=True, timeout=plane.PATIENCE_SECONDS, check=False).stdout
        log = pathlib.Path(f"{folder}/server.log").read_text()
        for secret in (made["secret"], "hidden-part"):
            assert secret not in ledger and secret not in log, secret
        for event in ("NOTICE_WEBHOOK_SET", "NOTICE_WEBHOOK_REMOVED", "NOTICES_SET", "NOTICE_TEST"):
            assert event in ledger, event
    finally:
        server.kill()
        receiver.shutdown()
        shutil.rmtree(folder, ignore_errors=True)
    print("people are told, once or again under the same id, and what does not leave is named")


main()
