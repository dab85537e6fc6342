"""Tests harness_rounds.py with a benchmark that only says what an engine's file says."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent

HARNESS = """#!/usr/bin/env python3
import json
import pathlib
import sys

rate, verdict = pathlib.Path(sys.argv[sys.argv.index("--engine") + 1]).read_text().split()
pathlib.Path("result.json").write_text(
    json.dumps({"verdict": verdict, "throughput_msgs_per_s": float(rate) * 1e6}))
print("Result file: result.json")
"""


def rounds(*engines):
    with tempfile.TemporaryDirectory() as folder:
        harness = pathlib.Path(folder, "harness")
        harness.write_text(HARNESS, encoding="utf-8")
        harness.chmod(0o755)
        words = []
        for name, rate, verdict in engines:
            pathlib.Path(folder, name).write_text(f"{rate} {verdict}", encoding="utf-8")
            words.append(f"{name}={folder}/{name}")
        return subprocess.run(
            [sys.executable, TOOLS / "harness_rounds.py", harness, *words, "--rounds", "2"],
            capture_output=True, text=True, check=False)


class HarnessRounds(unittest.TestCase):
    def test_all_five_scenarios_are_told_with_their_ratio(self):
        done = rounds(("ours", 15, "VALID"), ("other", 5, "VALID"), ("third", 6, "VALID"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for scenario in ("normal", "static", "swing-25", "swing-40", "flash-crash"):
            self.assertIn(
                f"| {scenario} | 15.00 (15.00 to 15.00) | 5.00 (5.00 to 5.00) | "
                "6.00 (6.00 to 6.00) | 2.50 (2.50 to 2.50) |", done.stdout)

    def test_a_run_of_ours_that_does_not_count_fails(self):
        done = rounds(("ours", 15, "INVALID"), ("other", 5, "VALID"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("a run of ours was not VALID", done.stderr)

    def test_one_of_another_engine_is_told_and_not_counted(self):
        done = rounds(("ours", 15, "VALID"), ("other", 50, "INVALID"), ("third", 6, "VALID"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("never VALID", done.stdout)
        self.assertIn("2.50 (2.50 to 2.50)", done.stdout)


if __name__ == "__main__":
    unittest.main()
