"""The same as the everyday crash test, more often; a campaign gives the number: 1000."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

import crash_rounds

crash_rounds.main(rounds=40)
