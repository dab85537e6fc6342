"""The demo plays its five scenes, every promise in them holds, and its receipts stand alone. It has a folder
of its own that is new for each run: what was stopped or turned off yesterday breaks nothing, and nobody
else's folder is touched.
"""

import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

from plane import program

SCENES = 5
PROMISES = 11  # A scene that ends early makes fewer.


class Home:
    """A user who has never run anything: the demo finds its folder by itself."""

    def __init__(self, folder):
        self.environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("INTERLOCK_", "XDG_")) or name == "INTERLOCK_BIN"}
        self.environment["HOME"] = folder
        self.data = pathlib.Path(folder, ".local/share/interlock-demo")
        self.production = pathlib.Path(folder, ".local/share/interlock")

    def run(self, *arguments):
        return subprocess.run(
            [program(), *arguments], capture_output=True, text=True, timeout=240, check=False,
            env=self.environment)

    def look(self, *arguments):
        """A command on the demo's folder."""
        return self.run(*arguments, "--data", str(self.data))


class RunningDemo:
    """A demo that stays up, and what it said."""

    def __init__(self, home, *options):
        self.process = subprocess.Popen(
            [program(), "demo", "--port", "0", *options], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=home.environment)
        self.said = []
        for line in self.process.stdout:
            self.said.append(line.strip())
            if "--dry-run the grid" in line:
                break
        self.address = re.search(r"running at http://(\S+)", "\n".join(self.said)).group(1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)
        self.process.stdout.close()


def play(home):
    done = home.run("demo", "--scenes-only", "--port", "0")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\033" not in done.stdout, "colours, and this is no terminal"
    assert "BROKEN" not in done.stdout, done.stdout
    lines = done.stdout.splitlines()
    assert sum(line.startswith("Scene ") for line in lines) == SCENES, done.stdout
    assert sum(line.endswith("  held") for line in lines) == SCENES, done.stdout
    assert sum(line.startswith("  holds  ") for line in lines) == PROMISES, done.stdout
    print(done.stdout)


def check_records(home):
    receipts = list((home.data / "receipts").iterdir())
    assert len(receipts) == 3, receipts
    for receipt in receipts:
        checked = home.run("receipt", "verify", str(receipt), "--key", f"{home.data}/ledger.pub")
        assert checked.returncode == 0, (receipt, checked.stdout, checked.stderr)
    for command in (("audit", "verify"), ("replay", "--all")):
        checked = home.look(*command)
        assert checked.returncode == 0, (command, checked.stdout, checked.stderr)
    assert not (home.data / "crash_scene").exists(), "the second server's folder is left"


def see_strategies(home, demo):
    """It has a strategy that trades and one beside it, and says how to see them."""
    (decide,) = (line for line in demo.said if " decide --concern" in line)
    listed = home.look("strategy", "list", "--json")
    assert listed.returncode == 0, listed.stderr
    strategies = json.loads(listed.stdout)["strategies"]
    assert [(one["strategy_type"], one["mode"]) for one in strategies] == [
        ("grid_trader", "active"), ("idle", "off")], strategies
    tried = subprocess.run(
        decide, shell=True, capture_output=True, text=True, check=False, env=home.environment)
    assert tried.returncode == 0 and tried.stdout.startswith("APPLIED (dry run"), tried


def turn_trading_off(home, demo):
    connection = http.client.HTTPConnection(demo.address, timeout=60)
    connection.request(
        "POST", "/api/demo/trading", json.dumps({"enabled": False, "idempotency_key": "off"}),
        {"X-Access-Key": (home.data / "demo.key").read_text(), "Content-Type": "application/json"})
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    assert answer.status == 200 and body["blocked"]["code"] == "account_disabled", body
    status = json.loads(home.look("kill", "status", "--tenant", "demo", "--json").stdout)
    assert status["switches"][0]["blocked"]["code"] == "account_disabled", status
    doctor = home.look("doctor")
    assert "Fit to run." not in doctor.stdout and "does not trade" in doctor.stdout, doctor.stdout


def leave_it_stopped(home):
    """Everything that somebody could leave behind: trading off, the switch of all tenants, the file."""
    with RunningDemo(home, "--no-scenes") as demo:
        see_strategies(home, demo)
        turn_trading_off(home, demo)
        stopped = home.look("kill", "on")
        assert stopped.returncode == 0, stopped.stderr
        doctor = home.look("doctor")
        assert "Fit to run." not in doctor.stdout, doctor.stdout
    stopped = home.look("kill", "on", "--reason", "no server")
    assert stopped.returncode == 0 and (home.data / "KILL").exists(), stopped.stderr


def wait_for(home, event, count):
    """Until the demo's ledger has that many of them; all of its events."""
    deadline = time.monotonic() + 60
    while True:
        shown = home.look("audit", "tail", "--tenant", "demo", "-n", "100000")
        assert shown.returncode == 0, shown.stderr
        events = re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", shown.stdout)
        if events.count(event) >= count:
            return events
        assert time.monotonic() < deadline, (event, shown.stdout[-2000:])
        time.sleep(0.3)


def keep_what_was(home):
    with RunningDemo(home, "--no-scenes"):
        key = (home.data / "demo.key").read_text()
        orders = wait_for(home, "ORDER_ACKED", 1).count("ORDER_ACKED")
    with RunningDemo(home, "--keep"):
        assert (home.data / "demo.key").read_text() == key, "--keep made another key"
        # A start looks and takes nothing back: the grid's orders keep their places.
        began = wait_for(home, "SAFE_RECOVERY_RESOLVED", 1).count("SAFE_RECOVERY_TRIGGERED")
        time.sleep(12)  # Two ticks of the grid.
        events = wait_for(home, "ORDER_ACKED", orders)
        assert began >= 1 and "ORDER_CANCELED" not in events, events
        assert "TRADING_BLOCKED" not in events, events
        second = home.run("demo", "--no-scenes", "--port", "0")
        assert second.returncode != 0 and "in use by process" in second.stderr, second
        assert (home.data / "demo.key").read_text() == key, "a second demo emptied the first's folder"


def leave_others_alone(home):
    home.production.mkdir(parents=True, mode=0o700)
    (home.production / "interlock.db").write_text("real")
    refused = home.run("demo", "--port", "0", "--data", str(home.production))
    assert refused.returncode != 0 and "holds other data" in refused.stderr, refused
    play(home)
    assert [path.name for path in home.production.iterdir()] == ["interlock.db"]
    assert (home.production / "interlock.db").read_text() == "real"


def main():
    with tempfile.TemporaryDirectory(prefix="interlock_demo_test_") as folder:
        home = Home(folder)
        play(home)
        check_records(home)
        leave_it_stopped(home)
        play(home)
        check_records(home)
        keep_what_was(home)
        leave_others_alone(home)


if __name__ == "__main__":
    main()
