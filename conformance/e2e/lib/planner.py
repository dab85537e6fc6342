"""A planner that trades small amounts through the tools until the server is gone.

It buys and sells at the market and with limits, rests post-only orders, cancels them, sends plans of
two orders, and now and then repeats a call whose answer it already has.
"""

import collections
import decimal
import http.client
import json
import random
import threading

from plane import call, connect

Market = collections.namedtuple("Market", "tick step")
MARKETS = {
    "BTCUSDT": Market("0.01", "0.00001"), "ETHUSDT": Market("0.01", "0.0001"),
    "SOLUSDT": Market("0.01", "0.001"), "XRPUSDT": Market("0.0001", "0.1")}

ToolCall = collections.namedtuple("ToolCall", "tenant tool body")
Answered = collections.namedtuple("Answered", "call status text")


def send(connection, key, tool_call):
    return call(
        connection, "POST", f"/api/{tool_call.tenant}/tools/{tool_call.tool}", tool_call.body, key)


def is_kept(status, text):
    """Whether the same call must give the same bytes for ever; passing troubles promise nothing."""
    if status == 200:
        return True
    answer = json.loads(text)
    errors = answer.get("errors") or [answer["error"]]
    return not any(error.get("retryable") for error in errors)


def to_step(value, step, rounding=decimal.ROUND_FLOOR):
    unit = decimal.Decimal(step)
    return format((value / unit).to_integral_value(rounding) * unit, "f")


class Planner(threading.Thread):
    def __init__(self, address, tenant, key, name, seed):
        super().__init__(daemon=True)
        self.address = address
        self.tenant = tenant
        self.key = key
        self.label = name
        self.choose = random.Random(seed)
        self.answered = []
        self.unanswered = None
        self.problem = None
        self.numbers = iter(range(10**9))

    def run(self):
        self.connection = connect(self.address)
        try:
            while True:
                self.decide(f"dec_{self.label}_{next(self.numbers)}")
        except (OSError, http.client.HTTPException):
            return
        except Exception as problem:  # A wrong answer must not pass for a dead server.
            self.problem = problem

    def tool(self, tool, decision, **fields):
        body = {"decision_id": decision, "tick_id": f"tick_{self.label}",
                "idempotency_key": f"key_{self.label}_{next(self.numbers)}", **fields}
        self.unanswered = ToolCall(self.tenant, tool, body)
        status, text = send(self.connection, self.key, self.unanswered)
        if is_kept(status, text):
            self.answered.append(Answered(self.unanswered, status, text))
            if self.choose.random() < 0.1:
                again = send(self.connection, self.key, self.unanswered)
                if again != (status, text):
                    raise AssertionError(f"{self.unanswered}: first {text!r}, then {again!r}")
        self.unanswered = None
        return json.loads(text)

    def read_account(self):
        status, text = call(
            self.connection, "GET", f"/api/{self.tenant}/account", None, self.key)
        if status != 200:
            raise AssertionError(f"reading the account was answered {status}: {text!r}")
        return json.loads(text)

    def quotes(self, decision, symbol):
        answer = self.tool(
            "py_get_market_snapshot", decision, symbols=[symbol], max_staleness_sec=5)
        row = answer["market"][0]
        return decimal.Decimal(row["best_bid"]), decimal.Decimal(row["best_ask"])

    def intent(self, symbol, side, way, quotes, quantity=None):
        bid, ask = quotes
        market = MARKETS[symbol]
        away = decimal.Decimal(self.choose.choice(("0", "0.0002", "0.002")))
        price = None
        if way == "rest":
            price = bid * (1 - away) if side == "buy" else ask * (1 + away)
        elif way == "cross":
            price = ask * (1 + away) if side == "buy" else bid * (1 - away)
        if quantity is None:
            worth = decimal.Decimal(self.choose.randint(1200, 6000)) / 100
            quantity = to_step(worth / bid, market.step, decimal.ROUND_CEILING)
        return {
            "symbol": symbol, "side": side, "order_type": "limit" if price else "market",
            "qty": quantity, "limit_price": price and to_step(price, market.tick),
            "time_in_force": "IOC" if way == "cross" else "GTC",
            "post_only": way == "rest" and self.choose.random() < 0.5}

    def plan(self, decision):
        """Intents and cancels of one decision."""
        kind = self.choose.choice(
            ("market", "cross", "rest", "rest", "pair", "sell", "sell", "cancel"))
        symbol = self.choose.choice(list(MARKETS))
        if kind == "cancel":
            orders = self.read_account()["open_orders"]
            chosen = self.choose.sample(orders, min(len(orders), 3))
            if chosen:
                return [], [order["order_client_id"] for order in chosen]
            kind = "rest"
        if kind == "sell":
            held = [entry for entry in self.read_account()["allowed_envelope"]
                    if entry["side"] == "sell" and entry["symbol"] in MARKETS
                    and decimal.Decimal(entry["max_notional"]) > 12]
            if held:
                entry = self.choose.choice(held)
                symbol = entry["symbol"]
                most = decimal.Decimal(entry["max_qty"])
                share = self.choose.choice(("1", "0.6"))
                quantity = to_step(most * decimal.Decimal(share), MARKETS[symbol].step)
                way = self.choose.choice(("market", "cross", "rest"))
                return [self.intent(
                    symbol, "sell", way, self.quotes(decision, symbol), quantity)], []
            kind = "market"
        quotes = self.quotes(decision, symbol)
        if kind == "pair":
            return [self.intent(symbol, "buy", way, quotes) for way in ("rest", "market")], []
        return [self.intent(symbol, "buy", kind, quotes)], []

    def decide(self, decision):
        intents, cancels = self.plan(decision)
        wanted = [{**intent, "strategy_id": "external", "expected_edge_bps": "100"}
                  for intent in intents]
        checked = self.tool(
            "py_validate_plan", decision,
            plan={"intents": wanted, "cancels": cancels, "reason": "the crash test trades"})
        if not checked.get("validation", {}).get("pass"):
            return
        rehearsed = self.tool(
            "py_dry_run_plan", decision, plan={"intents": intents, "cancels": cancels},
            assumptions={"slippage_bps": 25, "fee_bps": 20})
        if not rehearsed.get("dry_run", {}).get("pass"):
            return
        rows = rehearsed["dry_run"]["projected"]
        approved = [{**intent, "intent_id": row["intent_id"],
                     "order_client_id": row["order_client_id"]}
                    for intent, row in zip(intents, rows)]
        self.tool(
            "py_execute_plan", decision, execution_mode="paper", approved_intents=approved,
            cancels=cancels)
        if approved and self.choose.random() < 0.3:
            self.tool(
                "py_verify_execution", decision,
                order_client_ids=[intent["order_client_id"] for intent in approved])
