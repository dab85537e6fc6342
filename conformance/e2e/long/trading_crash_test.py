"""The same as the everyday trading crash test, five hundred kills."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

import trading_rounds

if __name__ == "__main__":
    trading_rounds.main(kills=500, lanes=8)
