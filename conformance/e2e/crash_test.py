"""The server survives being killed under load, ten times in a row: crash_test.py [ROUNDS [SEED]]"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import crash_rounds

crash_rounds.main(rounds=10)
