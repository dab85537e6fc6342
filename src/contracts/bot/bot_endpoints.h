// Every endpoint of the maker-bot platform as one table (seed 004, "endpoints"). The routes, the
// MCP tools, the published agent schema and the catalogue for language models are made from it, so
// none can say something else.
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
    std::span<const BotField> request = {};
    std::span<const BotField> parameters = {};
    std::span<const BotField> response = {};
};
std::span<const BotEndpoint> bot_endpoints();
const BotEndpoint* find_bot_endpoint(std::string_view id);

// JSON Schema of a request body; null when the endpoint takes none.
Json request_schema_of(const BotEndpoint& endpoint);
Json response_schema_of(const BotEndpoint& endpoint);

// The document served at /ai/agent-schema.json. `base_url` is where this server is reached.
Json agent_schema(const std::string& base_url);

// What /llms.txt says: what this is, how to begin, every endpoint on a line.
std::string llms_text(const std::string& base_url);

}  // namespace interlock
