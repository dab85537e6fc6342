"""The same as the everyday one, more kills in a row; a campaign gives the number: 500."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

import relay_rounds

relay_rounds.main(kills=int(sys.argv[1]) if len(sys.argv) > 1 else 60)
