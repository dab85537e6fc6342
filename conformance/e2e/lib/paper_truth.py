"""What really happened at the paper venue, read from its own journal.

The journal outlives the server and is written by the venue alone, so it is the truth that our books
are held to. Lines come in batches; a batch whose last line is missing was never told to anybody.
"""

import collections
import decimal
import json

EXACT = decimal.Context(prec=60, traps=[decimal.Inexact, decimal.InvalidOperation])
QUOTE = "USDT"


def number(text):
    return decimal.Decimal(text)


def base_of(symbol):
    return symbol.removesuffix(QUOTE)


class VenueAccount:
    """One account as the venue knows it."""

    def __init__(self):
        self.holdings = collections.defaultdict(decimal.Decimal)
        self.accepted = {}  # By order_client_id: the order as it was accepted.
        self.fills = {}  # By (symbol, trade_id).
        self.unfilled = {}  # Of the orders that are open: by order_client_id.

    def add_to(self, asset, amount):
        self.holdings[asset] = EXACT.add(self.holdings[asset], amount)

    def accept(self, order):
        name = order["order_client_id"]
        if name in self.accepted:
            raise AssertionError(f"the venue accepted {name} twice")
        self.accepted[name] = order
        self.unfilled[name] = number(order["qty"])

    def fill(self, fill):
        name = fill["symbol"], fill["trade_id"]
        if name in self.fills:
            raise AssertionError(f"the venue's journal has the trade {name} twice")
        self.fills[name] = fill
        quantity, price = number(fill["qty"]), number(fill["price"])
        sign = 1 if fill["side"] == "buy" else -1
        self.add_to(base_of(fill["symbol"]), sign * quantity)
        self.add_to(QUOTE, -sign * EXACT.multiply(quantity, price))
        self.add_to(fill["fee_asset"], -number(fill["fee"]))
        order = fill["order_client_id"]
        self.unfilled[order] -= quantity
        if self.unfilled[order] == 0:
            del self.unfilled[order]

    def end(self, order):
        self.unfilled.pop(order["order_client_id"], None)

    def balances(self):
        return {asset: amount for asset, amount in self.holdings.items() if amount != 0}


class PaperTruth:
    """The venue's journal, followed as it grows."""

    def __init__(self, path):
        self.path = path
        self.offset = 0
        self.accounts = collections.defaultdict(VenueAccount)  # By tenant.

    def read_on(self):
        with open(self.path, "rb") as journal:
            journal.seek(self.offset)
            text = journal.read()
        batch, size = [], 0
        for line in text.splitlines(keepends=True):
            if not line.endswith(b"\n"):
                break
            size += len(line)
            batch.append(json.loads(line))
            if batch[-1].get("last"):
                for entry in batch:
                    self.take(entry)
                self.offset += size
                batch, size = [], 0

    def take(self, entry):
        if entry["type"] == "market":
            return
        account = self.accounts[entry["account"]["tenant_id"]]
        if entry["type"] == "account_opened":
            for balance in entry["balances"]:
                account.add_to(balance["asset"], number(balance["free"]))
        elif entry["type"] == "order_accepted":
            account.accept(entry["order"])
        elif entry["type"] == "order_filled":
            account.fill(entry["fill"])
        elif entry["type"] == "order_ended":
            account.end(entry["order"])
        else:
            raise AssertionError(f"an unexpected line in the venue's journal: {entry}")
