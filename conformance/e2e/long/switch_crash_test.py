"""The same as the everyday switch crash test, more kills; a campaign gives the number: 100."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

import switch_rounds

if __name__ == "__main__":
    switch_rounds.main(kills=40, lanes=5)
