#include "contracts/bot/bot_endpoints.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "contracts/bot/bot_config.h"

namespace interlock {
namespace {

constexpr BotField kSignupRequest[] = {
    {"email", "string"}, {"plan", "string"}, {"agent_metadata", "object | null"}};
constexpr BotField kSignupResponse[] = {
    {"access_key", "string"}, {"tenant_id", "string"}, {"status", "string"}};
constexpr BotField kLoginRequest[] = {{"email", "string"}, {"password", "string"}};
constexpr BotField kAccountResponse[] = {
    {"tenant_id", "string"},
    {"plan", "string"},
    {"active", "boolean"},
    {"trial_expires", "string | null"}};
constexpr std::string_view kStateWords = "uninitialized | ready | running | stopped";
constexpr BotField kStateResponse[] = {{"message", "string"}, {"bot_state", "string"}};
constexpr BotField kRunningResponse[] = {
    {"message", "string"}, {"bot_state", "string", {}, "running"}};
constexpr BotField kStoppedResponse[] = {
    {"message", "string"}, {"bot_state", "string", {}, "stopped"}};
constexpr BotField kStopRequest[] = {{"cancel_orders", "boolean | null"}};
constexpr BotField kStatusResponse[] = {
    {"bot_state", "string", {}, kStateWords}, {"bot_attached", "boolean"}};
constexpr BotField kExchangeResponse[] = {
    {"keys_loaded", "boolean"}, {"exchange", "string | null"}};
constexpr BotField kLogLines[] = {{"lines", "integer", "100"}};
constexpr BotField kLogResponse[] = {{"logs", "string"}};
constexpr BotField kPnlStatusResponse[] = {{"status", "string", {}, "idle | running | unknown"}};
constexpr BotField kPnlUpdateResponse[] = {{"timestamp", "float | null"}};
constexpr BotField kBalancesResponse[] = {{"balances", "object"}};
constexpr BotField kPositionsResponse[] = {{"positions", "array"}};
constexpr BotField kHealthResponse[] = {{"status", "string", {}, "ok"}};
constexpr BotField kConfigResponse[] = {
    {"symbols", "array"}, {"pnl_perc", "float"}, {"amounts_by_symbol", "object"}};
constexpr BotField kPnlRequest[] = {{"pnl_perc", "float"}};
constexpr BotField kSymbolRequest[] = {
    {"old_symbol", "string"}, {"new_symbol", "string"}, {"new_amount", "float"}};
constexpr BotField kAllSymbolsRequest[] = {{"symbols", "array"}, {"amounts_by_symbol", "object"}};
constexpr BotField kSettingsRequest[] = {
    {"stop_buy", "object | null"},
    {"stop_sell", "object | null"},
    {"BBANDS_TIGHT_QUANTILE", "float | null"},
    {"volatility", "float | null"},
    {"timeframe", "string | null"},
    {"num_bids_ask", "integer | null"}};
constexpr BotField kProposalResponse[] = {
    {"status", "string", {}, "applied | pending_approval"},
    {"proposal_id", "string | null"},
    {"difference", "object"}};
constexpr BotField kKeysRequest[] = {
    {"exchange", "string"},
    {"api_key", "string"},
    {"api_secret", "string"},
    {"api_password", "string | null"}};
constexpr BotField kKeysResponse[] = {
    {"message", "string"}, {"keys_loaded", "boolean"}, {"exchange", "string"}};
constexpr BotField kMessageResponse[] = {{"message", "string"}};
constexpr BotField kRegenerateResponse[] = {{"access_key", "string"}, {"message", "string"}};
constexpr BotField kRunPnlRequest[] = {{"lookback_days", "integer", "30"}};
constexpr BotField kRunPnlResponse[] = {{"message", "string"}, {"running", "boolean"}};
constexpr BotField kSnapshotLines[] = {{"lines", "integer", "200"}};
constexpr BotField kSnapshotResponse[] = {{"log", "string"}};

constexpr BotEndpoint kEndpoints[] = {
    {.group = "account",
     .id = "signup",
     .method = "POST",
     .path = "/signup",
     .description = "Make a tenant with an owner's default configuration, mail the owner an "
                    "activation link and return the tenant's access key, this once.",
     .platform_level = true,
     .request = kSignupRequest,
     .response = kSignupResponse},
    {.group = "account",
     .id = "account_login",
     .method = "POST",
     .path = "/account/login",
     .description = "Log in as a human. Agents use their access key instead.",
     .agent = AgentUse::no,
     .platform_level = true,
     .request = kLoginRequest},
    {.group = "account",
     .id = "account_status",
     .method = "GET",
     .path = "/account/status",
     .description = "Plan, whether the account is active, and when its trial ends.",
     .response = kAccountResponse},
    {.group = "account",
     .id = "regenerate_key",
     .method = "POST",
     .path = "/account/regenerate-key",
     .description = "Replace the access key. The old one is dead at once everywhere and the bot "
                    "is restarted.",
     .agent = AgentUse::no,
     .human_approval = true,
     .response = kRegenerateResponse},
    {.group = "lifecycle",
     .id = "initialize_bot",
     .method = "POST",
     .path = "/initialize_bot",
     .description = "Build the bot from its configuration and keys and read all it needs. In any "
                    "later state it answers with the current one.",
     .idempotent = true,
     .response = kStateResponse},
    {.group = "lifecycle",
     .id = "start",
     .method = "POST",
     .path = "/start",
     .description = "Read everything anew, then begin to trade.",
     .requires_state = "ready",
     .response = kRunningResponse},
    {.group = "lifecycle",
     .id = "stop",
     .method = "POST",
     .path = "/stop",
     .description = "End the pulses. Open orders stay at the exchange and are listed in the "
                    "answer; cancel_orders, or the owner's policy, has them cancelled.",
     .requires_state = "running",
     .request = kStopRequest,
     .response = kStoppedResponse},
    {.group = "lifecycle",
     .id = "restart",
     .method = "POST",
     .path = "/restart",
     .description = "End the pulses if there are any, build and read anew, trade on. Needs keys.",
     .requires_state = "any",
     .response = kRunningResponse},
    {.group = "status_and_diagnostics",
     .id = "status",
     .method = "GET",
     .path = "/status",
     .description = "The bot's state. Read it after every lifecycle call.",
     .response = kStatusResponse},
    {.group = "status_and_diagnostics",
     .id = "exchange_status",
     .method = "GET",
     .path = "/exchange_status",
     .description = "Whether exchange keys are loaded, for which exchange, and when their "
                    "permissions were last checked.",
     .response = kExchangeResponse},
    {.group = "status_and_diagnostics",
     .id = "logs",
     .method = "GET",
     .path = "/logs",
     .description = "The latest lines of the bot's own log.",
     .parameters = kLogLines,
     .response = kLogResponse},
    {.group = "status_and_diagnostics",
     .id = "pnl_status",
     .method = "GET",
     .path = "/pnl_status",
     .description = "Whether a PnL job runs: idle, running or unknown.",
     .response = kPnlStatusResponse},
    {.group = "status_and_diagnostics",
     .id = "pnl_last_update",
     .method = "GET",
     .path = "/pnl_last_update",
     .description = "Unix time of the last completed PnL job.",
     .response = kPnlUpdateResponse},
    {.group = "status_and_diagnostics",
     .id = "balances",
     .method = "GET",
     .path = "/balances",
     .description = "Balances as the exchange tells them.",
     .response = kBalancesResponse},
    {.group = "status_and_diagnostics",
     .id = "positions",
     .method = "GET",
     .path = "/positions",
     .description = "What is held per symbol, with its cost and open orders.",
     .response = kPositionsResponse},
    {.group = "status_and_diagnostics",
     .id = "health",
     .method = "GET",
     .path = "/health",
     .description = "Answers while the server lives.",
     .response = kHealthResponse},
    {.group = "configuration_read",
     .id = "config",
     .method = "GET",
     .path = "/config",
     .description = "The configuration in effect.",
     .response = kConfigResponse},
    {.group = "configuration_proposals",
     .id = "update_pnl",
     .method = "POST",
     .path = "/update_pnl",
     .description = "Change the base profit threshold, in percent.",
     .agent = AgentUse::proposal_only,
     .human_approval = true,
     .approval_reason = "Risk parameter change",
     .request = kPnlRequest,
     .response = kProposalResponse},
    {.group = "configuration_proposals",
     .id = "update_symbol",
     .method = "POST",
     .path = "/update_symbol",
     .description = "Trade another pair in place of one, with its own amount.",
     .agent = AgentUse::proposal_only,
     .human_approval = true,
     .approval_reason = "Asset selection change",
     .request = kSymbolRequest,
     .response = kProposalResponse},
    {.group = "configuration_proposals",
     .id = "update_all_symbols",
     .method = "POST",
     .path = "/update_all_symbols",
     .description = "Replace all pairs and their amounts; nine at most.",
     .agent = AgentUse::proposal_only,
     .human_approval = true,
     .approval_reason = "Asset selection change",
     .constraints = R"({"max_symbols": 9})",
     .request = kAllSymbolsRequest,
     .response = kProposalResponse},
    {.group = "configuration_proposals",
     .id = "update_bot_settings",
     .method = "POST",
     .path = "/update_bot_settings",
     .description = "Change stops, widening, timeframe or number of levels; what is left out "
                    "stays.",
     .agent = AgentUse::proposal_only,
     .human_approval = true,
     .approval_reason = "Risk parameter change",
     .request = kSettingsRequest,
     .response = kProposalResponse},
    {.group = "configuration_proposals",
     .id = "reload_from_config",
     .method = "POST",
     .path = "/reload_from_config",
     .description = "Go back to the configuration the owner approved last.",
     .response = kMessageResponse},
    {.group = "exchange_connectivity",
     .id = "update_exchange_keys",
     .method = "POST",
     .path = "/update_exchange_keys",
     .description = "Put exchange keys into the vault. Keys that can withdraw, transfer, use "
                    "margin or derivatives are refused and wiped.",
     .agent = AgentUse::conditional,
     .human_approval = true,
     .approval_reason = "Vault operation: provisioning of exchange credentials",
     .agent_condition = "For the exchange paper always; for any other one once, after the account "
                        "owner granted it (grant_key_provisioning).",
     .request = kKeysRequest,
     .response = kKeysResponse},
    {.group = "exchange_connectivity",
     .id = "connect_exchange",
     .method = "POST",
     .path = "/connect-exchange",
     .description = "Open the session with the exchange.",
     .idempotent = true,
     .response = kMessageResponse},
    {.group = "exchange_connectivity",
     .id = "disconnect_exchange",
     .method = "POST",
     .path = "/disconnect-exchange",
     .description = "Close the session with the exchange; a running bot stalls.",
     .idempotent = true,
     .response = kMessageResponse},
    {.group = "pnl_analytics",
     .id = "run_pnl",
     .method = "POST",
     .path = "/run_pnl",
     .description = "Start the PnL job over the last days, in the background; one at a time.",
     .request = kRunPnlRequest,
     .response = kRunPnlResponse},
    {.group = "pnl_analytics",
     .id = "stop_pnl",
     .method = "POST",
     .path = "/stop_pnl",
     .description = "Ask a running PnL job to stop after the symbol it is at.",
     .response = kMessageResponse},
    {.group = "pnl_analytics",
     .id = "pnl_snapshot",
     .method = "GET",
     .path = "/pnl_snapshot",
     .description = "The latest lines of the PnL log.",
     .parameters = kSnapshotLines,
     .response = kSnapshotResponse},
};

bool is_optional(const BotField& field) {
    return field.type.ends_with("| null") || !field.otherwise.empty();
}

Json type_words(std::string_view type) {
    Json words = Json::array();
    const std::string_view first = type.substr(0, type.find(" |"));
    words.push(first == "float" ? std::string_view("number") : first);
    if (type.ends_with("| null")) {
        words.push("null");
    }
    return words;
}

Json words_of(std::string_view text) {
    Json words = Json::array();
    while (!text.empty()) {
        const std::size_t bar = text.find(" | ");
        words.push(text.substr(0, bar));
        text.remove_prefix(bar == std::string_view::npos ? text.size() : bar + 3);
    }
    return words;
}

Json schema_of(std::span<const BotField> fields, bool is_strict) {
    Json properties = Json::object();
    Json required = Json::array();
    for (const BotField& field : fields) {
        Json one = Json::object({{"type", type_words(field.type)}});
        if (field.type.starts_with("float")) {
            // Decimals are taken as text too, so that no digit is lost on the way.
            one.set(
                "type",
                is_strict ? Json::array({"number", "string", "null"})
                          : Json::array({"number", "null"}));
        }
        if (!field.words.empty()) {
            one.set("enum", words_of(field.words));
        }
        if (!field.otherwise.empty()) {
            one.set("default", parse_json(field.otherwise).value());
        }
        if (!is_optional(field)) {
            required.push(field.name);
        }
        properties.set(std::string(field.name), std::move(one));
    }
    Json schema = Json::object(
        {{"type", "object"},
         {"properties", std::move(properties)},
         {"required", std::move(required)}});
    if (is_strict) {
        schema.set("additionalProperties", false);
    }
    return schema;
}

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

Json fields_json(std::span<const BotField> fields) {
    Json json = Json::object();
    for (const BotField& field : fields) {
        if (field.otherwise.empty()) {
            json.set(std::string(field.name), field.words.empty() ? field.type : field.words);
        } else {
            json.set(
                std::string(field.name),
                Json::object(
                    {{"type", field.type}, {"default", parse_json(field.otherwise).value()}}));
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
    if (!endpoint.agent_condition.empty()) {
        json.set("agent_condition", endpoint.agent_condition);
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
    if (!endpoint.request.empty()) {
        json.set("request_body", fields_json(endpoint.request));
    }
    if (!endpoint.parameters.empty()) {
        json.set("parameters", fields_json(endpoint.parameters));
    }
    if (!endpoint.response.empty()) {
        json.set("response", fields_json(endpoint.response));
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
            "future": "planned"}})");
}

Json constraints_json() {
    return parsed(R"({
        "no_withdrawal": {"value": true, "enforcement": "key_permission_check",
            "validation_at_init": "implemented"},
        "spot_only": {"value": true, "enforcement": "execution_layer"},
        "non_custodial": {"value": true},
        "maker_only": {"value": true, "enforcement": "execution_layer"},
        "max_symbols": {"value": 9, "enforcement": "hard_limit"},
        "zero_cache_policy": {"value": true},
        "graceful_degradation": {"value": true},
        "safe_state_on_shutdown": {"value": true}})");
}

}  // namespace

std::span<const BotEndpoint> bot_endpoints() {
    return kEndpoints;
}

const BotEndpoint* find_bot_endpoint(std::string_view id) {
    const auto found =
        std::find_if(std::begin(kEndpoints), std::end(kEndpoints), [&](const BotEndpoint& one) {
            return one.id == id;
        });
    return found == std::end(kEndpoints) ? nullptr : &*found;
}

Json request_schema_of(const BotEndpoint& endpoint) {
    return endpoint.request.empty() ? Json() : schema_of(endpoint.request, true);
}

Json response_schema_of(const BotEndpoint& endpoint) {
    return schema_of(endpoint.response, false);
}

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

std::string llms_text(const std::string& base_url) {
    std::string text =
        "# Interlock\n\n"
        "> A server between agents and exchange accounts. This part hosts spot, maker-only bots: "
        "an agent operates one through the calls below and can neither withdraw, change risk by "
        "itself nor see another tenant.\n\n"
        "Send the access key as X-Access-Key to " +
        base_url +
        "/api/{tenant_id}/…. The machine-readable form is /ai/agent-schema.json; errors carry a "
        "code, one sentence, whether a retry is safe, and what to do next.\n\n"
        "Begin: POST /signup, POST /update_exchange_keys, GET /exchange_status, POST "
        "/initialize_bot, GET /status, POST /start, GET /status.\n";
    for (const Group& group : kGroups) {
        text +=
            "\n## " + std::string(group.name) + "\n\n" + std::string(group.description) + "\n\n";
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
