// Every endpoint of the maker-bot platform as one table (docs/contracts/bot.md#1-where). The
// routes, the MCP tools, the published agent schema and the catalogue for language models are made
// from it, so none can say something else.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json.h"

namespace interlock {

// Who an agent is to an endpoint, in the document's words.
enum class AgentUse {
    yes,
    no,             // A human's own call; an agent's is 403.
    proposal_only,  // An agent's call becomes a proposal that a human confirms.
    conditional,    // Only with the owner's grant, but for the paper exchange.
};

struct BotField {
    std::string_view name;
    std::string_view type;  // As the document writes it: "string | null", "float", …
    // As JSON text; empty: none. An optional field has "null" in its type.
    std::string_view otherwise = {};
    std::string_view words = {};  // All it can say, as the document writes it: "idle | running".
};

struct BotEndpoint {
    std::string_view group;
    std::string_view id;
    std::string_view method;
    std::string_view path;
    std::string_view description;
    AgentUse agent = AgentUse::yes;
    bool human_approval = false;
    std::string_view approval_reason = {};
    std::string_view agent_condition = {};  // Of a conditional call.
    std::string_view constraints = {};      // A JSON object; empty: none.
    std::string_view requires_state = {};   // "ready", "running", "any"; empty: none is named.
    bool idempotent = false;
    bool platform_level = false;  // Not tenant-scoped: /signup, /account/login.
    // The document's own words for some fields; the others are put after its schemas.
    std::span<const BotField> request = {};
    std::span<const BotField> parameters = {};
    std::span<const BotField> response = {};
    // Sentences of the document, word for word.
    std::string_view notes = {};
    std::string_view delegation_note = {};
    std::string_view critical_constraint = {};
    std::string_view here = {};  // How it is on this server, where they leave that open.
};
std::span<const BotEndpoint> bot_endpoints();
const BotEndpoint* find_bot_endpoint(std::string_view id);

// Whether a call changes something of a tenant, so that it can be repeated by its key.
bool takes_idempotency_key(const BotEndpoint& endpoint);
// The tool's name over MCP, where it stands beside other servers' tools: `bot_start` for `start`.
std::string bot_tool_name(const BotEndpoint& endpoint);

// JSON Schema of a request body; null when the endpoint takes none.
Json request_schema_of(const BotEndpoint& endpoint);
// Every member of its answer; null when the document does not know it (account_login).
Json response_schema_of(const BotEndpoint& endpoint);

// The document served at /ai/agent-schema.json. `base_url` is where this server is reached.
Json agent_schema(const std::string& base_url);

// The bots' part of /llms.txt: how to begin, every endpoint on a line.
std::string bot_llms_text(const std::string& base_url);

}  // namespace interlock
