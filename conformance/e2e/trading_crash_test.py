"""A trading server survives being killed, twenty times: trading_crash_test.py [KILLS [SEED]]"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import trading_rounds

if __name__ == "__main__":
    trading_rounds.main(kills=20, lanes=4)
