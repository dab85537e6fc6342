"""Getting back in on a real server (principals.md 8): codes at activation, a code in place of the
password, a vote that rests while the stop works, the operator's recovery with and without a server,
the letters that tell of it, an objection; and no code anywhere in the ledger, the log or the database.
"""

import email
import email.policy
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import plane

FIRST = "an entirely private phrase"
SECOND = "quite another private phrase"


def run(folder, *arguments, password=None, expect=0):
    done = subprocess.run(
        [plane.program(), *arguments, "--data", f"{folder}/data", "--json"],
        input=None if password is None else password + "\n", capture_output=True, text=True,
        timeout=plane.PATIENCE_SECONDS, check=False)
    assert done.returncode == expect, (arguments, done.returncode, done.stdout, done.stderr)
    return json.loads(done.stdout or done.stderr) if expect == 0 else done.stdout + done.stderr


def ask(server, method, path, body=None, token=None):
    connection = plane.connect(server.address)
    headers = {"Content-Type": "application/json"}
    if token is not None:
        headers["Authorization"] = "Bearer " + token
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    return response.status, answer


def log_in(server, address, password):
    status, answer = ask(server, "POST", "/account/login",
                         {"email": address, "password": password, "want_token": True})
    assert status == 200, answer
    return answer


def add_human(folder, address, code):
    made = run(folder, "human", "activate", "--code", code, "--password-stdin", password=FIRST)
    assert made["email"] == address and len(made["recovery_codes"]) == 10, made
    return made["recovery_codes"]


def letters(folder):
    """Subject and text of every letter that was left so far, by its recipient."""
    found = []
    for path in sorted(pathlib.Path(f"{folder}/data/outbox").glob("*.eml")):
        mail = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
        found.append((mail["To"], mail["Subject"], mail.get_content()))
    return found


def wait_for_letters(folder, wanted):
    for _ in range(plane.PATIENCE_SECONDS * 10):
        if wanted <= {(to, subject.split(":")[0]) for to, subject, _ in letters(folder)}:
            return
        time.sleep(0.1)
    raise AssertionError((wanted, letters(folder)))


def recover_with_own_code(folder, server, codes):
    run(folder, "human", "reset-password", "one@example.com", "--code", "ilr-wrong",
        "--password-stdin", password=SECOND, expect=1)
    back = run(folder, "human", "reset-password", "one@example.com", "--code", codes[0],
               "--password-stdin", password=SECOND)
    assert len(back["recovery_codes"]) == 10 and codes[1] not in back["recovery_codes"]
    status, _ = ask(server, "POST", "/account/login", {"email": "one@example.com", "password": FIRST})
    assert status == 401
    session = log_in(server, "one@example.com", SECOND)
    token = session["token"]
    assert session["vote_rests_until"] and session["recoveries"][0]["state"] == "recovered"
    status, answer = ask(server, "POST", "/api/demo/kill", {"active": True}, token)
    assert status == 200, answer
    status, answer = ask(server, "POST", "/api/demo/kill", {"active": False}, token)
    assert status == 202, answer
    status, answer = ask(
        server, "POST", f"/api/demo/approvals/{answer['release_approval_id']}/approve", {}, token)
    assert (status, answer["error"]["code"]) == (403, "vote_rests"), answer
    status, answer = ask(server, "POST", "/api/demo/humans", {"email": "x@example.com"}, token)
    assert (status, answer["error"]["code"]) == (403, "vote_rests"), answer
    wait_for_letters(folder, {("one@example.com", "A login was recovered"),
                              ("two@example.com", "A login was recovered")})
    return back["recovery_codes"]


def recover_by_operator(folder, server):
    started = run(folder, "human", "recover", "two@example.com", "--tenant", "demo", "--show-code")
    assert started["state"] == "waiting" and started["code"].startswith("ilr-"), started
    status, answer = ask(server, "POST", "/account/recover",
                         {"email": "two@example.com", "code": started["code"], "password": SECOND})
    assert (status, answer["error"]["code"]) == (409, "recovery_waits"), answer
    session = log_in(server, "one@example.com", SECOND)
    assert {notice["state"] for notice in session["recoveries"]} == {"waiting", "recovered"}, session
    run(folder, "human", "object", "two@example.com", "--tenant", "demo", "--email",
        "one@example.com", "--password-stdin", password=SECOND)
    status, answer = ask(server, "POST", "/account/recover",
                         {"email": "two@example.com", "code": started["code"], "password": SECOND})
    assert status == 401, answer
    return started["code"]


def recover_without_server(folder):
    """Refused while a server holds the folder is not: then the server is asked. Without one, the
    letters wait for the next start, and the delay is the same."""
    started = run(folder, "human", "recover", "one@example.com", "--tenant", "demo", "--show-code")
    assert started["state"] == "waiting" and started["code"].startswith("ilr-"), started
    before = len(letters(folder))
    server = plane.start_server(folder)
    deadline = time.monotonic() + plane.PATIENCE_SECONDS
    while len(letters(folder)) < before + 2:  # Others of that subject are there from before.
        assert time.monotonic() < deadline, letters(folder)
        time.sleep(0.1)
    wait_for_letters(folder, {("two@example.com", "A login is to be recovered"),
                              ("one@example.com", "A login is to be recovered")})
    status, answer = ask(server, "POST", "/account/recover",
                         {"email": "one@example.com", "code": started["code"], "password": FIRST})
    assert (status, answer["error"]["code"]) == (409, "recovery_waits"), answer
    return server, started["code"]


def search_for(folder, secrets):
    for path in pathlib.Path(folder).rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            for secret in secrets:
                for spelled in (secret, secret.replace("-", "")[3:]):
                    assert spelled.encode() not in content, (path, "holds a code")


def main():
    folder = tempfile.mkdtemp()
    server = plane.start_server(folder)
    try:
        plane.make_tenant(folder, "demo")
        invited = run(folder, "human", "invite", "one@example.com", "--tenant", "demo")
        codes = add_human(folder, "one@example.com", invited["one_time_code"])
        token = log_in(server, "one@example.com", FIRST)["token"]
        _, invited = ask(server, "POST", "/api/demo/humans", {"email": "two@example.com"}, token)
        codes += add_human(folder, "two@example.com", invited["one_time_code"])
        codes += recover_with_own_code(folder, server, codes)
        codes.append(recover_by_operator(folder, server))
        assert server.stop() == 0
        server, code = recover_without_server(folder)
        codes.append(code)
        made = run(folder, "human", "codes", "--email", "two@example.com", "--password-stdin",
                   password=FIRST)
        codes += made["recovery_codes"]
        assert server.stop() == 0
        run(folder, "audit", "verify")
        search_for(folder, codes)
        events = subprocess.run(
            [plane.program(), "audit", "export", "--tenant", "demo", "--data", f"{folder}/data"],
            capture_output=True, text=True, timeout=plane.PATIENCE_SECONDS, check=False).stdout
        for event in ("HUMAN_RECOVERED", "HUMAN_RECOVERY_STARTED", "HUMAN_RECOVERY_ENDED"):
            assert event in events, event
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)
    print("people get back in, everybody hears of it, and their word rests")


main()
