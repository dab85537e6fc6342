"""Tests bench_pairs.py with programs that are no benchmarks."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent

# Answers with a row whose figures are those of a build times a factor; every run is a bit different.
PROGRAM = """#!/usr/bin/env python3
import json
import pathlib
import sys

count = pathlib.Path(__file__).with_suffix(".count")
runs = int(count.read_text()) if count.exists() else 0
count.write_text(str(runs + 1))
wobble = 1 + (runs % 3 - 1) / 100
assert sys.argv[1:3] == ["bench", "turns"], sys.argv
print(json.dumps({
    "transport": "http", "callers": 64, "saturated": "disk" if runs % 2 else "callers",
    "turns_per_s": __RATE__ * wobble, "p50_us": __P50__ * wobble, "p99_us": __P99__,
    "raw_turns_per_s": 1000 / (runs + 1),
    "rows": [{"store": "interlock", "per_second": 50}, {"store": "redis", "per_second": 1 / (runs + 1)}]
    }))
if __ROWS__ > 1:
    print(json.dumps({"transport": "inprocess", "callers": 64, "turns_per_s": 5}))
"""


def build(folder, name, rate=100.0, p50=20.0, p99=90.0, rows=1):
    program = pathlib.Path(folder, name)
    text = PROGRAM
    for word, value in (("RATE", rate), ("P50", p50), ("P99", p99), ("ROWS", rows)):
        text = text.replace(f"__{word}__", repr(value))
    program.write_text(text, encoding="utf-8")
    program.chmod(0o755)
    return program


def compare(old, new):
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(
            [sys.executable, TOOLS / "bench_pairs.py", build(folder, "old", **old),
             build(folder, "new", **new), "-n", "4", "--data", folder, "--", "turns"],
            capture_output=True, text=True, check=False)


class BenchPairs(unittest.TestCase):
    def test_two_equal_builds_pass(self):
        done = compare({}, {})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("transport=http callers=64 turns_per_s: 1 (1 to 1)", done.stdout)

    def test_a_rate_that_falls_by_fifteen_percent_is_named(self):
        done = compare({}, {"rate": 85.0})
        self.assertEqual(done.returncode, 1)
        self.assertIn("transport=http callers=64 turns_per_s", done.stderr)
        self.assertNotIn("p50_us", done.stderr)

    def test_a_time_that_grows_is_a_fall_too(self):
        done = compare({}, {"p50": 25.0})
        self.assertEqual(done.returncode, 1)
        self.assertIn("p50_us", done.stderr)

    def test_what_became_better_passes(self):
        self.assertEqual(compare({}, {"rate": 300.0, "p50": 5.0}).returncode, 0)

    def test_eight_percent_pass(self):
        self.assertEqual(compare({}, {"rate": 92.0}).returncode, 0)

    def test_the_slowest_are_shown_and_not_judged(self):
        done = compare({}, {"p99": 500.0})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("shown  transport=http callers=64 p99_us: 0.18", done.stdout)

    def test_yardsticks_and_other_products_are_not_ours(self):
        done = compare({}, {})
        self.assertNotIn("raw_turns_per_s", done.stdout)
        self.assertNotIn("redis", done.stdout)
        self.assertIn("rows: store=interlock per_second", done.stdout)

    def test_a_row_that_is_gone_fails(self):
        done = compare({"rows": 2}, {})
        self.assertEqual(done.returncode, 1)
        self.assertIn("transport=inprocess callers=64 turns_per_s: is no longer measured", done.stderr)

    def test_a_benchmark_that_fails_is_no_result(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, TOOLS / "bench_pairs.py", "/bin/false", build(folder, "new"),
                 "-n", "1", "--", "turns"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/bin/false bench turns ended with exit code 1", done.stderr)


if __name__ == "__main__":
    unittest.main()
