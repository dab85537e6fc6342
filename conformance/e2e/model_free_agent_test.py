"""An agent without a model. It knows what `tools/list` says, the state, and the hints of refusals, and
nothing else: no documentation, no name of a strategy, no grid, no limit. It plans too much, is refused,
follows the hints, buys, and sells what it bought."""

import datetime
import decimal
import pathlib
import re
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import mcp_client
import plane

ROUNDS_MAX = 12
PATIENCE_SECONDS = 30


class Agent:
    """Fills in what a schema asks for out of the state, and does what hints say."""

    def __init__(self, client):
        self.client = client
        self.tools = {tool["name"]: tool for tool in client.list_tools()}
        self.numbers = iter(range(10**6))
        self.refusals = []
        self.state = None
        self.decision = None
        self.kept = {}

    def tool(self, words):
        """The one tool whose name ends so."""
        found = [name for name in self.tools if name.endswith(words)]
        assert len(found) == 1, f"{words}: {sorted(self.tools)}"
        return found[0]

    def begin(self):
        self.decision = f"agent_{next(self.numbers)}"
        self.kept = {}

    def value(self, name, schema, given):
        """A value for a required field that nobody gave: from its schema alone."""
        if name in given:
            return given[name]
        named = re.search(r"One of state\.(\w+)", schema.get("description", ""))
        if named:
            first = self.state[named.group(1)][0]
            return first[name] if isinstance(first, dict) else first
        flag = re.search(r"As runtime_flags\.(\w+)", schema.get("description", ""))
        if flag:
            return self.state["runtime_flags"][flag.group(1)]
        types = schema.get("type")
        types = types if isinstance(types, list) else [types]
        if schema.get("format") == "date-time":
            return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        if "null" in types:
            return None
        if schema.get("properties"):
            return self.fill(schema, given)
        if "enum" in schema:
            return schema["enum"][0]
        if "array" in types:
            return []
        if "number" in types:
            return "0"
        if "boolean" in types:
            return True
        if "a decision keeps one" in schema.get("description", ""):
            return self.kept.setdefault(name, f"{name}_{next(self.numbers)}")
        return f"{name}_{next(self.numbers)}"

    def fill(self, schema, given):
        wanted = set(schema.get("required", [])) | (set(given) & set(schema["properties"]))
        return {name: self.value(name, schema["properties"][name], given) for name in wanted}

    def call(self, words, **given):
        name = self.tool(words)
        schema = self.tools[name]["inputSchema"]
        given.setdefault("decision_id", self.decision)
        return self.client.call_tool(name, self.fill(schema, given))

    def read(self):
        self.begin()
        self.state = self.call("get_canonical_state")["state"]
        return self.state

    def intent_schema(self):
        plan = self.tools[self.tool("validate_plan")]["inputSchema"]["properties"]["plan"]
        return plan["properties"]["intents"]["items"]

    def intent(self, **given):
        return {"intent_id": "mine", **self.fill(self.intent_schema(), given)}

    def follow(self, intent, hints):
        """Puts what the hints say into the order; nothing where they only say to wait."""
        changes = [change for hint in hints for change in hint["changes"]
                   if change.get("intent_id") == intent["intent_id"]]
        for change in changes:
            field, value = change["field"], change["value"]
            if change["relation"] == "at_most":
                # Every check allows so much; the order has to fit them all.
                value = format(min(
                    decimal.Decimal(other["value"]) for other in changes
                    if other["field"] == field and other["relation"] == "at_most"), "f")
            intent[field] = value
        return bool(changes)

    def must_change(self, intent, reasons, answer):
        """A refusal: does what the hints say, or waits where they say nothing else."""
        self.refusals.append(reasons)
        if not self.follow(intent, answer["hints"]):
            time.sleep(1)

    def rehearse(self, intent):
        """Through validation and dry run; gives the order's id, or nothing when one was refused."""
        self.begin()
        answer = self.call("validate_plan", plan={"intents": [intent], "reason": "a test"})
        verdict = answer["validation"]
        if not verdict["pass"]:
            assert {hint["reason"] for hint in answer["hints"]} == set(
                verdict["blocking_reasons"]), answer
            self.must_change(intent, verdict["blocking_reasons"], answer)
            return None
        answer = self.call("dry_run_plan", plan={"intents": [intent]})
        if not answer["dry_run"]["pass"]:
            self.must_change(intent, answer["dry_run"]["blocking_reasons"], answer)
            return None
        return answer["dry_run"]["projected"][0]["order_client_id"]

    def rehearsed(self, intent):
        for _ in range(ROUNDS_MAX):
            order = self.rehearse(intent)
            if order:
                return order
        raise AssertionError(f"no plan passed: {self.refusals[-3:]}")

    def send(self, intent):
        """Through all tools; gives what became of the order."""
        for _ in range(ROUNDS_MAX):
            order = self.rehearsed(intent)
            sent = self.call(
                "execute_plan", approved_intents=[{**intent, "order_client_id": order}])
            if sent["status"] == "ok":
                return self.outcome(order)
            # The market moved in between: the answer says what would pass now.
            reasons = [hint["reason"] for hint in sent.get("hints", [])]
            assert reasons, sent
            self.must_change(intent, reasons, sent)
        raise AssertionError(f"nothing was sent: {self.refusals[-3:]}")

    def outcome(self, order):
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            answer = self.call("verify_execution", order_client_ids=[order])
            row = answer["verification"]["orders"][0]
            if row["final_state"] == "filled" or time.monotonic() > until:
                return row
            time.sleep(0.5)


class ModelFreeAgent(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.sink = plane.start_sink(self.folder.name)
        self.addCleanup(self.sink.kill)
        self.server = plane.start_server(self.folder.name)
        self.addCleanup(self.server.stop)
        key = plane.make_tenant(self.folder.name, "acme", ["planner"])
        self.agent = Agent(mcp_client.McpClient(self.server.address, key))

    def wait_until_entries_pass(self):
        until = time.monotonic() + PATIENCE_SECONDS
        while self.agent.read()["runtime_flags"]["entries_halted"]:
            self.assertLess(time.monotonic(), until, self.agent.state["runtime_flags"])
            time.sleep(0.5)

    def held(self):
        positions = self.agent.read()["positions"]
        return sum((decimal.Decimal(row["qty"]) for row in positions), decimal.Decimal(0))

    def test_places_is_refused_follows_the_hints_and_closes(self):
        agent = self.agent
        self.wait_until_entries_pass()
        room = next(row for row in agent.state["allowed_envelope"]
                    if row["side"] == "buy" and decimal.Decimal(row["max_qty"]) > 0)
        largest = decimal.Decimal(room["max_qty"])
        # Too much, off the grid, and for a strategy that somebody made up.
        buy = agent.intent(
            symbol=room["symbol"], side="buy", order_type="market", time_in_force="IOC",
            qty=format(largest * 3 + decimal.Decimal("0.000000001"), "f"),
            strategy_id="my_strategy")
        bought = agent.send(buy)
        self.assertEqual(bought["final_state"], "filled", bought)
        said = {reason for reasons in agent.refusals for reason in reasons}
        self.assertIn(f"risk_limits:notional_per_trade:{room['symbol']}", said)
        self.assertIn(f"market_sanity:step_size:{room['symbol']}", said)
        self.assertIn(f"policy_guardrails:unknown_strategy:{room['symbol']}", said)
        self.assertEqual(buy["strategy_id"], agent.state["strategy_ids"][0])
        # It was sized by the hints alone, to what the state had named.
        self.assertLessEqual(decimal.Decimal(buy["qty"]), largest * decimal.Decimal("1.05"))
        self.assertGreater(decimal.Decimal(buy["qty"]), largest * decimal.Decimal("0.5"))

        held = self.held()
        # What was filled, less a fee in the coin itself.
        self.assertLessEqual(held, decimal.Decimal(bought["fill_qty"]))
        self.assertGreater(held, decimal.Decimal(bought["fill_qty"]) * decimal.Decimal("0.99"))
        sell = agent.intent(
            symbol=room["symbol"], side="sell", order_type="market", time_in_force="IOC",
            qty=format(held * 2, "f"))
        agent.refusals.clear()
        sold = agent.send(sell)
        self.assertEqual(sold["final_state"], "filled", sold)
        self.assertIn(f"exposure_leverage:short:{room['symbol']}", agent.refusals[0])
        # Closed, but for what is too small to be sold.
        rest, room = self.held(), agent.state["symbols"]
        step = next(row["step_size"] for row in room if row["symbol"] == sell["symbol"])
        self.assertLess(rest, decimal.Decimal(step))

    def test_hears_of_the_kill_switch_first(self):
        agent = self.agent
        self.wait_until_entries_pass()
        room = next(row for row in agent.state["allowed_envelope"]
                    if row["side"] == "buy" and decimal.Decimal(row["max_qty"]) > 0)
        buy = agent.intent(symbol=room["symbol"], side="buy", order_type="market",
                           time_in_force="IOC", qty=room["max_qty"])
        order = agent.rehearsed(buy)
        stopped = agent.call("set_kill_switch", active=True, reason="a test", actor="agent")
        self.assertTrue(stopped["kill_switch_active"], stopped)

        refused = agent.call("execute_plan", approved_intents=[{**buy, "order_client_id": order}])
        error = refused["errors"][0]
        self.assertTrue(error["message"].startswith("The kill switch is on."), error)
        self.assertIn("human", error["next_step"])
        self.assertEqual(error["problems"][0]["path"], "policy_guardrails:kill_switch_active:-")
        self.assertEqual([hint for hint in refused["hints"] if hint["changes"]], [])
        agent.begin()
        answer = agent.call("validate_plan", plan={"intents": [buy], "reason": "a test"})
        self.assertEqual(answer["hints"][0]["reason"], "policy_guardrails:kill_switch_active:-")
        self.assertEqual([hint for hint in answer["hints"] if hint["changes"]], [])

    def test_sees_eight_tools_that_say_how_they_are_used(self):
        self.assertEqual(len(self.agent.tools), 8)
        for tool in self.agent.tools.values():
            for name, field in tool["inputSchema"]["properties"].items():
                self.assertTrue(field.get("description"), f"{tool['name']}.{name}")


if __name__ == "__main__":
    unittest.main()
