// The agent of mcp_bot.sh: nothing but the official SDK, the published schema and a signup's key.
import assert from "node:assert/strict";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { BASE_URL } = process.env;

const signup = await fetch(`${BASE_URL}/signup`, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ email: "mcp@example.com", plan: "standard", agent_metadata: null }),
});
assert.equal(signup.status, 201);
const account = await signup.json();

const client = new Client({ name: "maker", version: "1.0.0" });
await client.connect(
  new StreamableHTTPClientTransport(new URL(`${BASE_URL}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${account.access_key}` } },
  }),
);

async function call(name, args = {}) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, `${name}: ${JSON.stringify(result)}`);
  return result.structuredContent;
}

async function refusal(name, args = {}) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(result.isError, `${name} was not refused`);
  return result.content[0].text;
}

const schema = await (await fetch(`${BASE_URL}/ai/agent-schema.json`)).json();
const endpoints = Object.values(schema.endpoints).flatMap((group) => group.endpoints);
const offered = new Set((await client.listTools()).tools.map((tool) => tool.name));
const usable = endpoints.filter((one) => one.agent_usable !== false && one.id !== "signup");
for (const one of usable) {
  assert.ok(offered.has(one.mcp_tool), `${one.mcp_tool} is no tool`);
  assert.ok(!offered.has(one.id), `${one.id} is listed beside ${one.mcp_tool}`);
}
for (const id of ["signup", "account_login", "regenerate_key", "approve_approval", "set_plan"]) {
  assert.ok(!offered.has(id), `${id} is a tool`);
}
console.log(`tools: ${usable.length} of ${endpoints.length} endpoints`);

assert.match(await refusal("bot_start"), /bot_/);
const keys = { exchange: "paper", api_key: "k", api_secret: "s" };
assert.equal((await call("bot_update_exchange_keys", keys)).keys_loaded, true);
assert.equal((await call("bot_initialize")).bot_state, "ready");
assert.equal((await call("bot_status")).bot_state, "ready");
// The endpoint's own name works too.
assert.equal((await call("status")).bot_state, "ready");
assert.equal((await call("bot_start")).bot_state, "running");
assert.equal((await call("bot_status")).bot_state, "running");
console.log("status, start, status: running");

const proposal = await call("bot_update_pnl", { pnl_perc: 2 });
assert.equal(proposal.status, "pending_approval");
assert.deepEqual(proposal.difference, { pnl_perc: { from: 1, to: 2 } });
assert.ok(proposal.proposal_id);
assert.equal((await call("bot_config")).pnl_perc, 1);
console.log("update_pnl: a proposal with its difference; nothing changed");

assert.match(await refusal("bot_update_pnl", { pnl_perc: 2, zz_unknown: 1 }), /zz_unknown/);
// Nobody is asked for a grant to an exchange that this server cannot reach.
assert.match(
  await refusal("bot_update_exchange_keys", { ...keys, exchange: "elsewhere" }),
  /unknown_exchange/,
);
const stopped = await call("bot_stop");
assert.equal(stopped.bot_state, "stopped");
assert.ok(Array.isArray(stopped.open_orders));
assert.equal((await call("bot_status")).bot_state, "stopped");
assert.match(await refusal("bot_stop"), /wrong_bot_state/);
console.log(`stop: stopped, ${stopped.open_orders.length} orders left and listed`);
await client.close();
