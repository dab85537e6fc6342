"""Exchange keys with marked values in a real server: provisioned, used by a bot, refused, replaced, sealed
anew under another master key, through kills at any moment; and nothing that stays, and no answer, has
them in clear or in a form that anybody could read back.
"""

import base64
import http.client
import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import plane

KILLS = 4


class Canaries:
    """Marked values; each is made once and searched for ever after."""

    def __init__(self):
        self.made = []

    def keys(self, exchange="paper", api_key=None):
        number = len(self.made)
        keys = {"exchange": exchange, "api_key": api_key or f"canarykey{number}Qx7b9LmZ",
                "api_secret": f"canarysecret{number}Vw3t8RkP", "api_password": f"canarypass{number}Hj5n2GdS"}
        self.made += [text for text in list(keys.values())[1:] if text.startswith("canary")]
        return keys

    def forms(self):
        """Every canary as it is, in hex and in base64 at each of its three alignments."""
        for text in self.made:
            raw = text.encode()
            yield text, raw
            yield text, raw.hex().encode()
            yield text, raw[::-1]
            for shift in range(3):
                coded = base64.b64encode(b"\0" * shift + raw)
                yield text, coded[4 if shift else 0:-4]


class Owner:
    """One signed-up tenant; every answer is kept for the search."""

    def __init__(self):
        self.said = []
        self.tenant = self.key = None

    def ask(self, server, method, path, body=None, text=None):
        connection = plane.connect(server.address)
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["X-Access-Key"] = self.key
        connection.request(method, path, headers=headers,
                           body=text if text is not None else None if body is None else json.dumps(body))
        answer = connection.getresponse()
        said = answer.read()
        self.said.append(said + str(answer.getheaders()).encode())
        connection.close()
        return answer.status, json.loads(said)

    def bot(self, server, method, path, body=None, text=None):
        return self.ask(server, method, f"/api/{self.tenant}{path}", body, text)

    def sign_up(self, server):
        status, account = self.ask(server, "POST", "/signup", {
            "email": "owner@example.com", "plan": "standard", "agent_metadata": {"model": "m"}})
        assert status == 201, account
        self.tenant, self.key = account["tenant_id"], account["access_key"]

    def insist(self, server, path):
        """Calls again while the bot is busy, as the answer says."""
        deadline = time.monotonic() + plane.PATIENCE_SECONDS
        while True:
            status, answer = self.bot(server, "POST", path)
            if status == 200:
                return answer
            assert answer["error"]["code"] == "bot_busy", (path, answer)
            assert time.monotonic() < deadline, f"{path} stays refused: {answer}"
            time.sleep(0.1)

    def wait_until(self, server, what, holds):
        deadline = time.monotonic() + plane.PATIENCE_SECONDS
        while True:
            status, view = self.bot(server, "GET", "/status")
            assert status == 200, view
            if holds(view):
                return view
            assert time.monotonic() < deadline, f"{what} did not come: {view}"
            time.sleep(0.1)

    def read_everything(self, server):
        for path in ("/status", "/exchange_status", "/logs?lines=2000", "/config", "/balances", "/positions",
                     "/pnl_status", "/pnl_snapshot", "/health", "/account/status"):
            self.bot(server, "GET", path)


def end(server, with_signal, output):
    """Ends the server and keeps what it had printed."""
    server.process.send_signal(with_signal)
    server.process.wait(plane.PATIENCE_SECONDS)
    output.append(server.process.stdout.read().encode())
    server.process.stdout.close()


def run_a_bot(owner, server, canaries):
    status, answer = owner.bot(server, "POST", "/update_exchange_keys", canaries.keys())
    assert status == 200 and answer["keys_loaded"] is True, answer
    for step in ("/initialize_bot", "/start"):
        owner.insist(server, step)
    owner.wait_until(server, "a pulse", lambda view: view["pulses"] > 0)


def provoke(owner, server, canaries):
    """Every way in which keys are refused must not repeat them either."""
    refused = canaries.keys(api_key="paper_key_can_withdraw")
    assert owner.bot(server, "POST", "/update_exchange_keys", refused)[0] == 422
    assert owner.bot(server, "POST", "/update_exchange_keys", canaries.keys("nowhere"))[0] // 100 == 4
    crooked = canaries.keys()
    crooked["api_secrets"] = crooked["api_secret"]
    assert owner.bot(server, "POST", "/update_exchange_keys", crooked)[0] // 100 == 4
    crooked = canaries.keys()
    crooked["api_secret"] = [crooked["api_secret"]]
    assert owner.bot(server, "POST", "/update_exchange_keys", crooked)[0] // 100 == 4
    broken = json.dumps(canaries.keys())[:-1]
    assert owner.bot(server, "POST", "/update_exchange_keys", text=broken)[0] // 100 == 4
    # Sent where they do not belong.
    assert owner.bot(server, "POST", "/update_pnl", canaries.keys())[0] // 100 == 4
    assert owner.bot(server, "POST", "/start", canaries.keys())[0] // 100 == 4


def kill_while_provisioning(owner, folder, server, canaries, output, choose):
    """Callers replace the keys as fast as they can; the server dies at a random moment."""
    def provision():
        try:
            while True:
                owner.bot(server, "POST", "/update_exchange_keys", canaries.keys())
        except (OSError, http.client.HTTPException, ValueError):
            pass

    caller = threading.Thread(target=provision, daemon=True)
    caller.start()
    time.sleep(choose.uniform(0.05, 0.5))
    end(server, signal.SIGKILL, output)
    caller.join(plane.PATIENCE_SECONDS)
    return plane.start_server(folder)


def rotate_master_key(folder, output):
    done = subprocess.run(
        [plane.program(), "vault", "rotate", "--json", "--data", f"{folder}/data"],
        capture_output=True, timeout=plane.PATIENCE_SECONDS, check=False)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert json.loads(done.stdout)["resealed"] >= 1, done.stdout
    output += [done.stdout, done.stderr]


def search(folder, canaries, output):
    """Where a canary stands, by file; and how much was searched."""
    contents = [("output", text) for text in output]
    for path in pathlib.Path(folder).rglob("*"):
        if path.is_file():
            contents.append((str(path), path.read_bytes()))
    forms = list(canaries.forms())
    found = [(name, text) for name, content in contents for text, form in forms if form in content]
    return found, contents


def main():
    folder = tempfile.mkdtemp(prefix="interlock-bot-secrets-")
    choose = random.Random(5)
    canaries, owner, output = Canaries(), Owner(), []
    server = plane.start_server(folder)
    owner.sign_up(server)
    run_a_bot(owner, server, canaries)
    provoke(owner, server, canaries)
    owner.read_everything(server)
    for _ in range(KILLS):
        server = kill_while_provisioning(owner, folder, server, canaries, output, choose)
        view = owner.wait_until(server, "the bot", lambda seen: not seen["stalled"] and seen["pulses"] > 0)
        assert view["bot_state"] == "running", view
    end(server, signal.SIGTERM, output)
    assert server.process.returncode == 0
    rotate_master_key(folder, output)
    server = plane.start_server(folder)
    # The keys still open: a restart checks them with the exchange.
    answer = owner.insist(server, "/restart")
    assert answer["bot_state"] == "running", answer
    owner.bot(server, "POST", "/run_pnl", {"lookback_days": 30})
    owner.read_everything(server)
    end(server, signal.SIGKILL, output)
    output += owner.said
    leaks, contents = search(folder, canaries, output)
    assert not leaks, leaks[:5]
    # The search is of the right bytes: what is no secret is found in the same files.
    places = {pathlib.Path(name).name for name, content in contents if owner.tenant.encode() in content}
    assert any(name.startswith("interlock.db") for name in places) and "output" in places, places
    shutil.rmtree(folder)
    print(f"searched {len(contents)} files and answers for {len(canaries.made)} canaries")


if __name__ == "__main__":
    main()
