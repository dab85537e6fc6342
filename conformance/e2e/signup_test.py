"""Owners of a real server: signed up by two callers at once, mailed through a killed server, activated by
the link in the letter, with a key that is replaced; and no secret in anything that stays but the letter.
"""

import concurrent.futures
import email
import email.policy
import json
import pathlib
import re
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import plane

PASSWORD = "an entirely private phrase"
CODE = re.compile(r"/activate\?code=(ilc_[a-z2-7]+)")


def ask(server, method, path, body=None, **given):
    connection = plane.connect(server.address)
    status, answer = plane.call(connection, method, path, body, **given)
    connection.close()
    return status, json.loads(answer)


def sign_up(server, address, plan="standard"):
    return ask(server, "POST", "/signup", {"email": address, "plan": plan, "agent_metadata": {"model": "m"}})


def letters_to(data, address):
    """The texts of the letters in the outbox, oldest first."""
    texts = []
    for path in sorted((data / "outbox").glob("*.eml")):
        letter = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
        if letter["To"] == address:
            texts.append(letter.get_content())
    return texts


def wait_for(what, ask_for):
    deadline = time.monotonic() + plane.PATIENCE_SECONDS
    while True:
        found = ask_for()
        if found:
            return found
        assert time.monotonic() < deadline, f"{what} did not come"
        time.sleep(0.05)


def race_for_an_address(server):
    with concurrent.futures.ThreadPoolExecutor(4) as callers:
        answers = list(callers.map(lambda _: sign_up(server, "contested@example.com"), range(4)))
    statuses = sorted(status for status, _ in answers)
    assert statuses == [201, 409, 409, 409], statuses
    refused = next(answer for status, answer in answers if status == 409)
    assert refused["error"]["code"] == "email_in_use" and refused["error"]["next_step"], refused


def mail_over_a_crash(folder, server, data, secrets):
    """The server is killed right after the answer; whatever it had done by then, the letter comes."""
    status, account = sign_up(server, "crashed@example.com")
    assert status == 201, account
    secrets.append(account["access_key"])
    server.kill()
    server = plane.start_server(folder)
    path = f"/api/{account['tenant_id']}/account/status"
    wait_for("the letter", lambda: ask(
        server, "GET", path, key=account["access_key"])[1]["activation_mail"] == "sent")
    code = CODE.search(letters_to(data, "crashed@example.com")[-1]).group(1)
    status, session = ask(
        server, "POST", "/account/activate", {"code": code, "password": PASSWORD, "want_token": True})
    assert status == 200, session
    secrets.append(session["token"])
    return server


def take_over(server, data, secrets):
    """The owner follows the link, grants provisioning, and replaces the agent's key."""
    status, account = sign_up(server, "owner@example.com", "pro")
    assert status == 201 and account["status"] == "pending_activation", account
    assert account["next"] and account["trial_expires"], account
    tenant, key = account["tenant_id"], account["access_key"]
    status_path = f"/api/{tenant}/account/status"
    assert ask(server, "GET", status_path, key=key)[1]["active"] is True
    text = wait_for("the letter", lambda: letters_to(data, "owner@example.com"))[-1]
    assert tenant in text and "If it was not you" in text, text
    link = re.search(r"(http\S+)/activate\?code=", text).group(1)
    assert link == server.address, (link, server.address)
    code = CODE.search(text).group(1)
    status, session = ask(server, "POST", "/account/activate", {
        "code": code, "password": PASSWORD, "want_token": True, "grant_key_provisioning": True})
    assert status == 200 and session["tenants"] == [tenant], session
    assert ask(server, "POST", "/account/activate", {"code": code, "password": PASSWORD})[0] == 401
    view = ask(server, "GET", status_path, key=key)[1]
    assert view["email_verified"] and view["status"] == "active" and view["key_grant"], view
    assert ask(server, "POST", f"/api/{tenant}/account/regenerate-key", key=key)[0] == 403
    connection = plane.connect(server.address)
    connection.request("POST", f"/api/{tenant}/account/regenerate-key", headers={
        "Authorization": "Bearer " + session["token"]})
    answer = connection.getresponse()
    made = json.loads(answer.read())
    connection.close()
    assert answer.status == 200 and made["replaced_key_id"] == account["key_id"], made
    assert ask(server, "GET", status_path, key=key)[0] == 401
    assert ask(server, "GET", status_path, key=made["access_key"])[0] == 200
    secrets += [key, session["token"], made["access_key"]]
    return tenant, made["access_key"]


def find_secrets(folder, secrets):
    """Where each secret stands in clear, by file."""
    found = []
    for path in pathlib.Path(folder).rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            found += [(path, secret) for secret in secrets if secret.encode() in content]
    return found


def main():
    folder = tempfile.mkdtemp(prefix="interlock-signup-")
    data = pathlib.Path(folder) / "data"
    secrets = [PASSWORD]
    server = plane.start_server(folder)
    race_for_an_address(server)
    server = mail_over_a_crash(folder, server, data, secrets)
    tenant, key = take_over(server, data, secrets)
    assert server.stop() == 0
    server = plane.start_server(folder)
    status, view = ask(server, "GET", f"/api/{tenant}/account/status", key=key)
    assert status == 200 and view["email_verified"], view
    server.kill()
    leaks = find_secrets(folder, secrets)
    assert not leaks, leaks
    # Codes stand in the letters, and nowhere else. The search is of the right bytes: a letter's
    # quoted line is whole.
    codes = {code for path in (data / "outbox").glob("*.eml") for code in CODE.findall(
        email.message_from_bytes(path.read_bytes(), policy=email.policy.default).get_content())}
    assert len(codes) >= 3, codes
    elsewhere = [leak for leak in find_secrets(folder, codes) if leak[0].parent.name != "outbox"]
    assert not elsewhere, elsewhere
    shutil.rmtree(folder)
    print(f"signed up 3 owners, searched {len(secrets)} secrets and {len(codes)} codes")


if __name__ == "__main__":
    main()
