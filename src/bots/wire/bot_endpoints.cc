#include "bots/wire/bot_endpoints.h"

#include <algorithm>

#include "base/text.h"

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
     .response = kSignupResponse,
     .notes = "Agent may call on behalf of account owner during automated onboarding."},
    {.group = "account",
     .id = "account_login",
     .method = "POST",
     .path = "/account/login",
     .description = "Log in as a human. Agents use their access key instead.",
     .agent = AgentUse::no,
     .platform_level = true,
     .request = kLoginRequest,
     .notes = "Agents do not use this endpoint. Authentication via access_key header only."},
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
     .response = kRegenerateResponse,
     .notes = "Invalidates current access key. Human principal action only."},
    {.group = "lifecycle",
     .id = "initialize_bot",
     .method = "POST",
     .path = "/initialize_bot",
     .description = "Build the bot from its configuration and keys and read all it needs. In any "
                    "later state it answers with the current one.",
     .idempotent = true,
     .response = kStateResponse,
     .notes = "If bot already initialised, returns current state without rebuilding. Must be "
              "called before /start."},
    {.group = "lifecycle",
     .id = "start",
     .method = "POST",
     .path = "/start",
     .description = "Read everything anew, then begin to trade.",
     .requires_state = "ready",
     .response = kRunningResponse,
     .delegation_note = "Delegated via access key provisioning by account owner."},
    {.group = "lifecycle",
     .id = "stop",
     .method = "POST",
     .path = "/stop",
     .description = "End the pulses. Open orders stay at the exchange and are listed in the "
                    "answer; cancel_orders, or the owner's policy, has them cancelled.",
     .requires_state = "running",
     .request = kStopRequest,
     .response = kStoppedResponse,
     .delegation_note = "Delegated via access key provisioning by account owner."},
    {.group = "lifecycle",
     .id = "restart",
     .method = "POST",
     .path = "/restart",
     .description = "End the pulses if there are any, build and read anew, trade on. Needs keys.",
     .requires_state = "any",
     .response = kRunningResponse,
     .delegation_note = "Delegated via access key provisioning by account owner."},
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
     .response = kMessageResponse,
     .notes = "Reverts any in-session parameter changes to owner-defined state. Safe agent call."},
    {.group = "exchange_connectivity",
     .id = "update_exchange_keys",
     .method = "POST",
     .path = "/update_exchange_keys",
     .description = "Put exchange keys into the vault. Keys that can withdraw, transfer, use "
                    "margin or derivatives are refused and wiped.",
     .agent = AgentUse::conditional,
     .human_approval = true,
     .approval_reason = "Vault operation — exchange credential provisioning",
     .agent_condition = "Agent may call only when explicitly provisioned to do so by account owner "
                        "as part of automated onboarding flow.",
     .request = kKeysRequest,
     .response = kKeysResponse,
     .critical_constraint = "Agent must not generate, store, or transmit exchange API keys "
                            "beyond the scope of the provisioning instruction.",
     .here = "For the exchange paper always; for any other one once, after the account owner "
             "granted it (grant_key_provisioning)."},
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

std::string bot_tool_name(const BotEndpoint& endpoint) {
    // `bot` once: initialize_bot is bot_initialize, update_bot_settings is bot_update_settings.
    std::string name = "bot";
    for (const std::string_view word : split(endpoint.id, '_')) {
        if (word != "bot") {
            name += "_" + std::string(word);
        }
    }
    return name;
}

}  // namespace interlock
