"""One way of tampering with a data folder, for the table in tamperings.py."""

import dataclasses
import typing

from forger import Forger

BAD = 25  # A record of alpha that lies before its last seal.
ALL = frozenset({"alpha", "gamma"})
NOBODY = frozenset()
BUSY_PORT = "a start whose port is taken"
ROTATE = "`vault rotate`"
LARGEST = 2 ** 63 - 1


@dataclasses.dataclass
class Tampering:
    name: str
    forge: typing.Callable
    found: list
    start: list = None  # None: as found.
    trades: frozenset = NOBODY
    witness: str = "agrees"
    base: str = "whole"
    daily: bool = False  # Whether the start is tried every day, and not only in full runs.
    starts: bool = True  # False: the server refuses the folder altogether.
    says: str = ""  # A word for the printed table.
    told_breaks: list = dataclasses.field(default_factory=list)  # What was on record before.
    warned: str = ""  # What the witness makes the server say at the start.
    keeps_out: bool = False  # The change shuts the human out who would ask for the release.
    # What finds it first and ends before anything is stopped: BUSY_PORT or ROTATE.
    before: str = ""


def on(book="ledger"):
    """A forgery that gets a Forger of the book."""
    def wrap(forge):
        def run(data, world):
            with Forger(data, book) as forger:
                forge(forger, world)
        return run
    return wrap
