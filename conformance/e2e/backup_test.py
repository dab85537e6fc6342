"""A trading server is backed up hot, lost and restored, twice, once with what the venue did since: backup_test.py [ROUNDS [SEED]]"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import restore_rounds

if __name__ == "__main__":
    restore_rounds.main(rounds=2)
