"""The same as the everyday crash test, a hundred times in a row; another number may be given."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

import crash_rounds

crash_rounds.main(rounds=100)
