#include "host/wire/exchange_keys.h"

#include <algorithm>

#include "base/check.h"
#include "codec/field_reader.h"
#include "host/wire/call_key.h"

namespace interlock {
namespace {

struct PermissionField {
    std::string_view name;
    bool KeyPermissions::* member;
};

constexpr std::array<PermissionField, 10> kFields = {{
    {"can_read", &KeyPermissions::can_read},
    {"can_trade_spot", &KeyPermissions::can_trade_spot},
    {"can_withdraw", &KeyPermissions::can_withdraw},
    {"can_transfer_internal", &KeyPermissions::can_transfer_internal},
    {"can_transfer_universal", &KeyPermissions::can_transfer_universal},
    {"can_margin", &KeyPermissions::can_margin},
    {"can_futures", &KeyPermissions::can_futures},
    {"can_options", &KeyPermissions::can_options},
    {"can_portfolio_margin", &KeyPermissions::can_portfolio_margin},
    {"is_ip_restricted", &KeyPermissions::is_ip_restricted},
}};

bool is_visible(char c) {
    return c > ' ' && c < 0x7F;
}

// A private key in PEM has lines and its first one has spaces.
bool is_secret_character(char c) {
    return is_visible(c) || c == ' ' || c == '\n' || c == '\r';
}

bool consists_of(const SecretString& secret, bool (*allowed)(char)) {
    const std::string_view text = secret.reveal();
    return std::all_of(text.begin(), text.end(), allowed);
}

}  // namespace

bool is_exchange_text(std::string_view text) {
    return !text.empty() && text.size() <= kExchangeLengthMax &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
           });
}

ExchangeKeys ExchangeKeys::clone() const {
    ExchangeKeys copy;
    copy.exchange = exchange;
    copy.api_key = api_key.clone();
    copy.api_secret = api_secret.clone();
    if (api_password) {
        copy.api_password = api_password->clone();
    }
    return copy;
}

Result<ExchangeKeys> decode_exchange_keys(const Json& json) {
    FieldReader in(json);
    ExchangeKeys keys;
    keys.exchange = in.required_text("exchange", {.length_max = kExchangeLengthMax});
    keys.api_key = SecretString(in.required_text("api_key", {.length_max = kApiKeyLengthMax}));
    keys.api_secret =
        SecretString(in.required_text("api_secret", {.length_max = kApiSecretLengthMax}));
    if (auto password = in.optional_text("api_password", {.length_max = kApiPasswordLengthMax})) {
        keys.api_password.emplace(*std::move(password));
    }
    // Each only when the field was read at all: one problem per field.
    if (!keys.exchange.empty() && !is_exchange_text(keys.exchange)) {
        in.add_problem("exchange", "must be of a-z, 0-9, '-' and '_'");
    }
    if (!consists_of(keys.api_key, is_visible)) {
        in.add_problem("api_key", "must be visible ASCII characters without spaces");
    }
    if (!consists_of(keys.api_secret, is_secret_character)) {
        in.add_problem("api_secret", "must be ASCII text");
    }
    if (keys.api_password && !consists_of(*keys.api_password, is_secret_character)) {
        in.add_problem("api_password", "must be ASCII text");
    }
    take_idempotency_key(in);
    in.reject_unknown();
    return in.finish(std::move(keys));
}

Json exchange_keys_schema() {
    auto schema = parse_json(R"({
        "type": "object",
        "additionalProperties": false,
        "required": ["exchange", "api_key", "api_secret"],
        "properties": {
            "exchange": {"type": "string", "maxLength": 32, "pattern": "^[a-z0-9_-]{1,32}$",
                "description": "paper, or a real one that the owner granted."},
            "api_key": {"type": "string", "writeOnly": true, "minLength": 1, "maxLength": 512,
                "description": "It must not be able to withdraw."},
            "api_secret": {"type": "string", "format": "password", "writeOnly": true,
                "minLength": 1, "maxLength": 4096, "description": "Never answered again."},
            "api_password": {"type": ["string", "null"], "format": "password", "writeOnly": true,
                "minLength": 1, "maxLength": 512,
                "description": "The passphrase, for venues that ask for one."}
        }})");
    CHECK(schema.has_value());
    return *std::move(schema);
}

Json encode(const KeyPermissions& permissions) {
    Json json = Json::object();
    for (const PermissionField& field : kFields) {
        json.set(std::string(field.name), Json(permissions.*field.member));
    }
    json.set(
        "expires_at", permissions.expires_at ? Json(to_text(*permissions.expires_at)) : Json());
    return json;
}

// Every permission has to be stated: one that is missing must not read as "may not" (I5).
Result<KeyPermissions> decode_key_permissions(const Json& json) {
    FieldReader in(json);
    KeyPermissions permissions;
    for (const PermissionField& field : kFields) {
        permissions.*field.member = in.required<bool>(field.name);
    }
    permissions.expires_at = in.required_nullable<Timestamp>("expires_at");
    in.reject_unknown();
    return in.finish(std::move(permissions));
}

Json key_permissions_schema() {
    Json required = Json::array();
    Json properties = Json::object();
    for (const PermissionField& field : kFields) {
        required.push(field.name);
        properties.set(std::string(field.name), Json::object({{"type", "boolean"}}));
    }
    required.push("expires_at");
    properties.set(
        "expires_at",
        Json::object({{"type", Json::array({"string", "null"})}, {"format", "date-time"}}));
    return Json::object(
        {{"type", "object"},
         {"required", std::move(required)},
         {"properties", std::move(properties)}});
}

KeyPermissions good_spot_permissions() {
    KeyPermissions permissions;
    permissions.can_read = true;
    permissions.can_trade_spot = true;
    permissions.is_ip_restricted = true;
    return permissions;
}

}  // namespace interlock
