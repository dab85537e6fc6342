"""The same as the everyday tampering test, with the start of a server behind every row of the table."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import audit_tamper

audit_tamper.main(everything=True)
