"""Tests run_cases.py with a test program that is not one."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent

# Speaks as gtest does. A case does what its name says.
PROGRAM = r"""#!/usr/bin/env python3
import os
import sys

CASES = __CASES__
option = sys.argv[-1]
if option == "--gtest_list_tests":
    print("Suite.")
    for case in CASES:
        print("  " + case + "  # GetParam() = 1")
    sys.exit(0)
wanted = option.split("=")[1].split(":")
status = 0
for case in CASES:
    name = "Suite." + case
    if name not in wanted or case.startswith("DISABLED"):
        continue
    print("[ RUN      ] " + name, flush=True)
    if case.startswith("crash"):
        os.abort()
    if case.startswith("fail") or (case.startswith("crowded") and len(wanted) > 1):
        print("[  FAILED  ] " + name + " (0 ms)", flush=True)
        status = 1
    elif case.startswith("skip"):
        print("[  SKIPPED ] " + name + " (0 ms)", flush=True)
    else:
        print("[       OK ] " + name + " (0 ms)", flush=True)
    if case.startswith("leak"):
        status = 23
sys.exit(status)
"""


def run(cases, pattern="."):
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "bin", "fake_test")
        program.parent.mkdir()
        program.write_text(PROGRAM.replace("__CASES__", repr(cases)), encoding="utf-8")
        program.chmod(0o755)
        log = pathlib.Path(folder, "log")
        done = subprocess.run(
            [sys.executable, TOOLS / "run_cases.py", folder, pattern, "2", log],
            capture_output=True, text=True, check=True)
        return tuple(map(int, done.stdout.split())), log.read_text(encoding="utf-8")


class RunCases(unittest.TestCase):
    def test_counts_what_passes_fails_and_skips(self):
        counts, log = run(["a", "fail", "b", "skip", "c/0"])
        self.assertEqual(counts, (3, 1, 1))
        self.assertEqual(re.findall("^FAILED (.*)", log, re.M), ["fake.Suite.fail"])

    def test_goes_on_behind_a_crash(self):
        counts, log = run(["a", "crash", "b", "crash_again", "c"])
        self.assertEqual(counts, (3, 2, 0))
        self.assertEqual(
            re.findall("^FAILED (.*)", log, re.M),
            ["fake.Suite.crash", "fake.Suite.crash_again"])

    def test_runs_every_group(self):
        counts, _ = run([f"case{i}" for i in range(130)])
        self.assertEqual(counts, (130, 0, 0))

    def test_runs_what_the_pattern_names(self):
        counts, _ = run(["one", "two", "three"], r"^fake\.Suite\.t")
        self.assertEqual(counts, (2, 0, 0))

    def test_a_failure_among_others_stays_one(self):
        counts, log = run(["a", "crowded"])
        self.assertEqual(counts, (1, 1, 0))
        self.assertIn("passed alone", log)

    def test_a_leak_at_the_end_fails_the_group(self):
        counts, _ = run(["leak", "b"])
        self.assertEqual(counts, (2, 1, 0))

    def test_a_case_that_never_runs_has_failed(self):
        counts, _ = run(["a", "DISABLED_b"])
        self.assertEqual(counts, (1, 1, 0))


if __name__ == "__main__":
    unittest.main()
