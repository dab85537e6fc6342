// The bot platform as documents for agents: /ai/agent-schema.json and its part of /llms.txt, made
// from the table of endpoints and their schemas. Sentences that agents may know from the platform's
// first description stand here unchanged.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "bots/wire/bot_config.h"
#include "bots/wire/bot_endpoints.h"

namespace interlock {
namespace {

Json agent_word(AgentUse use) {
    switch (use) {
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

Json with_default(std::string_view type, const Json& otherwise) {
    return Json::object({{"type", type}, {"default", otherwise}});
}

// A schema in the document's words: "string | null", "float", "idle | running".
std::string words_of(const Json& schema) {
    std::string text;
    const auto add = [&text](std::string_view word) {
        text += text.empty() ? "" : " | ";
        text += word;
    };
    if (const Json* words = schema.find("enum")) {
        for (const Json& word : words->items()) {
            add(word.is_string() ? word.as_string() : "null");
        }
        return text;
    }
    const Json* type = schema.find("type");
    CHECK(type != nullptr);
    const Json types = type->is_array() ? *type : Json::array({*type});
    const auto has = [&](std::string_view word) {
        return std::ranges::find(types.items(), Json(word)) != types.items().end();
    };
    if (has("number")) {
        add("float");  // As text too, so that no digit is lost on the way.
    } else {
        add(types.items().front().as_string());
    }
    if (has("null")) {
        add("null");
    }
    return text;
}

// The document's own fields in its words, then what else there is.
Json fields_json(std::span<const BotField> fields, const Json& schema) {
    Json json = Json::object();
    for (const BotField& field : fields) {
        const std::string name(field.name);
        if (!field.otherwise.empty()) {
            json.set(name, with_default(field.type, parse_json(field.otherwise).value()));
        } else {
            json.set(name, field.words.empty() ? field.type : field.words);
        }
    }
    const Json* properties = schema.find("properties");
    if (properties == nullptr) {
        return json;
    }
    for (const auto& [name, property] : properties->members()) {
        if (json.find(name) == nullptr) {
            json.set(name, words_of(property));
        }
    }
    return json;
}

Json endpoint_json(const BotEndpoint& endpoint) {
    Json json = Json::object({
        {"id", endpoint.id},
        {"method", endpoint.method},
        {"path", endpoint.path},
        {"description", endpoint.description},
        {"agent_usable", agent_word(endpoint.agent)},
        {"human_approval_required", endpoint.human_approval},
    });
    if (!endpoint.approval_reason.empty()) {
        json.set("approval_reason", endpoint.approval_reason);
    }
    if (endpoint.platform_level) {
        json.set("platform_level", true);
    }
    for (const auto& [name, sentence] :
         {std::pair<std::string_view, std::string_view>{"notes", endpoint.notes},
          {"delegation_note", endpoint.delegation_note},
          {"agent_condition", endpoint.agent_condition},
          {"critical_constraint", endpoint.critical_constraint},
          {"here", endpoint.here}}) {
        if (!sentence.empty()) {
            json.set(std::string(name), sentence);
        }
    }
    if (endpoint.agent != AgentUse::no && !endpoint.platform_level) {
        json.set("mcp_tool", bot_tool_name(endpoint));
    }
    if (!endpoint.constraints.empty()) {
        json.set("constraints", parse_json(endpoint.constraints).value());
    }
    if (!endpoint.requires_state.empty()) {
        json.set("requires_state", endpoint.requires_state);
    }
    if (endpoint.idempotent) {
        json.set("idempotent", true);
    }
    if (Json schema = request_schema_of(endpoint); !schema.is_null()) {
        json.set("request_body", fields_json(endpoint.request, schema));
        json.set("request_schema", std::move(schema));
    }
    if (!endpoint.parameters.empty()) {
        json.set("parameters", fields_json(endpoint.parameters, Json()));
    }
    if (Json schema = response_schema_of(endpoint); !schema.is_null()) {
        json.set("response", fields_json(endpoint.response, schema));
        json.set("response_schema", std::move(schema));
    }
    json.set("status", "implemented");
    return json;
}

struct Group {
    std::string_view name;
    std::string_view description;
};
constexpr std::array<Group, 7> kGroups{{
    {"account", "Accounts, above any tenant."},
    {"lifecycle", "The bot's life, per tenant."},
    {"status_and_diagnostics", "Reads; safe to poll."},
    {"configuration_read", "The configuration; needs no approval."},
    {"configuration_proposals",
     "Changes. An agent's call answers 202 with a proposal that a human confirms."},
    {"exchange_connectivity", "Exchange keys and the session with the exchange."},
    {"pnl_analytics", "Profit and loss, as a background job."},
}};

Json groups_json() {
    Json groups = Json::object();
    for (const Group& group : kGroups) {
        Json list = Json::array();
        for (const BotEndpoint& endpoint : bot_endpoints()) {
            if (endpoint.group == group.name) {
                list.push(endpoint_json(endpoint));
            }
        }
        groups.set(
            std::string(group.name),
            Json::object(
                {{"description", group.description},
                 {"status", "implemented"},
                 {"endpoints", std::move(list)}}));
    }
    return groups;
}

Json parsed(std::string_view text) {
    auto json = parse_json(text);
    CHECK(json.has_value());
    return *std::move(json);
}

Json state_machine_json() {
    return parsed(R"({
        "description": "Read /status after every lifecycle call.",
        "states": ["uninitialized", "ready", "running", "stopped"],
        "transitions": [
            {"from": "uninitialized", "to": "ready", "via": "POST /initialize_bot"},
            {"from": "ready", "to": "running", "via": "POST /start"},
            {"from": "running", "to": "stopped", "via": "POST /stop"},
            {"from": "stopped", "to": "running", "via": "POST /restart"},
            {"from": "running", "to": "running", "via": "POST /restart"},
            {"from": "ready", "to": "running", "via": "POST /restart"},
            {"from": "uninitialized", "to": "running", "via": "POST /restart"},
            {"from": "any", "to": "uninitialized", "via": "exchange_error_or_hydration_failure"}],
        "status": "implemented"})");
}

Json onboarding_json() {
    return parsed(R"({
        "description": "In this order; a call out of it is refused and names the missing step.",
        "steps": [
            {"step": 1, "call": "POST /signup", "purpose": "Get access_key and tenant_id"},
            {"step": 2, "call": "POST /update_exchange_keys", "purpose": "Put keys into the vault"},
            {"step": 3, "call": "GET /exchange_status", "purpose": "See keys_loaded: true"},
            {"step": 4, "call": "POST /initialize_bot", "purpose": "Build the bot"},
            {"step": 5, "call": "GET /status", "purpose": "See bot_state: ready"},
            {"step": 6, "call": "POST /start", "purpose": "Trade"},
            {"step": 7, "call": "GET /status", "purpose": "See bot_state: running"}],
        "status": "implemented"})");
}

// What was once announced, and what has become of it.
Json roadmap_json() {
    return parsed(R"({
        "v1.1": ["Exchange keys are checked at /update_exchange_keys and /initialize_bot",
            "Keys that can withdraw are refused", "An asset list per principal"],
        "v1.2": ["A human's approval of configuration_proposals, in the API",
            "Parameter changes are proposed, then confirmed"],
        "commercial": ["MCP tools", "A JSON console beside the page: every command with --json",
            "GET /balances", "GET /positions", "GET /health"],
        "future": ["AI principals in their own right", "Several exchanges at the same time"],
        "status": {"v1.1": "implemented", "v1.2": "implemented", "commercial": "implemented",
            "future": "declined | planned"},
        "future_status": [
            {"item": "AI principals in their own right", "status": "declined",
                "why": "A human answers for every tenant; a mandate lets an agent act alone."},
            {"item": "Several exchanges at the same time", "status": "planned",
                "why": "A bot trades on one exchange; another one takes its place."}]})");
}

// The descriptions are the document's, word for word; `here` says how it is on this server.
struct SafetyConstraint {
    std::string_view name;
    std::string_view description;
    std::string_view enforcement = {};
    std::string_view here = {};
};
constexpr SafetyConstraint kConstraints[] = {
    {"no_withdrawal",
     "Engine will hard-reject API keys with withdrawal permissions at initialisation. Pilot: "
     "account owner responsible for correct key scoping.",
     "key_permission_check",
     "Such keys are rejected at /update_exchange_keys and at every initialisation."},
    {"spot_only",
     "Futures, margin, and derivatives execution outside engine scope.",
     "execution_layer"},
    {"non_custodial",
     "Engine holds no user funds at any point. All balances remain with exchange custody "
     "provider."},
    {"maker_only",
     "All orders placed as maker orders. Engine does not cross the spread as taker.",
     "execution_layer"},
    {"max_symbols", "Maximum 9 active trading symbols. Inventory rails hard limit.", "hard_limit"},
    {"zero_cache_policy",
     "Every execution pulse fetches fresh data from exchange. No stale state used for order "
     "decisions."},
    {"graceful_degradation",
     "On exchange timeout, engine enters Data-Stall Cycle. Suspends trading until connectivity "
     "resumes."},
    {"safe_state_on_shutdown",
     "On backend shutdown, engine stops. Balances remain with exchange custody provider."},
};

Json constraints_json() {
    Json constraints = Json::object();
    for (const SafetyConstraint& constraint : kConstraints) {
        const bool is_count = constraint.name == "max_symbols";
        Json one = Json::object(
            {{"value", is_count ? Json(kBotSymbolsMax) : Json(true)},
             {"description", constraint.description}});
        if (!constraint.enforcement.empty()) {
            one.set("enforcement", constraint.enforcement);
        }
        if (!constraint.here.empty()) {
            one.set("validation_at_init", "implemented");
            one.set("here", constraint.here);
        }
        constraints.set(std::string(constraint.name), std::move(one));
    }
    return constraints;
}

}  // namespace

Json agent_schema(const std::string& base_url) {
    return Json::object({
        {"schema_id", "interlock-agent-schema"},
        {"schema_version", "1.0"},
        {"status", "implemented"},
        {"base_url", base_url},
        {"tenant_base_url_pattern", base_url + "/api/{tenant_id}"},
        {"alternative_base_url_pattern", base_url + "/{access_key}"},
        {"authentication",
         Json::object(
             {{"type", "access_key"},
              {"header", "X-Access-Key"},
              {"scoped_to", "tenant_instance"},
              {"regeneration_endpoint", "POST /account/regenerate-key"},
              {"status", "implemented"}})},
        {"bot_state_machine", state_machine_json()},
        {"onboarding_sequence", onboarding_json()},
        {"safety_constraints", constraints_json()},
        {"endpoints", groups_json()},
        {"explicit_exclusions",
         Json::object(
             {{"exclusions",
               Json::array(
                   {"Withdrawal instructions of any kind",
                    "Futures, margin, or derivatives order placement",
                    "Cross-tenant data access",
                    "Access key regeneration",
                    "Account deletion",
                    "Direct exchange API calls past this server"})}})},
        {"roadmap", roadmap_json()},
    });
}

std::string bot_llms_text(const std::string& base_url) {
    std::string text =
        "A spot, maker-only bot of its owner: an agent operates it through the calls below and can "
        "neither withdraw, change risk by itself nor see another tenant. Needs the scope `bot`.\n\n"
        "Send the access key as X-Access-Key to " +
        base_url +
        "/api/{tenant_id}/…. Begin: POST /signup, POST /update_exchange_keys, GET "
        "/exchange_status, POST /initialize_bot, GET /status, POST /start, GET /status. Every call "
        "that changes something takes an optional idempotency_key: the same key with the same body "
        "gives the stored answer. Over MCP a call has `bot_` before its name: bot_start.\n";
    for (const Group& group : kGroups) {
        text +=
            "\n### " + std::string(group.name) + "\n\n" + std::string(group.description) + "\n\n";
        for (const BotEndpoint& endpoint : bot_endpoints()) {
            if (endpoint.group == group.name) {
                text += "- " + std::string(endpoint.method) + " " + std::string(endpoint.path) +
                        ": " + std::string(endpoint.description) + "\n";
            }
        }
    }
    return text;
}

}  // namespace interlock
