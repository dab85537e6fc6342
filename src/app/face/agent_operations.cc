#include "app/face/agent_operations.h"

#include <algorithm>
#include <memory>

#include "app/face/error_catalog.h"
#include "app/mcp/operation_tool.h"
#include "base/check.h"
#include "bots/wire/bot_endpoints.h"
#include "host/face/face_words.h"

namespace interlock {
namespace {

constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
constexpr int kAccepted = 202;  // A call that answers so may have become a proposal.

Json schema_of(std::string_view text) {
    auto schema = parse_json(text);
    CHECK(schema.has_value());
    return *std::move(schema);
}

struct Document {
    std::string id;
    std::string path;
    std::string summary;
    std::string description;
    Json schema;  // Null: plain text.
};

// The same for everyone and for as long as the server runs.
void add_document(OperationTable& table, Document document, std::string text) {
    Operation operation;
    operation.id = std::move(document.id);
    operation.method = "GET";
    operation.path = std::move(document.path);
    operation.summary = std::move(document.summary);
    operation.description = std::move(document.description);
    operation.access = {.place = Access::Place::host, .anyone = true};
    std::string content_type = "application/json";
    if (document.schema.is_null()) {
        content_type = kPlainText;
        operation.answer_content_types = {content_type};
    }
    operation.answer_schema = std::move(document.schema);
    operation.handle = [body = std::make_shared<const std::string>(std::move(text)), content_type](
                           ApiCall, ApiReplyTo reply) {
        ApiReply out;
        out.body = *body;
        out.content_type = content_type;
        out.is_document = true;
        reply(std::move(out));
    };
    table.add(std::move(operation));
}

bool is_for_agents(const Operation& operation) {
    return operation.tool.has_value() || operation.access.agent.has_value() ||
           operation.access.agent_with_any_scope;
}

Json agent_usable(const BotEndpoint* endpoint) {
    if (endpoint == nullptr) {
        return true;
    }
    switch (endpoint->agent) {
        case AgentUse::yes:
            return true;
        case AgentUse::no:
            return false;
        case AgentUse::proposal_only:
            return "proposal_only";
        case AgentUse::conditional:
            break;
    }
    return "conditional";
}

std::string_view approval(const Operation& operation, const BotEndpoint* endpoint) {
    if (endpoint != nullptr) {
        return endpoint->human_approval ? "required" : "none";
    }
    return std::ranges::find(operation.statuses, kAccepted) != operation.statuses.end()
               ? "may_be_required"
               : "none";
}

Json scope_of(const Access& access) {
    if (access.agent_with_any_scope || access.anyone) {
        return "any";
    }
    return access.agent ? Json(to_word(*access.agent)) : Json();
}

Json tool_json(const Operation& operation, const BotEndpoint* endpoint) {
    const McpTool tool = tool_of(operation);
    Json json = Json::object(
        {{"id", operation.id},
         {"tool", tool.name},
         {"method", operation.method},
         {"path", operation.path},
         {"description", tool.description},
         {"agent_usable", agent_usable(endpoint)},
         {"approval", approval(operation, endpoint)},
         {"scope", scope_of(operation.access)},
         {"mcp", operation.tool.has_value()},
         {"input_schema", tool.input_schema}});
    if (!operation.answer_schema.is_null()) {
        json.set("output_schema", operation.answer_schema);
    }
    if (operation.tool) {
        json.set("annotations", tool.annotations);
    }
    if (endpoint != nullptr && !endpoint->approval_reason.empty()) {
        json.set("approval_reason", endpoint->approval_reason);
    }
    return json;
}

constexpr std::string_view kBeginning = R"(# Interlock

> A server between agents and what they must not break: real money and other people's chats. An
> agent may decide anything; what happens is what the contracts allow, once, on the record, and a
> human can stop it at any moment.

An access key belongs to one tenant and has scopes; each part below says which one it needs. Send it
as X-Access-Key, or over MCP at /mcp as the bearer token. Errors carry a code, one sentence, whether
a retry is safe, and what to do next. No agent can approve anything. While the kill switch is on,
nothing but cancels passes; only a human turns it off.

## Planner: place orders (scope `planner`)

Call POST /api/{tenant_id}/tools/<name> with decision_id, tick_id (one decision keeps one) and a new
idempotency_key for each call. To retry, send the very same body again.

1. py_get_canonical_state: `strategy_ids` are what an intent may name as strategy_id (`external` on
   a new account), `spendable_cash` what may be spent, `symbols` the markets with tick_size,
   step_size, qty_min and notional_min, `allowed_envelope` the largest order each way that passes.
2. py_get_market_snapshot: bid, ask, spread, volatility, age.
3. py_validate_plan: all five gates. When refused, `hints` has for each reason the value that would
   pass: put it into the plan and validate again. A pass is a ticket for 120 seconds.
4. py_dry_run_plan: costs, and the order_client_id of every intent.
5. py_execute_plan: with execution_mode as runtime_flags.mode and the same intents.
6. py_verify_execution: what became of them. timeout or unknown: the order may be live; never plan
   it again, verify.

## Supervisor: choose the strategy (scope `supervisor`)

apply_control_decision is the one write: switch, pause, resume or set_risk_mode on one concern. Read
GET /api/{tenant_id}/instances first (list_strategies over MCP), send expected_active_strategy_id,
and repeat a decision under its own decision_id only.

## Bot: operate a maker bot (scope `bot`)

)";

constexpr std::string_view kGateway = R"(
## Gateway: talk to people in chats (a credential of the relay)

A WebSocket at /relay carries messages of Discord, Telegram, SMS and WeCom to one agent and its
answers back. An operator adds the gateway and binds it to chats; the credential is its own, no
access key. Acknowledge an inbound message by its bufferId when you are done with it: until then it
is sent again. An outbound message whose result is unknown is not sent a second time by itself.

## Reads (scope `read`)

- GET /api/{tenant_id}/account, /markets, /markets/{symbol}/candles, /markets/{symbol}/book,
  /orders and /fills (CSV with Accept: text/csv), /decisions/{decision_id}, /audit

)";

std::string llms_document(const std::string& base_url) {
    std::string text = std::string(kBeginning) + bot_llms_text(base_url) + std::string(kGateway) +
                       "## Documents\n\n";
    for (const auto& [path, what] : std::initializer_list<std::pair<const char*, const char*>>{
             {"/ai/agent-schema.json", "the bot platform for agents"},
             {"/ai/tools.json",
              "every tool with its input and answer, who may use it and when a human approves"},
             {"/ai/errors.json", "every error code, whether a retry is safe, and what to do next"},
             {"/openapi.json", "every operation of the server"},
             {"/mcp", "the same tools over MCP, with the access key as bearer token"}}) {
        text += "- " + base_url + path + ": " + what + "\n";
    }
    return text;
}

constexpr std::string_view kToolSchema = R"({
    "type": "object",
    "required": ["tools"],
    "properties": {"tools": {"type": "array", "items": {
        "type": "object",
        "required": ["id", "tool", "method", "path", "description", "agent_usable", "approval",
            "scope", "mcp", "input_schema"],
        "properties": {
            "id": {"type": "string"},
            "tool": {"type": "string", "description": "Its name over MCP; the id is an alias."},
            "method": {"type": "string"},
            "path": {"type": "string"},
            "description": {"type": "string"},
            "agent_usable": {"enum": [true, false, "proposal_only", "conditional"]},
            "approval": {"enum": ["none", "may_be_required", "required"]},
            "approval_reason": {"type": "string"},
            "scope": {"type": ["string", "null"]},
            "mcp": {"type": "boolean"},
            "input_schema": {"type": "object", "additionalProperties": true,
                "description": "A JSON Schema."},
            "output_schema": {"type": "object", "additionalProperties": true,
                "description": "A JSON Schema of its answer."},
            "annotations": {"type": "object", "additionalProperties": {"type": "boolean"},
                "description": "Hints of MCP."}}}}}})";

}  // namespace

Json tool_catalog(const OperationTable& table) {
    Json tools = Json::array();
    for (const Operation& operation : table.all()) {
        const BotEndpoint* endpoint = find_bot_endpoint(operation.id);
        if (endpoint != nullptr || is_for_agents(operation)) {
            tools.push(tool_json(operation, endpoint));
        }
    }
    return Json::object({{"tools", std::move(tools)}});
}

void register_agent_operations(OperationTable& table, const std::string& base_url) {
    add_document(
        table,
        {.id = "agent_schema",
         .path = "/ai/agent-schema.json",
         .summary = "The bot platform as a schema for agents.",
         .description = "Endpoints, states, onboarding, safety constraints and exclusions.",
         .schema = schema_of(R"({"type": "object", "required": ["schema_id", "schema_version",
             "base_url", "authentication", "bot_state_machine", "onboarding_sequence",
             "safety_constraints", "endpoints", "explicit_exclusions"]})")},
        to_text(agent_schema(base_url)));
    add_document(
        table,
        {.id = "llms_text",
         .path = "/llms.txt",
         .summary = "What this server is, for language models.",
         .description = "How a planner, a supervisor, a bot and a gateway begin, every endpoint of "
                        "the bot platform on a line, and where the documents are.",
         .schema = {}},
        llms_document(base_url));
    add_document(
        table,
        {.id = "error_catalog",
         .path = "/ai/errors.json",
         .summary = "Every error code of the server.",
         .description = "With its HTTP status, whether the same request may be sent again, and "
                        "the next step. A code is never renamed.",
         .schema = error_catalog_schema()},
        spoken_answer(to_text(error_catalog()), table, in_remote_words));
    add_document(
        table,
        {.id = "tool_catalog",
         .path = "/ai/tools.json",
         .summary = "Every tool for agents.",
         .description = "With its input, the scope a key needs, whether an agent may use it and "
                        "whether a human has to approve. Over MCP a tool has the same name.",
         .schema = schema_of(kToolSchema)},
        to_text(tool_catalog(table)));
}

}  // namespace interlock
