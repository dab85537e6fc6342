// The JSON schemas of the control operations, for OpenAPI.
#include "base/check.h"
#include "loop/wire/control.h"

namespace interlock {
namespace {

Json schema_of(std::string_view text) {
    auto schema = parse_json(text);
    CHECK(schema.has_value());
    return *std::move(schema);
}

Json limit_changes_schema() {
    Json properties = Json::object();
    for (const LimitSpec& spec : limit_specs()) {
        Json one = schema_of(R"({"type": ["string", "number"]})");
        one.set(
            "description",
            std::string(spec.meaning) + " From " + std::string(spec.min) + " to " +
                std::string(spec.max) + ".");
        properties.set(std::string(spec.name), std::move(one));
    }
    Json schema = schema_of(
        R"({"type": "object", "additionalProperties": false, "minProperties": 1,
            "description": "New values by the name of the limit; get_limits lists the names."})");
    schema.set("properties", std::move(properties));
    return schema;
}

// What an operation takes besides key, account and reason.
Json own_properties(std::string_view id) {
    if (id == "change_limits") {
        return Json::object({{"changes", limit_changes_schema()}});
    }
    if (id == "set_mode") {
        return schema_of(R"({"mode": {"enum": ["paper", "shadow", "live"],
            "description": "Where orders go from now on."}})");
    }
    if (id == "set_trading") {
        return schema_of(R"({"enabled": {"type": "boolean",
            "description": "False: no order but cancels passes the gates."}})");
    }
    if (id == "put_strategy") {
        return schema_of(R"({
            "strategy_id": {"type": "string", "maxLength": 128,
                "description": "What intents name as strategy_id."},
            "is_active": {"type": "boolean", "description": "Inactive ones pass no gate."},
            "max_staleness_sec": {"type": ["string", "number", "null"],
                "description": "Tighter than the account's limit of this name, or without effect."},
            "max_spread_bps": {"type": ["string", "number", "null"],
                "description": "Likewise."},
            "max_vol_1m": {"type": ["string", "number", "null"], "description": "Likewise."}})");
    }
    if (id == "enable_strategy") {
        return schema_of(R"({"strategy_id": {"type": "string", "maxLength": 128,
            "description": "A strategy that the throttle disabled."}})");
    }
    if (id == "change_universe") {
        return schema_of(R"({
            "add": {"type": ["array", "null"], "items": {"type": "string"}, "maxItems": 64,
                "description": "Symbols to approve; needs an approval."},
            "remove": {"type": ["array", "null"], "items": {"type": "string"}, "maxItems": 64,
                "description": "Symbols to withdraw; at once."}})");
    }
    if (id == "transfer_treasury") {
        return schema_of(R"({
            "from": {"enum": ["trading", "ops_reserve", "profit"], "description": "Source book."},
            "to": {"enum": ["trading", "ops_reserve", "profit"], "description": "Target book."},
            "amount": {"type": ["string", "number"],
                "description": "In the account's quote currency; positive."}})");
    }
    if (id == "book_cost") {
        return schema_of(R"({
            "kind": {"enum": ["model", "infra", "data", "ops"],
                "description": "What was paid for."},
            "amount": {"type": ["string", "number"],
                "description": "In the account's quote currency; positive."}})");
    }
    if (id == "confirm_external_flow") {
        return schema_of(R"({
            "asset": {"type": "string", "maxLength": 20,
                "description": "The asset whose balance changed without an order of ours."},
            "price": {"type": ["string", "number", "null"],
                "description": "Quote per unit; leave out for the market's mid."}})");
    }
    if (id == "suppress_alert") {
        return schema_of(R"({
            "event": {"type": "string", "maxLength": 64,
                "description": "The event as the audit record names it."},
            "hours": {"type": "integer", "minimum": 1, "maximum": 168,
                "description": "How long it stays out of the feed once approved."}})");
    }
    CHECK(id == "open_account" || id == "resume_recovery" || id == "reset_drawdown");
    return Json::object();
}

bool is_optional(std::string_view key) {
    for (const std::string_view optional :
         {"account_id",
          "reason",
          "max_staleness_sec",
          "max_spread_bps",
          "max_vol_1m",
          "add",
          "remove",
          "price"}) {
        if (key == optional) {
            return true;
        }
    }
    return false;
}

}  // namespace

Json control_schema(std::string_view operation_id) {
    const bool opens = operation_id == "open_account";
    Json properties = own_properties(operation_id);
    properties.set("idempotency_key", schema_of(R"({"type": "string", "minLength": 1,
        "maxLength": 128,
        "description": "Reuse the same key to repeat this very call; a new key is a new call."})"));
    properties.set(
        "account_id",
        opens ? schema_of(R"({"type": "string", "minLength": 1, "maxLength": 64,
                    "pattern": "^[A-Za-z0-9_-]+$",
                    "description": "The new account's name: letters, digits, - and _."})")
              : schema_of(R"({"type": ["string", "null"], "maxLength": 128,
                    "description": "Leave out for the tenant's main account."})"));
    properties.set("reason", schema_of(R"({"type": ["string", "null"], "maxLength": 500,
        "description": "Why; goes into the audit record."})"));
    Json required = Json::array();
    for (const auto& [key, schema] : properties.members()) {
        if (!is_optional(key) || (opens && key == "account_id")) {
            required.push(key);
        }
    }
    return Json::object({
        {"type", "object"},
        {"additionalProperties", false},
        {"required", std::move(required)},
        {"properties", std::move(properties)},
    });
}

}  // namespace interlock
