#include "bots/wire/signup.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "codec/field_reader.h"
#include "host/wire/exchange_keys.h"
#include "host/wire/human.h"
#include "host/wire/mail.h"

namespace interlock {
namespace {

constexpr std::string_view kPlansText = "must be one of trial, standard, pro";

Json schema_of(std::string_view text) {
    auto schema = parse_json(text);
    CHECK(schema.has_value());
    return *std::move(schema);
}

std::size_t depth_of(const Json& json) {
    std::size_t deepest = 0;
    if (json.is_array()) {
        for (const Json& item : json.items()) {
            deepest = std::max(deepest, depth_of(item));
        }
        return deepest + 1;
    }
    if (json.is_object()) {
        for (const auto& [key, value] : json.members()) {
            deepest = std::max(deepest, depth_of(value));
        }
        return deepest + 1;
    }
    return 0;
}

// The first field that is read.
std::string read_email(FieldReader& in) {
    const std::string text = in.required<std::string>("email");
    if (!in.ok()) {
        return {};
    }
    auto email = parse_email(text);
    if (!email || !is_mail_address(*email)) {
        in.add_problem("email", "must be one plain e-mail address, such as owner@example.com");
        return {};
    }
    return *std::move(email);
}

Json read_metadata(FieldReader& in) {
    const Json* metadata = in.optional_object("agent_metadata");
    if (metadata == nullptr) {
        return {};
    }
    if (depth_of(*metadata) > kAgentMetadataDepthMax ||
        to_text(*metadata).size() > kAgentMetadataBytesMax) {
        in.add_problem(
            "agent_metadata",
            "must have at most " + std::to_string(kAgentMetadataBytesMax) + " bytes and " +
                std::to_string(kAgentMetadataDepthMax) + " levels");
        return {};
    }
    return *metadata;
}

std::vector<Symbol> read_symbols(FieldReader& in, const Json::Array& items) {
    std::vector<Symbol> symbols;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const auto symbol = Symbol::parse(items[i].is_string() ? items[i].as_string() : "");
        if (symbol) {
            symbols.push_back(*symbol);
        } else {
            in.add_problem(
                "assets[" + std::to_string(i) + "]", "must be a market, such as BTCUSDT");
        }
    }
    std::sort(symbols.begin(), symbols.end());
    symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
    return symbols;
}

}  // namespace

std::string_view to_word(PlanName plan) {
    return kPlanWords[static_cast<std::size_t>(plan)];
}

std::optional<PlanName> find_plan_name(std::string_view word) {
    const auto found = std::find(kPlanWords.begin(), kPlanWords.end(), word);
    if (found == kPlanWords.end()) {
        return std::nullopt;
    }
    return kPlanNames[static_cast<std::size_t>(found - kPlanWords.begin())];
}

Result<SignupRequest> decode_signup(const Json& json) {
    FieldReader in(json);
    SignupRequest request;
    request.email = read_email(in);
    request.plan = kPlanNames[in.required_word_index("plan", kPlanWords)];
    request.agent_metadata = read_metadata(in);
    in.reject_unknown();
    return in.finish(std::move(request));
}

Json signup_schema() {
    return schema_of(R"({
        "type": "object",
        "additionalProperties": false,
        "required": ["email", "plan"],
        "properties": {
            "email": {"type": "string", "format": "email", "maxLength": 254,
                "description": "The owner's; the activation letter goes there."},
            "plan": {"type": "string", "enum": ["trial", "standard", "pro"],
                "description": "Every plan begins with a trial of 14 days."},
            "agent_metadata": {"type": ["object", "null"],
                "description": "What the agent says of itself; at most 4096 bytes and 8 levels."}
        }})");
}

Json encode(const NewAccount& account) {
    return Json::object({
        {"access_key", Json(account.access_key.reveal())},
        {"tenant_id", account.tenant_id.text()},
        {"status", "pending_activation"},
        {"plan", to_word(account.plan)},
        {"trial_expires", to_text(account.trial_expires)},
        {"key_id", account.key_id.text()},
        {"audit_ref", account.audit_ref},
        {"next",
         "Keep the access key: it is shown this once. Call update_exchange_keys next; the owner "
         "sets a password by the link in the letter we send."},
    });
}

Json new_account_schema() {
    return schema_of(R"({
        "type": "object",
        "required": ["access_key", "tenant_id", "status", "plan", "trial_expires", "key_id",
                     "audit_ref", "next"],
        "properties": {
            "access_key": {"type": "string", "description": "Shown this once."},
            "tenant_id": {"type": "string"},
            "status": {"type": "string", "enum": ["pending_activation"]},
            "plan": {"type": "string"},
            "trial_expires": {"type": "string", "format": "date-time"},
            "key_id": {"type": "string"},
            "audit_ref": {"type": "string"},
            "next": {"type": "string", "description": "What to do now."}
        }})");
}

Json encode(const RegeneratedKey& key) {
    return Json::object({
        {"access_key", Json(key.access_key.reveal())},
        {"message",
         key.replaced_key_id ? "The old key is refused everywhere from now on."
                             : "There was no key of this account to replace; keys made otherwise "
                               "are as they were."},
        {"key_id", key.key_id.text()},
        {"replaced_key_id", key.replaced_key_id ? Json(key.replaced_key_id->text()) : Json()},
        {"audit_ref", key.audit_ref},
    });
}

Json regenerated_key_schema() {
    return schema_of(R"({
        "type": "object",
        "required": ["access_key", "message", "key_id", "replaced_key_id", "audit_ref"],
        "properties": {
            "access_key": {"type": "string", "description": "Shown this once."},
            "message": {"type": "string"},
            "key_id": {"type": "string"},
            "replaced_key_id": {"type": ["string", "null"],
                "description": "The key that is dead now; null when there was none."},
            "audit_ref": {"type": "string"}
        }})");
}

Result<SetPlan> decode_set_plan(const Json& json) {
    FieldReader in(json);
    SetPlan request;
    if (const auto word = in.required_nullable<std::string>("plan")) {
        request.plan = find_plan_name(*word);
        if (!request.plan) {
            in.add_problem("plan", std::string(kPlansText) + ", or null");
        }
    }
    in.reject_unknown();
    return in.finish(request);
}

Json set_plan_schema() {
    return schema_of(R"({
        "type": "object",
        "additionalProperties": false,
        "required": ["plan"],
        "properties": {
            "plan": {"type": ["string", "null"], "enum": ["trial", "standard", "pro", null],
                "description": "Confirmed for good; trial: 14 days from now; null: ends at once."}
        }})");
}

Result<GrantKeys> decode_grant_keys(const Json& json) {
    FieldReader in(json);
    GrantKeys request;
    request.exchange = in.optional_text("exchange", {.length_max = kExchangeLengthMax});
    if (request.exchange && !is_exchange_text(*request.exchange)) {
        in.add_problem("exchange", "must be of a-z, 0-9, '-' and '_'");
    }
    request.life =
        Duration::of_hours(in.optional_integer_or("hours", 1, kGrantHoursMax, kGrantHoursDefault));
    in.reject_unknown();
    return in.finish(std::move(request));
}

Json grant_keys_schema() {
    return schema_of(R"({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "exchange": {"type": ["string", "null"], "maxLength": 32,
                "description": "The exchange whose keys an agent may provision; null: any one."},
            "hours": {"type": ["integer", "null"], "minimum": 1, "maximum": 168, "default": 24,
                "description": "How long it may; once is enough to use it up."}
        }})");
}

Result<SetAssetList> decode_set_asset_list(const Json& json) {
    FieldReader in(json);
    SetAssetList request;
    request.key_id = in.required<KeyId>("key_id");
    const Json* given = json.is_object() ? json.find("assets") : nullptr;
    if (given == nullptr) {
        in.add_problem("assets", "is required (null is allowed)");
    }
    if (const Json::Array* items = in.optional_array("assets", kAssetListMax)) {
        request.assets = read_symbols(in, *items);
    }
    in.reject_unknown();
    return in.finish(std::move(request));
}

Json set_asset_list_schema() {
    return schema_of(R"({
        "type": "object",
        "additionalProperties": false,
        "required": ["key_id", "assets"],
        "properties": {
            "key_id": {"type": "string", "description": "An active access key of this tenant."},
            "assets": {"type": ["array", "null"], "maxItems": 64, "items": {"type": "string"},
                "description": "Markets it may name, such as BTCUSDT; null: any; empty: none."}
        }})");
}

}  // namespace interlock
