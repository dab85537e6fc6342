"""Calls on the disk fail, every 30th of each kind; a campaign tries each one: disk_fault_test.py 1"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

import disk_rounds

disk_rounds.main(step=30)
