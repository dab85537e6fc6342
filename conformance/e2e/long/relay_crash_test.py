"""The same as the everyday one, two hundred kills in a row; another number may be given."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

import relay_rounds

relay_rounds.main(kills=int(sys.argv[1]) if len(sys.argv) > 1 else 200)
