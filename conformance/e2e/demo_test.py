"""The demo plays its five scenes, every promise in them holds, and its receipts stand alone."""

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


def main():
    with tempfile.TemporaryDirectory(prefix="interlock_demo_test_") as folder:
        data = f"{folder}/data"
        play(data)
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
