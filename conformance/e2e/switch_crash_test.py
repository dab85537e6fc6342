"""A server is killed around its switches, fifteen times: switch_crash_test.py [KILLS [SEED]]"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import switch_rounds

if __name__ == "__main__":
    switch_rounds.main(kills=15, lanes=3)
