"""Tests bench_page.py with a program that measures nothing."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import bench_page

TOOLS = pathlib.Path(__file__).resolve().parent

PROGRAM = """#!/usr/bin/env python3
import json
import pathlib
import sys

count = pathlib.Path(__file__).with_suffix(".count")
runs = int(count.read_text()) if count.exists() else 0
count.write_text(str(runs + 1))
if sys.argv[1] == "version":
    print("interlock 0.1.0 (abcdef012345)")
elif "turns" in sys.argv:
    for callers in (1, 64):
        print(json.dumps({"transport": "http", "callers": callers, "turns_per_s": 2000.5 * callers,
                          "turns_per_s_min": 1900, "turns_per_s_max": 2100, "runs": 10}))
elif "control" in sys.argv:
    print(json.dumps({"callers": 8, "ratio": 0.85, "ratio_min": 0.8, "ratio_max": 0.9, "runs": 10,
                      "plain": {"per_s": 31000, "runs": 10}, "control": {"per_s": 27000, "runs": 10}}))
else:
    print(json.dumps({"keys": [], "sockets": [
        {"server": "interlock", "each": 4800 + runs}, {"server": "node", "each": 6700}]}))
"""


class BenchPage(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        (self.root / "docs/benchmarks").mkdir(parents=True)
        self.program = self.root / "program"
        self.program.write_text(PROGRAM, encoding="utf-8")
        self.program.chmod(0o755)
        self.run_tool(str(self.program), "--only", "turns,control,relay_sockets", "--runs", "3")

    def tearDown(self):
        self.folder.cleanup()

    def run_tool(self, *arguments):
        return subprocess.run(
            [sys.executable, TOOLS / "bench_page.py", "--root", self.root, "--data", self.root,
             *arguments], capture_output=True, text=True, check=False)

    def page(self):
        return (self.root / bench_page.PAGE).read_text(encoding="utf-8")

    def test_every_row_stands_on_the_page_with_its_range(self):
        self.assertIn("| http | 1 | 2,000 (1,900 to 2,100) |", self.page())
        self.assertIn("| http | 64 | 128,032 (1,900 to 2,100) |", self.page())

    def test_sides_and_lists_are_rows_too(self):
        self.assertIn("| 8 | 0.85 (0.8 to 0.9) |", self.page())
        self.assertIn("| plain | 31,000 |", self.page())
        self.assertIn("| control | 27,000 |", self.page())
        self.assertIn("| node | 6,700 |", self.page())

    def test_what_has_no_rounds_is_run_as_often(self):
        stored = json.loads((self.root / bench_page.STORE).read_text(encoding="utf-8"))
        ours = stored["relay_sockets"]["rows"][0]["sockets"][0]
        self.assertEqual(ours["runs"], 3)
        self.assertEqual(ours["each_max"] - ours["each_min"], 2)
        self.assertEqual(ours["each"], ours["each_min"] + 1)

    def test_it_says_command_commit_runs_and_machine(self):
        self.assertIn("`interlock bench turns --seconds 0.5 --rounds 3`, 10 runs; ", self.page())
        self.assertIn("commit `abcdef012345`, load average ", self.page())
        self.assertIn("Linux ", self.page())

    def test_a_page_that_was_edited_is_found(self):
        self.assertIsNone(bench_page.problem_with(self.root))
        page = self.root / bench_page.PAGE
        page.write_text(self.page().replace("27,000", "37,000"), encoding="utf-8")
        self.assertIn("run tools/bench_page.py", bench_page.problem_with(self.root))
        self.assertEqual(self.run_tool("--check").returncode, 1)
        self.run_tool()
        self.assertEqual(self.run_tool("--check").returncode, 0)

    def test_what_is_not_measured_again_is_kept(self):
        self.run_tool(str(self.program), "--only", "turns", "--runs", "5")
        self.assertIn("--rounds 5`", self.page())
        self.assertIn("| node | 6,700 |", self.page())

    def test_an_unknown_name_is_refused(self):
        done = self.run_tool(str(self.program), "--only", "nothing")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no nothing", done.stderr)


if __name__ == "__main__":
    unittest.main()
