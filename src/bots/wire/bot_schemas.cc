// What each endpoint of the bot platform takes and answers, whole. The published document, the
// routes and the tools are made from it; a test holds real answers to it.
#include <algorithm>

#include "base/check.h"
#include "bots/wire/account_view.h"
#include "bots/wire/bot_endpoints.h"
#include "bots/wire/signup.h"
#include "codec/json_schema.h"
#include "host/wire/blocked.h"
#include "host/wire/exchange_keys.h"
#include "market/wire/candle.h"

namespace interlock {
namespace {

Json decimal(std::string_view about = {}) {
    return schema::text(about);
}

Json schema_of(std::string_view text) {
    auto parsed = parse_json(text);
    CHECK(parsed.has_value());
    return *std::move(parsed);
}

// Of calls that change something. It may be left out.
constexpr std::string_view kKeySchema = R"({"type": ["string", "null"], "minLength": 1,
    "maxLength": 128, "pattern": "^[!$&-.0->@-\\[\\]-~]+$",
    "description": "The same to repeat this very call, else a new one."})";

Json request_of(Json properties, std::initializer_list<std::string_view> required) {
    properties.set("idempotency_key", schema_of(kKeySchema));
    Json names = Json::array();
    for (const std::string_view name : required) {
        names.push(name);
    }
    return Json::object(
        {{"type", "object"},
         {"properties", std::move(properties)},
         {"required", std::move(names)},
         {"additionalProperties", false}});
}

Json settings_request() {
    Json properties = schema_of(R"({
        "stop_buy": {"type": ["object", "null"], "maxProperties": 9,
            "additionalProperties": {"type": ["boolean", "number", "string", "null"]},
            "description": "Per symbol: true buys nothing, a price nothing above; false clears."},
        "stop_sell": {"type": ["object", "null"], "maxProperties": 9,
            "additionalProperties": {"type": ["boolean", "number", "string", "null"]},
            "description": "Per symbol, for sells: a price sells nothing below it."},
        "BBANDS_TIGHT_QUANTILE": {"type": ["number", "string", "null"],
            "description": "Share of the narrowest Bollinger bands, above 0 and below 1."},
        "volatility": {"type": ["number", "string", "null"],
            "description": "Multiple by which a volatile market widens the steps, 0 to 10."},
        "num_bids_ask": {"type": ["integer", "null"], "minimum": 1, "maximum": 20,
            "description": "Orders a side."}})");
    Json words = Json::array();
    for (const std::string_view word : kTimeframeWords) {
        words.push(word);
    }
    words.push(Json());
    properties.set(
        "timeframe",
        Json::object(
            {{"type", Json::array({"string", "null"})},
             {"enum", std::move(words)},
             {"description", "Of the candles it looks at."}}));
    return request_of(std::move(properties), {});
}

Json keys_request() {
    Json properties = *exchange_keys_schema().find("properties");
    return request_of(std::move(properties), {"exchange", "api_key", "api_secret"});
}

Json open_order(bool with_symbol) {
    schema::Members members{
        {"order_client_id", schema::text()},
        {"side", schema::words({"buy", "sell"})},
        {"price", schema::or_null(decimal("In quote."))},
        {"remaining_qty", decimal("Base units.")},
    };
    if (with_symbol) {
        members.emplace_back("symbol", schema::text());
        members.emplace_back("state", schema::text());
    }
    return schema::object(std::move(members));
}

Json state_words() {
    return schema::words({"uninitialized", "ready", "running", "stopped"});
}

Json warnings() {
    return schema::list(schema::text(), "What keeps the bot from all it was told.");
}

Json status_answer() {
    return schema::object({
        {"bot_state", state_words()},
        {"trading", schema::boolean("It runs and nothing stands in its way.")},
        {"blocked", blocked_schema()},
        {"bot_attached", schema::boolean()},
        {"stalled",
         schema::boolean(
             "It waits for the exchange, or reads everything anew; nothing is placed.")},
        {"connected", schema::boolean("The session with the exchange is open.")},
        {"hydration",
         schema::or_null(schema::object(
             {{"step", schema::text()}, {"done", schema::integer()}, {"total", schema::integer()}},
             "How far it has read everything anew; null: it does not."))},
        {"last_pulse_at", schema::or_null(schema::moment())},
        {"pulses", schema::integer()},
        {"pulses_late", schema::integer()},
        {"config_version", schema::integer()},
        {"trouble", schema::or_null(schema::text("Why it fell back to uninitialized."))},
        {"warnings", warnings()},
    });
}

Json exchange_answer() {
    return schema::object({
        {"keys_loaded", schema::boolean()},
        {"exchange", schema::or_null(schema::text())},
        {"connected", schema::boolean()},
        {"entries",
         schema::list(schema::object({
             {"exchange", schema::text()},
             {"api_key_hint", schema::text("Its last characters.")},
             {"stored_at", schema::moment()},
             {"permissions", schema::or_null(key_permissions_schema())},
             {"checked_at", schema::or_null(schema::moment())},
         }))},
    });
}

Json money() {
    return schema::object({
        {"at", schema::moment()},
        {"by_symbol",
         schema::map(
             schema::object({{"value", schema::text()}, {"asset", schema::text()}}),
             "What each amount is worth at the mid of then.")},
        {"total",
         schema::or_null(schema::object(
             {{"value", schema::text()}, {"asset", schema::text()}}, "All of them together."))},
    });
}

schema::Members settings() {
    const Json stops = schema::map(
        schema_of(R"({"type": ["boolean", "number"]})"), "Per symbol: true, or a price.");
    return {
        {"symbols", schema::list(schema::text())},
        {"pnl_perc", schema::number("Percent.")},
        {"amounts_by_symbol", schema::map(schema::number("Base units."))},
        {"stop_buy", stops},
        {"stop_sell", stops},
        {"BBANDS_TIGHT_QUANTILE", schema::number()},
        {"volatility", schema::number()},
        {"timeframe", schema::text()},
        {"num_bids_ask", schema::integer("Orders a side.")},
    };
}

Json config_answer() {
    schema::Members members = settings();
    members.emplace_back("money", money());
    members.emplace_back("config_version", schema::integer());
    return schema::object(std::move(members));
}

Json differences() {
    Json json = schema::object({}, "By the name of the setting.");
    for (const auto& [name, type] : settings()) {
        json.find("properties")
            ->set(std::string(name), schema::object({{"from", type}, {"to", type}}));
    }
    return json;
}

Json change_answer() {
    return schema::object({
        {"status", schema::words({"applied", "pending_approval"})},
        {"proposal_id", schema::or_null(schema::text("The approval a human votes on."))},
        {"replaced?",
         schema::list(schema::text(), "Earlier proposals of this key and operation, now void.")},
        {"difference", differences()},
        {"money", money()},
        {"warnings", warnings()},
        {"config_version?", schema::integer("After it was applied.")},
        {"base_version?", schema::integer("What the proposal was made on.")},
        {"expires_at?", schema::moment()},
        {"next?", schema::text()},
        {"audit_ref", schema::text()},
    });
}

Json lifecycle_answer(Json state) {
    return schema::object({
        {"message", schema::text()},
        {"bot_state", std::move(state)},
        {"blocked?", blocked_schema()},
        {"warnings?", warnings()},
        {"audit_ref?", schema::text()},
    });
}

Json stop_answer() {
    return schema::object({
        {"message", schema::text()},
        {"bot_state", schema::words({"stopped"})},
        {"open_orders", schema::list(open_order(true), "As they were when it stopped.")},
        {"orders_cancelled", schema::boolean("They are being cancelled.")},
        {"audit_ref", schema::text()},
    });
}

Json keys_answer() {
    return schema::object({
        {"message", schema::text()},
        {"keys_loaded", schema::boolean()},
        {"exchange", schema::text()},
        {"api_key_hint", schema::text()},
        {"standing", schema::text()},
        {"faults", schema::list(schema::text())},
        {"warnings", schema::list(schema::text())},
        {"checked_at", schema::moment()},
        {"audit_ref", schema::text()},
    });
}

Json balances_answer() {
    return schema::object({
        {"balances",
         schema::map(schema::object({{"free", decimal()}, {"locked", decimal()}}), "By asset.")},
        {"fetched_at", schema::or_null(schema::moment("When the exchange told them."))},
    });
}

Json positions_answer() {
    return schema::object(
        {{"positions",
          schema::list(schema::object({
              {"symbol", schema::text()},
              {"quantity", decimal("Base units.")},
              {"cost", decimal("In quote, of what is held.")},
              {"average_price", decimal()},
              {"realized",
               decimal("In quote, before fees; after fees: realized_net of pnl_snapshot.")},
              {"open_orders", schema::list(open_order(false))},
          }))}});
}

Json pnl_status_answer() {
    return schema::object({
        {"status", schema::words({"idle", "running", "unknown"})},
        {"last_outcome", schema::or_null(schema::text())},
        {"stopping?", schema::boolean()},
        {"progress?",
         schema::object({
             {"records_read", schema::integer()},
             {"records_total", schema::integer()},
             {"symbols_done", schema::integer()},
             {"symbols_total", schema::integer()},
         })},
    });
}

struct NamedSchema {
    std::string_view id;
    Json (*make)();
};

const NamedSchema kRequests[] = {
    {"signup", signup_schema},
    {"account_login",
     [] {
         return schema_of(R"({"type": "object", "required": ["email", "password"],
             "additionalProperties": false,
             "properties": {
                 "email": {"type": "string", "maxLength": 254, "description": "The owner's."},
                 "password": {"type": "string", "maxLength": 1024,
                     "description": "The owner's."}}})");
     }},
    {"stop",
     [] {
         return request_of(
             schema_of(R"({"cancel_orders": {"type": ["boolean", "null"],
                 "description": "Open orders too; left out: the owner's policy."}})"),
             {});
     }},
    {"update_pnl",
     [] {
         return request_of(
             schema_of(R"({"pnl_perc": {"type": ["number", "string"],
                 "description": "Percent, 0.1 to 20."}})"),
             {"pnl_perc"});
     }},
    {"update_symbol",
     [] {
         return request_of(
             schema_of(R"({
                 "old_symbol": {"type": "string", "maxLength": 64, "description": "Traded now."},
                 "new_symbol": {"type": "string", "maxLength": 64, "description": "In its place."},
                 "new_amount": {"type": ["number", "string"],
                     "description": "Base units of it, above 0."}})"),
             {"old_symbol", "new_symbol", "new_amount"});
     }},
    {"update_all_symbols",
     [] {
         return request_of(
             schema_of(R"({
                 "symbols": {"type": "array", "minItems": 1, "maxItems": 9,
                     "items": {"type": "string"}, "description": "All pairs to trade."},
                 "amounts_by_symbol": {"type": "object", "maxProperties": 9,
                     "additionalProperties": {"type": ["number", "string"]},
                     "description": "Base units above 0, for each symbol."}})"),
             {"symbols", "amounts_by_symbol"});
     }},
    {"update_bot_settings", settings_request},
    {"update_exchange_keys", keys_request},
    {"run_pnl",
     [] {
         return request_of(
             schema_of(R"({"lookback_days": {"type": "integer", "minimum": 1, "maximum": 365,
                 "default": 30, "description": "Days back from now."}})"),
             {});
     }},
};

const NamedSchema kAnswers[] = {
    {"signup", new_account_schema},
    {"account_status", account_view_schema},
    {"regenerate_key", regenerated_key_schema},
    {"initialize_bot", [] { return lifecycle_answer(state_words()); }},
    {"start", [] { return lifecycle_answer(schema::words({"running"})); }},
    {"restart", [] { return lifecycle_answer(schema::words({"running"})); }},
    {"stop", stop_answer},
    {"status", status_answer},
    {"exchange_status", exchange_answer},
    {"logs", [] { return schema::object({{"logs", schema::text("Oldest first.")}}); }},
    {"pnl_status", pnl_status_answer},
    {"pnl_last_update",
     [] {
         return schema::object({{"timestamp", schema::or_null(schema::number("Unix seconds."))}});
     }},
    {"balances", balances_answer},
    {"positions", positions_answer},
    {"health", [] { return schema::object({{"status", schema::words({"ok"})}}); }},
    {"config", config_answer},
    {"update_pnl", change_answer},
    {"update_symbol", change_answer},
    {"update_all_symbols", change_answer},
    {"update_bot_settings", change_answer},
    {"reload_from_config",
     [] {
         return schema::object({
             {"message", schema::text()},
             {"difference", differences()},
             {"warnings", warnings()},
             {"audit_ref?", schema::text()},
         });
     }},
    {"update_exchange_keys", keys_answer},
    {"connect_exchange", [] { return lifecycle_answer(state_words()); }},
    {"disconnect_exchange", [] { return lifecycle_answer(state_words()); }},
    {"run_pnl",
     [] { return schema::object({{"message", schema::text()}, {"running", schema::boolean()}}); }},
    {"stop_pnl",
     [] { return schema::object({{"message", schema::text()}, {"running", schema::boolean()}}); }},
    {"pnl_snapshot", [] { return schema::object({{"log", schema::text("Oldest first.")}}); }},
};

Json made_of(std::span<const NamedSchema> list, std::string_view id) {
    const auto found = std::find_if(
        list.begin(), list.end(), [&](const NamedSchema& one) { return one.id == id; });
    return found == list.end() ? Json() : found->make();
}

}  // namespace

bool takes_idempotency_key(const BotEndpoint& endpoint) {
    return endpoint.method == "POST" && !endpoint.platform_level && endpoint.agent != AgentUse::no;
}

Json request_schema_of(const BotEndpoint& endpoint) {
    Json declared = made_of(kRequests, endpoint.id);
    const bool is_bare = declared.is_null() && takes_idempotency_key(endpoint);
    return is_bare ? request_of(Json::object(), {}) : declared;
}

Json response_schema_of(const BotEndpoint& endpoint) {
    return made_of(kAnswers, endpoint.id);
}

}  // namespace interlock
