"""A small flood: every stop gets through, on the ordinary port and on the stop listener, and the
server's memory stays bounded. The whole attack is `interlock drill dos`; its times are for a
machine that does nothing else, so only outer limits are held here."""

import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

from plane import program

# More silent connections than the 3072 places of strangers, so that some must make room.
SILENT = 3500
OUTER_LIMIT_US = 2_000_000
RESIDENT_MAX = 600 * 1024 * 1024


def main():
    with tempfile.TemporaryDirectory(prefix="interlock_dos_test_") as folder:
        done = subprocess.run(
            [program(), "drill", "dos", "--silent", str(SILENT), "--busy", "100", "--logins", "16",
             "--uploads", "12", "--rounds", "25", "--data", folder, "--json"],
            capture_output=True, text=True, timeout=240, check=False)
    # Refused means that a time was over its target, which a busy machine may cause.
    assert done.returncode in (0, 1), (done.returncode, done.stdout, done.stderr)
    report = json.loads(done.stdout)
    crowds = {crowd["crowd"]: crowd for crowd in report["crowds"]}
    if not report["scaled_down"]:
        assert crowds["silent"]["opened"] >= SILENT, crowds
        # The server kept to its bound: the silent were closed, not the stop.
        assert crowds["silent"]["closed_on"] >= SILENT - 3072, crowds
    assert crowds["busy"]["served"] > 0 and crowds["logins"]["refused"] > 0, crowds
    assert crowds["uploads"]["refused"] > 0, crowds
    for path in report["paths"]:
        assert path["failed"] == 0, path
        assert path["attacked"]["p99_us"] < OUTER_LIMIT_US, path
    assert len(report["paths"]) == 4, report
    assert report["resident_bytes"] < RESIDENT_MAX, report["resident_bytes"]
    print(done.stdout)


main()
