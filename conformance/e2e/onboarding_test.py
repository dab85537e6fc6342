"""Onboarding on a real server from a fresh data folder: the seven steps by docs/onboarding.sh,
which has to print what docs/onboarding.md shows; every call out of sequence; the owner's activation by
the letter; a proposal approved after a kill of the server, and one overtaken by the owner's own change;
orders that a stop leaves, through restarts of the server; and the end of the plan.
"""

import email
import email.policy
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import plane

PASSWORD = "an entirely private phrase"
OWNER = "owner@example.com"
# What differs from run to run.
VARYING = (
    (re.compile(r"\btn_[a-z0-9]+"), "tn_…"), (re.compile(r"\bkey_[a-z2-7]{20,}"), "key_…"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "TIME"), (re.compile(r'"\d+:[0-9a-f]{16}"'), '"REF"'))


def ask(server, method, path, body=None, key=None, token=None):
    connection = plane.connect(server.address)
    headers = {"Content-Type": "application/json"}
    if key is not None:
        headers["X-Access-Key"] = key
    if token is not None:
        headers["Authorization"] = "Bearer " + token
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    return response.status, answer


def ask_ok(*arguments, **given):
    status, answer = ask(*arguments, **given)
    assert status // 100 == 2, (arguments[1:], status, answer)
    return answer


def operator_ok(folder, method, path, body=None):
    operator = plane.UnixConnection(f"{folder}/data/operator.sock")
    status, answer = plane.call(operator, method, path, body)
    operator.close()
    assert status == 200, (path, answer)
    return json.loads(answer)


def without_varying(text):
    for pattern, mark in VARYING:
        text = pattern.sub(mark, text)
    return text.strip()


def run_script(server):
    done = subprocess.run(
        [str(plane.ROOT / "docs/onboarding.sh"), server.address, OWNER],
        capture_output=True, text=True, timeout=plane.PATIENCE_SECONDS, check=False)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert done.stdout.count("$ curl") == 7, done.stdout
    assert not re.search(r"ilk_[a-z0-9]", done.stdout), "the script shows a key"
    shown = re.search(r"```text\n(.*?)```", (plane.ROOT / "docs/onboarding.md").read_text(), re.S)
    assert without_varying(shown.group(1)) == without_varying(done.stdout), done.stdout


def sign_up(server, address):
    answer = ask_ok(server, "POST", "/signup", {"email": address, "plan": "pro", "agent_metadata": None})
    return answer["tenant_id"], answer["access_key"]


def refuse_out_of_sequence(server):
    """Every step before its time; the error names what is missing."""
    tenant, key = sign_up(server, "impatient@example.com")

    def refused(path, step):
        status, answer = ask(server, "POST", f"/api/{tenant}{path}", key=key)
        error = answer["error"]
        assert status == 409 and step in error["message"] + error["next_step"], (path, answer)
        return 1

    count = sum(refused(path, step) for path, step in (
        ("/initialize_bot", "/update_exchange_keys"), ("/restart", "/update_exchange_keys"),
        ("/start", "/initialize_bot"), ("/stop", "/initialize_bot")))
    keys = {"exchange": "paper", "api_key": "k", "api_secret": "s"}
    ask_ok(server, "POST", f"/api/{tenant}/update_exchange_keys", keys, key=key)
    count += refused("/start", "/initialize_bot") + refused("/stop", "/initialize_bot")
    ask_ok(server, "POST", f"/api/{tenant}/initialize_bot", key=key)
    count += refused("/stop", "/start")
    ask_ok(server, "POST", f"/api/{tenant}/start", key=key)
    count += refused("/start", "running")
    ask_ok(server, "POST", f"/api/{tenant}/stop", key=key)
    count += refused("/start", "/restart") + refused("/stop", "stopped")
    assert ask_ok(server, "POST", f"/api/{tenant}/restart", key=key)["bot_state"] == "running"
    return tenant, key, count


def activate(server, data, address):
    """By the link of the newest letter in the outbox; then a login with the password it set."""
    deadline = time.monotonic() + plane.PATIENCE_SECONDS
    code = None
    while code is None:
        assert time.monotonic() < deadline, "no letter came"
        for path in sorted((data / "outbox").glob("*.eml")):
            letter = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
            if letter["To"] == address:
                code = re.search(r"/activate\?code=(ilc_[a-z2-7]+)", letter.get_content()).group(1)
        time.sleep(0.05)
    ask_ok(server, "POST", "/account/activate", {"code": code, "password": PASSWORD})
    wrong = {"email": address, "password": "not this one", "want_token": True}
    assert ask(server, "POST", "/account/login", wrong)[0] == 401
    return ask_ok(server, "POST", "/account/login", dict(wrong, password=PASSWORD))["token"]


def propose(server, tenant, key, value):
    status, answer = ask(server, "POST", f"/api/{tenant}/update_pnl", {"pnl_perc": value}, key=key)
    assert status == 202 and answer["difference"]["pnl_perc"]["to"] == value, answer
    return f"/api/{tenant}/approvals/{answer['proposal_id']}/approve"


def stop_leaves_orders(folder, server, tenant, key):
    """Open orders remain on the exchange, through a stop of the server and through its death."""
    def open_ids():
        positions = ask_ok(server, "GET", f"/api/{tenant}/positions", key=key)["positions"]
        return {order["order_client_id"] for one in positions for order in one["open_orders"]}

    deadline = time.monotonic() + plane.PATIENCE_SECONDS
    while not open_ids():
        assert time.monotonic() < deadline, "the bot places no orders"
        time.sleep(0.2)
    left = {order["order_client_id"]
            for order in ask_ok(server, "POST", f"/api/{tenant}/stop", key=key)["open_orders"]}
    assert left
    for end in ("stop", "kill"):
        getattr(server, end)()
        server = plane.start_server(folder)
        time.sleep(4)  # Two clean looks of recovery, at one and at three seconds.
        assert ask(server, "GET", f"/api/{tenant}/fills", key=key)[0] == 403
        fills = operator_ok(folder, "GET", f"/api/{tenant}/fills?limit=500")["fills"]
        missing = left - open_ids() - {fill["order_client_id"] for fill in fills}
        assert not missing, (end, missing)
    assert ask_ok(server, "GET", f"/api/{tenant}/status", key=key)["bot_state"] == "stopped"
    assert ask_ok(server, "POST", f"/api/{tenant}/restart", key=key)["bot_state"] == "running"
    return server


def end_plan(folder, server, tenant, key):
    """As the end of a trial does: the bot stops, and nothing that needs a plan works."""
    operator_ok(folder, "POST", f"/api/{tenant}/account/plan", {"plan": None})
    assert ask_ok(server, "GET", f"/api/{tenant}/status", key=key)["bot_state"] == "stopped"
    status, answer = ask(server, "POST", f"/api/{tenant}/restart", key=key)
    assert status == 403 and answer["error"]["code"] == "plan_inactive", answer


def main():
    folder = tempfile.mkdtemp(prefix="interlock-onboarding-")
    data = pathlib.Path(folder) / "data"
    server = plane.start_server(folder)
    run_script(server)
    tenant, key, refused = refuse_out_of_sequence(server)
    token = activate(server, data, "impatient@example.com")

    path = propose(server, tenant, key, 3)
    assert ask(server, "POST", path, {}, key=key)[0] == 403
    server.kill()
    server = plane.start_server(folder)
    assert ask_ok(server, "GET", f"/api/{tenant}/status", key=key)["bot_state"] == "running"
    assert ask_ok(server, "GET", f"/api/{tenant}/config", key=key)["pnl_perc"] == 1
    ask_ok(server, "POST", path, {}, token=token)
    assert ask_ok(server, "GET", f"/api/{tenant}/config", key=key)["pnl_perc"] == 3

    path = propose(server, tenant, key, 4)
    ask_ok(server, "POST", f"/api/{tenant}/update_pnl", {"pnl_perc": 2}, token=token)
    status, answer = ask(server, "POST", path, {}, token=token)
    assert status == 409 and answer["error"]["code"] == "approval_not_pending", answer
    assert ask_ok(server, "GET", f"/api/{tenant}/config", key=key)["pnl_perc"] == 2

    server = stop_leaves_orders(folder, server, tenant, key)
    end_plan(folder, server, tenant, key)
    assert server.stop() == 0
    shutil.rmtree(folder)
    print(f"7 steps as the page shows them, {refused} calls out of sequence refused, "
          "2 proposals decided")


if __name__ == "__main__":
    main()
