"""The data folder that audit_tamper.py works on, made by a real server in three lives: two that end
orderly and one that is killed, with people, keys, rights and messages of every kind, and a witness.
"""

import json
import pathlib
import shutil
import socket
import subprocess
import time

import commands
import plane
from forger import Forger, Key

RELAY_SECRET = "a-secret-of-the-gateway-that-is-long"
# alpha and gamma trade, beta is stopped; "signed" came by the page and has a vault and a bot.
TENANTS = ("alpha", "beta", "gamma")


def verify(data, *arguments):
    done = subprocess.run(
        [plane.program(), "audit", "verify", *arguments, "--data", data, "--json"],
        capture_output=True, text=True, timeout=plane.PATIENCE_SECONDS, check=False)
    assert done.stdout, f"verify said nothing: {done.returncode} {done.stderr}"
    return done.returncode, json.loads(done.stdout)


def copy(source, target):
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.sock"))


def serve_arguments(home, sink, port=0):
    """Of a server on home/data whose witness is home/witness.log."""
    config = pathlib.Path(home) / "config.toml"
    config.write_text(
        "[log]\nformat = \"json\"\n[http]\nrequests_per_second = 0\ntenant_requests_per_second = 0\n"
        "[audit]\nstandard_refused_kib = 0\ntenant_refused_kib = 0\n"
        f"[audit.witness]\nfiles = [\"{home}/witness.log\"]\n"
        "[[relay.bot]]\nplatform = \"local\"\n")
    return ["serve", "--config", str(config), "--data", f"{home}/data", "--port", str(port),
            "--sink", sink]


def start(home, sink):
    return plane.Child(serve_arguments(home, sink), f"{home}/server.log")


def start_on_a_taken_port(home, sink):
    """Ends as soon as it has opened everything else."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = subprocess.run(
            [plane.program(), *serve_arguments(home, sink, taken.getsockname()[1])],
            capture_output=True, text=True, timeout=plane.PATIENCE_SECONDS, check=False)
    assert done.returncode != 0, "it should not have started"
    with open(f"{home}/server.log", "a") as log:  # Its last word is for people, and no line of the log.
        log.writelines(line for line in done.stderr.splitlines(True) if line.startswith("{"))


def probe(connection, tenant, key, effect=False):
    name = f"{time.monotonic_ns()}"
    return plane.call(
        connection, "POST", f"/api/{tenant}/probes",
        {"decision_id": f"dec_{name}", "tick_id": "-", "idempotency_key": name, "note": "n",
         "effect": effect, "wait": effect}, key)


class World:
    def __init__(self, folder):
        self.folder = folder
        self.home = f"{folder}/home"
        self.keys = {}
        pathlib.Path(self.home).mkdir()
        self.sink = plane.start_sink(folder)
        self.sink_socket = f"{folder}/sink.sock"
        self.children = [self.sink]
        self.cli = commands.Commands(f"{self.home}/data")

    def close(self):
        for child in self.children:
            child.process.kill()
            child.process.wait()

    def start(self, home):
        server = start(home, self.sink_socket)
        self.children.append(server)
        return server

    def make(self):
        server = self.start(self.home)
        self.first_life(server)
        assert server.stop() == 0
        self.keep("old")
        server = self.start(self.home)
        self.probes(server, "alpha", 30)
        self.probes(server, "gamma", 5)
        self.cli.run("key", "create", "--tenant", "gamma", "--label", "more", "--scope", "read")
        self.cli.run("relay", "bind", "--platform", "local", "--user", "eve", "--instance", "i1")
        self.cli.run("chat", "--tenant", "alpha", "--as", "ann", "--say", "again", as_json=False)
        assert server.stop() == 0
        self.keep("whole")
        server = self.start(self.home)
        self.probes(server, "alpha", 5)
        self.probes(server, "gamma", 3)
        self.cli.run("key", "create", "--tenant", "alpha", "--label", "late", "--scope", "read")
        self.cli.run("relay", "bind", "--platform", "local", "--user", "late", "--instance", "i1")
        server.kill()
        self.keep("crashed")
        self.old_key = Key.stolen(f"{self.folder}/old/data")
        self.old_next_key = Key.stolen(f"{self.folder}/old/data", "ledger.key.next")
        self.make_turn()

    def make_turn(self):
        """What the thief of "old" finds after the next start: his second key has its turn."""
        turn = f"{self.folder}/turn"
        pathlib.Path(turn).mkdir()
        copy(f"{self.folder}/old/data", f"{turn}/data")
        shutil.copy(f"{self.folder}/old/witness.log", turn)
        server = self.start(turn)
        self.probes(server, "gamma", 2)
        server.kill()
        current = Key.stolen(f"{turn}/data")
        assert (current.epoch, current.seed) == (self.old_next_key.epoch, self.old_next_key.seed)

    def probes(self, server, tenant, count):
        connection = plane.connect(server.address)
        for _ in range(count):
            status, answer = probe(connection, tenant, self.keys[tenant])
            assert status == 200, answer
        connection.close()

    def ask(self, server, path, body, key=None):
        connection = plane.connect(server.address)
        status, answer = plane.call(connection, "POST", path, body, key)
        connection.close()
        assert status // 100 == 2, (path, status, answer)
        return json.loads(answer)

    def first_life(self, server):
        commands.make_owner(self.cli, "alpha")
        for tenant in TENANTS:
            if tenant != "alpha":
                self.cli.run("tenant", "create", tenant, "--name", tenant)
            self.keys[tenant] = self.cli.run(
                "key", "create", "--tenant", tenant, "--label", "agent", "--scope",
                "planner,read,probe")["access_key"]
            self.probes(server, tenant, 10)
        made = self.ask(
            server, "/signup", {"email": "new@example.com", "plan": "pro", "agent_metadata": None})
        self.signed, key = made["tenant_id"], made["access_key"]
        self.ask(server, f"/api/{self.signed}/update_exchange_keys",
                 {"exchange": "paper", "api_key": "k", "api_secret": "s"}, key)
        self.ask(server, f"/api/{self.signed}/initialize_bot", {}, key)
        self.ask(server, f"/api/{self.signed}/start", {}, key)
        self.ask(server, f"/api/{self.signed}/update_pnl", {"pnl_perc": 3}, key)
        self.cli.run("kill", "on", "--tenant", "beta", "--reason", "odd fills")
        relay = ("relay",)
        self.cli.run(*relay, "gateway", "add", "--gateway-id", "gw1", "--tenant", "alpha",
                     "--instance", "i1", "--secret", RELAY_SECRET)
        self.cli.run(*relay, "gateway", "add", "--gateway-id", "gw2", "--tenant", "gamma",
                     "--instance", "i2", "--secret", RELAY_SECRET)
        self.cli.run(*relay, "bind", "--platform", "local", "--user", "ann", "--instance", "i1")
        self.cli.run(*relay, "bind", "--platform", "local", "--user", "bob", "--instance", "i2")
        self.cli.run(*relay, "token", "create", "--tenant", "alpha")
        self.cli.run("chat", "--tenant", "alpha", "--as", "ann", "--say", "hello", as_json=False)

    def keep(self, name):
        """The folder as it is now, with what the witness has."""
        kept = f"{self.folder}/{name}"
        pathlib.Path(kept).mkdir()
        copy(f"{self.home}/data", f"{kept}/data")
        shutil.copy(f"{self.home}/witness.log", f"{kept}/witness.log")
        for book in ("ledger", "relay"):
            with Forger(f"{kept}/data", book) as forger:  # Puts the log into the file.
                heads = {tenant: forger.head(tenant)[0] for tenant in forger.tenants()}
                seals = {tenant: forger.seals(tenant) for tenant in forger.tenants()}
                if book == "ledger":
                    setattr(self, f"{name}_heads", heads)
                    setattr(self, f"{name}_seals", seals)
                else:
                    setattr(self, f"{name}_relay_heads", heads)
                    setattr(self, f"{name}_relay_seals", seals)
