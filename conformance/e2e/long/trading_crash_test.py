"""The same as the everyday trading crash test, more kills; a campaign gives the number: 500."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

import trading_rounds

if __name__ == "__main__":
    trading_rounds.main(kills=100, lanes=8)
