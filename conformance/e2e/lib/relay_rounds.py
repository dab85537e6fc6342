"""Kills the connector and its gateways while messages flow and flips happen (I8).

Every message that the connector said it stored must reach its instance, in the order it was stored; a
message may come twice only while its acknowledgement was not committed. What was committed is read from the
database file after each kill of the connector, before it starts again.
"""

import json
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

import plane

LIB = pathlib.Path(__file__).resolve().parent
USERS = ("ann", "bob", "cid")
SECRET = "relay-rounds-secret-of-a-gateway"


def operator_call(data, method, path, body=None):
    connection = plane.UnixConnection(f"{data}/operator.sock")
    try:
        status, answer = plane.call(connection, method, path, body)
        return status, json.loads(answer)
    finally:
        connection.close()


class Crowd:
    """People who write without a pause; keeps what was stored for each."""

    def __init__(self, data):
        self.data = data
        self.stored = {user: [] for user in USERS}
        self.unsure = {user: set() for user in USERS}
        self.is_over = threading.Event()
        self.is_held = threading.Event()
        self.threads = [threading.Thread(target=self.write, args=(user,)) for user in USERS]
        for thread in self.threads:
            thread.start()

    def write(self, user):
        number = 0
        connection = None
        while not self.is_over.is_set():
            if self.is_held.is_set():
                time.sleep(0.01)
                continue
            number += 1
            text = f"{user} {number}"
            try:
                connection = connection or plane.UnixConnection(f"{self.data}/operator.sock")
                status, answer = plane.call(
                    connection, "POST", "/api/relay/console/say",
                    {"user": user, "chat_id": f"dm:{user}", "text": text})
                if status == 200 and json.loads(answer).get("is_stored", True):
                    self.stored[user].append(text)
                else:
                    self.unsure[user].add(text)
            except (OSError, plane.http.client.HTTPException):
                self.unsure[user].add(text)
                connection = None
                time.sleep(0.02)
            time.sleep(0.003)

    def end(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join()


class Rounds:
    def __init__(self, folder, seed):
        self.folder = folder
        self.data = f"{folder}/data"
        self.random = random.Random(seed)
        (pathlib.Path(folder) / "config.toml").write_text(
            # Later starts take the same port; the one above it may be somebody else's by then.
            "[stop]\nport = 0\n[http]\nrequests_per_second = 0\n[[relay.bot]]\nplatform = \"local\"\n")
        self.port = "0"
        self.start_server()
        self.port = self.server.address.rsplit(":", 1)[1]
        self.gateways = {}
        # By instance: numbers whose acknowledgement is on disk, with how much of the log came before.
        self.settled = {user: {} for user in USERS}
        self.kills = {"connector": 0, "gateway": 0}
        self.flips = 0

    def start_server(self):
        self.server = plane.Child(
            ["serve", "--config", f"{self.folder}/config.toml", "--data", self.data, "--port",
             self.port],
            f"{self.folder}/server.log")

    def operator(self, method, path, body=None):
        status, answer = operator_call(self.data, method, path, body)
        assert status // 100 == 2, (path, status, answer)
        return answer

    def prepare(self):
        self.operator("POST", "/tenants", {"tenant_id": "t1", "name": "t1"})
        for user in USERS:
            run = [plane.program(), "--data", self.data, "relay"]
            subprocess.run(
                [*run, "gateway", "add", "--gateway-id", f"gw-{user}", "--tenant", "t1",
                 "--instance", f"i-{user}", "--secret", SECRET],
                check=True, stdout=subprocess.DEVNULL)
            subprocess.run(
                [*run, "bind", "--platform", "local", "--user", user, "--instance", f"i-{user}"],
                check=True, stdout=subprocess.DEVNULL)
            self.start_gateway(user)

    def log_path(self, user):
        return f"{self.folder}/{user}.log"

    def log_lines(self, user):
        path = pathlib.Path(self.log_path(user))
        text = path.read_text() if path.exists() else ""
        # A gateway that died while it wrote has not got that message.
        return [line.split(" ", 2) for line in text.split("\n")[:-1] if line.startswith("got ")]

    def start_gateway(self, user):
        self.gateways[user] = subprocess.Popen(
            [sys.executable, str(LIB / "relay_gateway.py"), self.server.address, f"gw-{user}",
             SECRET, self.log_path(user)])

    def kill_gateway(self, user):
        self.gateways[user].send_signal(signal.SIGKILL)
        self.gateways[user].wait()
        self.kills["gateway"] += 1
        self.start_gateway(user)

    def flip_gateway(self, user):
        self.gateways[user].send_signal(signal.SIGTERM)
        self.gateways[user].wait(plane.PATIENCE_SECONDS)
        self.flips += 1
        self.start_gateway(user)

    def kill_server(self):
        self.server.kill()
        self.kills["connector"] += 1
        self.note_committed()
        self.start_server()

    def note_committed(self):
        """What was received and is in the buffer no more has its acknowledgement on disk."""
        database = sqlite3.connect(f"{self.data}/relay.db")
        waiting = {(row[0], row[1]) for row in database.execute(
            "SELECT instance_id, seq FROM relay_buffer")}
        database.close()
        for user in USERS:
            lines = self.log_lines(user)
            for _, number, _ in lines:
                if (f"i-{user}", int(number)) not in waiting:
                    self.settled[user].setdefault(number, len(lines))

    def drain(self, crowd):
        """Until nothing waits any more; what is left are dead letters."""
        deadline = time.monotonic() + plane.PATIENCE_SECONDS
        while True:
            instances = self.operator("GET", "/api/relay/instances")["instances"]
            if all(instance["waiting"] == 0 for instance in instances):
                return
            assert time.monotonic() < deadline, instances
            time.sleep(0.1)

    def judge(self, crowd):
        dead = self.operator("GET", "/api/relay/dead_letters")["dead_letters"]
        twice = 0
        total = 0
        for user in USERS:
            lines = self.log_lines(user)
            texts = []
            first = {}
            for at, (_, number, text) in enumerate(lines):
                assert number not in first or first[number] == text, (number, text)
                limit = self.settled[user].get(number)
                assert limit is None or at < limit, (
                    f"{user}: {number} came again after its acknowledgement was committed")
                if number in first:
                    twice += 1
                else:
                    first[number] = text
                    texts.append((int(number), text))
            assert texts == sorted(texts), f"{user}: not in the order of the buffer"
            got = [text for _, text in texts]
            assert len(set(got)) == len(got), f"{user}: one message under two numbers"
            letters = [letter for letter in dead if letter["instance_id"] == f"i-{user}"]
            missing = [text for text in crowd.stored[user] if text not in set(got)]
            assert len(missing) <= len(letters), (user, missing, letters)
            known = set(crowd.stored[user]) | crowd.unsure[user]
            assert set(got) <= known, set(got) - known
            order = [text for text in got if text in set(crowd.stored[user])]
            assert order == [text for text in crowd.stored[user] if text in set(got)], user
            total += len(crowd.stored[user])
        assert total > 100, f"only {total} messages were stored: nothing was tested"
        return total, twice, len(dead)


def main(kills, seed=1):
    with tempfile.TemporaryDirectory() as folder:
        rounds = Rounds(folder, seed)
        crowd = None
        try:
            rounds.prepare()
            crowd = Crowd(rounds.data)
            while sum(rounds.kills.values()) < kills:
                time.sleep(rounds.random.uniform(0.02, 0.25))
                user = rounds.random.choice(USERS)
                what = rounds.random.random()
                if what < 0.35:
                    rounds.kill_server()
                elif what < 0.85:
                    rounds.kill_gateway(user)
                else:
                    rounds.flip_gateway(user)
            crowd.end()
            rounds.drain(crowd)
            total, twice, dead = rounds.judge(crowd)
        finally:
            if crowd is not None:
                crowd.end()
            for gateway in rounds.gateways.values():
                gateway.kill()
                gateway.wait()
            rounds.server.stop()
        print(f"{sum(rounds.kills.values())} kills ({rounds.kills['connector']} of the connector, "
              f"{rounds.kills['gateway']} of gateways), {rounds.flips} flips: {total} messages stored, "
              f"0 lost, order kept, {twice} came twice (their acknowledgement was not committed), "
              f"{dead} dead letters")
