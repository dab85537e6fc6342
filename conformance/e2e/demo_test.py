"""The demo plays its five scenes, every promise in them holds, and its receipts stand alone."""

import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

from plane import program

SCENES = 5
PROMISES = 11  # A scene that ends early makes fewer.


def run(*arguments):
    return subprocess.run(
        [program(), *arguments], capture_output=True, text=True, timeout=240, check=False)


def play(data):
    done = run("demo", "--scenes-only", "--port", "0", "--data", data)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\033" not in done.stdout, "colours, and this is no terminal"
    assert "BROKEN" not in done.stdout, done.stdout
    lines = done.stdout.splitlines()
    assert sum(line.startswith("Scene ") for line in lines) == SCENES, done.stdout
    assert sum(line.endswith("  held") for line in lines) == SCENES, done.stdout
    assert sum(line.startswith("  holds  ") for line in lines) == PROMISES, done.stdout
    print(done.stdout)


def see_strategies(data):
    """A demo that stays up has a strategy that trades and one beside it, and says how to see them."""
    demo = subprocess.Popen(
        [program(), "demo", "--no-scenes", "--port", "0", "--data", data], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True)
    try:
        said = []
        for line in demo.stdout:
            said.append(line.strip())
            if "--dry-run the grid" in line:
                break
        (decide,) = (line for line in said if " decide --concern" in line)
        listed = run("strategy", "list", "--data", data, "--json")
        assert listed.returncode == 0, listed.stderr
        strategies = json.loads(listed.stdout)["strategies"]
        assert [(one["strategy_type"], one["mode"]) for one in strategies] == [
            ("grid_trader", "active"), ("idle", "off")], strategies
        tried = subprocess.run(decide, shell=True, capture_output=True, text=True, check=False)
        assert tried.returncode == 0 and tried.stdout.startswith("APPLIED (dry run"), tried
    finally:
        demo.terminate()
        demo.wait(60)
        demo.stdout.close()


def main():
    with tempfile.TemporaryDirectory(prefix="interlock_demo_test_") as folder:
        data = f"{folder}/data"
        play(data)
        see_strategies(data)
        play(data)  # A second play finds the account of the first, and recovers it.
        receipts = list(pathlib.Path(data, "receipts").iterdir())
        assert len(receipts) == 6, receipts
        for receipt in receipts:
            checked = run("receipt", "verify", str(receipt), "--key", f"{data}/ledger.pub")
            assert checked.returncode == 0, (receipt, checked.stdout, checked.stderr)
        for command in (("audit", "verify"), ("replay", "--all")):
            checked = run(*command, "--data", data)
            assert checked.returncode == 0, (command, checked.stdout, checked.stderr)
        assert not pathlib.Path(data, "crash_scene").exists(), "the second server's folder is left"


if __name__ == "__main__":
    main()
