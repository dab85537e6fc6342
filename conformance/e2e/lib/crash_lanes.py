"""Lanes of servers that trade on paper and are killed with SIGKILL, again and again.

A lane is one server on one data folder and whoever uses it. Recovery waits seconds by design, so
several independent lanes take turns on the machine. What a lane does between two kills, and what it
holds the restarted server to, is in switch_rounds.py and trading_rounds.py.
"""

import collections
import multiprocessing
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

from paper_truth import PaperTruth
from plane import PATIENCE_SECONDS, Child, connect, program

# An order that was written ahead and never sent is settled after 17 s, and recovery takes its time.
RECOVERY_SECONDS = 90
CONFIG = """
[http]
requests_per_second = 0
tenant_requests_per_second = 0
[limits]
repeated_execution_max = "10000"
"""


def require(condition, message):
    if not condition:
        raise AssertionError(message)


def verify_ledger(data):
    done = subprocess.run(
        [program(), "audit", "verify", "--data", str(data)],
        capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    require(done.returncode == 0,
            f"audit verify ended with {done.returncode}: {done.stdout}{done.stderr}")


class CrashLane:
    """Starts, checks, uses and kills one server; a subclass knows what for."""

    def __init__(self, folder, seed):
        self.folder = pathlib.Path(folder)
        self.data = self.folder / "data"
        self.choose = random.Random(seed)
        self.truth = PaperTruth(self.data / "paper.journal")
        self.users = []  # Threads of the life that was just ended.
        self.kept = []  # Answers that must be given again in every later life.
        self.counts = collections.Counter()
        self.is_set_up = False
        (self.folder / "config.toml").write_text(CONFIG)

    def set_up(self):
        """The server runs for the first time."""
        raise NotImplementedError

    def check(self):
        """The server has just started, and nobody uses it."""
        raise NotImplementedError

    def use(self, server):
        """Starts the users and returns when the kill may come."""
        raise NotImplementedError

    def check_last(self):
        """The last life, after its check."""

    def start(self):
        server = Child(
            ["serve", "--config", str(self.folder / "config.toml"), "--data", str(self.data),
             "--port", "0"], str(self.folder / "server.log"))
        self.connection = connect(server.address)
        if not self.is_set_up:
            self.set_up()
            self.is_set_up = True
        return server

    def run(self, kills):
        while self.counts["kills"] < kills:
            server = self.start()
            try:
                if self.choose.random() < 0.2:
                    time.sleep(self.choose.uniform(0, 3.5))
                    self.counts["killed while recovering"] += 1
                else:
                    self.check()
                    self.use(server)
            finally:
                server.kill()
            self.counts["kills"] += 1
            self.after_kill()
        server = self.start()
        try:
            self.check()
            self.check_last()
        finally:
            server.kill()

    def after_kill(self):
        for user in self.users:
            user.join(PATIENCE_SECONDS)
            require(not user.is_alive(), f"{user.name} still waits for a server that is gone")
            if user.problem is not None:
                raise user.problem
        verify_ledger(self.data)

    def check_log(self):
        log = (self.folder / "server.log").read_text()
        wrong = [line for line in log.splitlines() if " error " in line]
        require(not wrong, f"the server complained: {wrong[-5:]}")


def run_lane(lane, folder, seed, kills, results):
    rounds = lane(folder, seed)
    try:
        rounds.run(kills)
        results.put((folder, None, rounds.summary()))
    except BaseException as problem:
        results.put((folder, f"{type(problem).__name__}: {problem}", rounds.summary()))


def run_lanes(lane, name, kills, lanes):
    """How many kills were asked for ([KILLS [SEED]] on the command line), and what all counted."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else kills
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**9)
    print(f"seed {seed}, {lanes} servers", flush=True)
    begin = time.monotonic()
    results = multiprocessing.Queue()
    running = []
    for number in range(lanes):
        share = kills // lanes + (number < kills % lanes)
        folder = tempfile.mkdtemp(prefix=f"interlock_{name}_crash_")
        running.append(multiprocessing.Process(
            target=run_lane, args=(lane, folder, seed + number, share, results)))
        running[-1].start()
    total, problems = collections.Counter(), []
    for _ in running:
        folder, problem, summary = results.get()
        total += summary
        if problem is None:
            shutil.rmtree(folder)
        else:
            problems.append(f"{problem[:3000]}\n  everything is kept in {folder}")
            print(f"FAILED after {summary['kills']} kills: {problems[-1]}", flush=True)
    for process in running:
        process.join()
    print(", ".join(f"{count} {what}" for what, count in total.items()))
    print(f"audit verify OK after every kill; {time.monotonic() - begin:.0f} s")
    require(not problems, f"{len(problems)} of {lanes} servers broke a promise")
    return kills, total
