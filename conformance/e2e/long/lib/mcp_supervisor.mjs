// The agent of mcp_supervisor.sh: nothing but the official SDK and what a supervisor's key shows.
import assert from "node:assert/strict";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { MCP_URL, MCP_KEY, FIRST, SECOND } = process.env;

async function connect(key) {
  const client = new Client({ name: "supervisor", version: "1.0.0" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(MCP_URL), {
      requestInit: { headers: { Authorization: `Bearer ${key}` } },
    }),
  );
  return client;
}

async function call(client, name, args = {}) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, `${name}: ${JSON.stringify(result)}`);
  return result.structuredContent;
}

const client = await connect(MCP_KEY);
const { tools } = await client.listTools();
const names = tools.map((tool) => tool.name).sort();
assert.deepEqual(names, [
  "apply_control_decision",
  "get_strategy",
  "list_strategies",
  "py_set_kill_switch",
]);
const apply = tools.find((tool) => tool.name === "apply_control_decision");
assert.equal(apply.annotations.readOnlyHint, false);
assert.equal(apply.annotations.idempotentHint, true);
console.log(`tools: ${names.join(", ")}`);

const { strategies } = await call(client, "list_strategies");
assert.deepEqual(
  strategies.map((one) => [one.id, one.mode]),
  [
    [FIRST, "active"],
    [SECOND, "off"],
  ],
);
const one = await call(client, "get_strategy", { strategy_id: FIRST });
assert.deepEqual(Object.keys(one.report), [
  "identity",
  "control",
  "fit",
  "supervision",
  "position",
  "state",
  "assessment",
  "execution",
]);

const decision = {
  decision_id: "dec_2026_04_16_001",
  concern_id: one.concern_id,
  account_id: one.account_id,
  market_symbol: one.market_symbol,
  action: "switch",
  target_strategy_id: SECOND,
  expected_active_strategy_id: FIRST,
  risk_mode: "normal",
  reason: "trend strategy still fits the directional narrative",
  confidence: 0.83,
  dry_run: false,
  override: false,
  requested_at: "2026-04-16T20:15:00Z",
};
const applied = await call(client, "apply_control_decision", decision);
assert.equal(applied.status, "applied");
assert.equal(applied.from_strategy_id, FIRST);
assert.equal(applied.to_strategy_id, SECOND);
console.log(`applied: ${applied.decision_id} at ${applied.applied_at}`);

const again = await call(client, "apply_control_decision", decision);
assert.equal(again.status, "noop");
assert.ok(again.warnings.includes("duplicate_decision"));
assert.deepEqual(again.result.original, applied);
console.log("retried: noop, duplicate_decision, with the first answer");

const stale = await call(client, "apply_control_decision", {
  ...decision,
  decision_id: "dec_2026_04_16_002",
  target_strategy_id: FIRST,
});
assert.equal(stale.status, "rejected");
assert.equal(stale.errors[0].code, "expected_active_mismatch");
console.log("a stale view: rejected, expected_active_mismatch");

const keep = await call(client, "apply_control_decision", {
  ...decision,
  decision_id: "dec_2026_04_16_003",
  action: "keep",
});
assert.equal(keep.errors[0].code, "unsupported_action");

await assert.rejects(connect("ilk_" + "z".repeat(52)), "a key that does not exist got in");
await client.close();
