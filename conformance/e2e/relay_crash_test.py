"""I8 on the real program: the connector and its gateways are killed while messages flow."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import relay_rounds

relay_rounds.main(kills=20)
