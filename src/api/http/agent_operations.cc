#include "api/http/agent_operations.h"

#include <algorithm>
#include <memory>

#include "api/error_catalog.h"
#include "api/mcp/operation_tool.h"
#include "base/check.h"
#include "contracts/bot/bot_endpoints.h"

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
         {"method", operation.method},
         {"path", operation.path},
         {"description", tool.description},
         {"agent_usable", agent_usable(endpoint)},
         {"approval", approval(operation, endpoint)},
         {"scope", scope_of(operation.access)},
         {"mcp", operation.tool.has_value()},
         {"input_schema", tool.input_schema}});
    if (operation.tool) {
        json.set("annotations", tool.annotations);
    }
    if (endpoint != nullptr && !endpoint->approval_reason.empty()) {
        json.set("approval_reason", endpoint->approval_reason);
    }
    return json;
}

std::string llms_document(const std::string& base_url) {
    return llms_text(base_url) +
           "\n## Documents\n\n"
           "- " +
           base_url +
           "/ai/agent-schema.json: the bot platform for agents\n"
           "- " +
           base_url +
           "/ai/tools.json: every tool with its input, who may use it and when a human approves\n"
           "- " +
           base_url +
           "/ai/errors.json: every error code, whether a retry is safe, and what to do next\n"
           "- " +
           base_url +
           "/openapi.json: every operation of the server\n"
           "- " +
           base_url + "/mcp: the same tools over MCP, with the access key as bearer token\n";
}

constexpr std::string_view kToolSchema = R"({
    "type": "object",
    "required": ["tools"],
    "properties": {"tools": {"type": "array", "items": {
        "type": "object",
        "required": ["id", "method", "path", "description", "agent_usable", "approval", "scope",
            "mcp", "input_schema"],
        "properties": {
            "id": {"type": "string"},
            "method": {"type": "string"},
            "path": {"type": "string"},
            "description": {"type": "string"},
            "agent_usable": {"enum": [true, false, "proposal_only", "conditional"]},
            "approval": {"enum": ["none", "may_be_required", "required"]},
            "approval_reason": {"type": "string"},
            "scope": {"type": ["string", "null"]},
            "mcp": {"type": "boolean"},
            "input_schema": {"type": "object"},
            "annotations": {"type": "object"}}}}}})";

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
         .description = "How to begin, every endpoint of the bot platform on a line, and where "
                        "the machine-readable documents are.",
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
        to_text(error_catalog()));
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
