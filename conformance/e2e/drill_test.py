"""The kill switch stops a busy server along every path, and nothing leaves afterwards."""

import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

from plane import program


def main():
    with tempfile.TemporaryDirectory(prefix="interlock_drill_test_") as folder:
        done = subprocess.run(
            [program(), "drill", "kill", "--rounds", "3", "--data", folder, "--json"],
            capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["path"] for report in reports] == ["http", "mcp", "cli", "file"], reports
    for report in reports:
        # A drill on an idle server would prove nothing.
        assert report["effects_before"] >= 50 * report["rounds"], report
        assert report["effects_after"] == 0, report
    print(done.stdout)


main()
