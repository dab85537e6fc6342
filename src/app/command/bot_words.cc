#include "app/command/bot_words.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/errors.h"
#include "base/text.h"

namespace interlock {
namespace {

using Kind = BotOption::Kind;

// Shorter than the rule would have them, and known so.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kShort{{
    {"update_exchange_keys", "keys"},
    {"account_login", "login"},
    {"account_status", "account"},
}};
constexpr std::array<std::string_view, 6> kNeverTyped{
    "idempotency_key", "api_key", "api_secret", "api_password", "password", "totp"};

std::string flag_of(std::string_view field) {
    std::string flag = "--";
    for (const char c : field) {
        flag += c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return flag;
}

bool is_word(const Json& json, std::string_view word) {
    return json.is_string() && json.as_string() == word;
}

bool has_word(const Json& list, std::string_view word) {
    return std::ranges::any_of(list.items(), [&](const Json& one) { return is_word(one, word); });
}

bool has_type(const Json& property, std::string_view type) {
    const Json* const types = property.find("type");
    return types != nullptr && (types->is_array() ? has_word(*types, type) : is_word(*types, type));
}

Kind kind_of(const Json& property) {
    constexpr std::array<std::pair<std::string_view, Kind>, 5> kKinds{{
        {"object", Kind::map},
        {"array", Kind::list},
        {"boolean", Kind::flag},
        {"integer", Kind::integer},
        {"number", Kind::number},
    }};
    for (const auto& [type, kind] : kKinds) {
        if (has_type(property, type)) {
            return kind;
        }
    }
    return Kind::text;
}

bool is_required(const Json& schema, std::string_view field) {
    const Json* const required = schema.find("required");
    return required != nullptr && has_word(*required, field);
}

std::unexpected<Error> bad_value(const BotOption& option, std::string_view expected) {
    return fail(errors::invalid_request, option.flag + " takes " + std::string(expected) + ".");
}

Json value_in_map(std::string_view typed) {
    if (typed == "true" || typed == "false") {
        return typed == "true";
    }
    return typed == "null" ? Json() : Json(typed);
}

bool is_in_path(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '/';
}

const BotEndpoint* endpoint_at(std::string_view path) {
    const auto all = bot_endpoints();
    const auto found = std::ranges::find(all, path, &BotEndpoint::path);
    return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::string bot_word(const BotEndpoint& endpoint) {
    const auto* const known = std::ranges::find(
        kShort, endpoint.id, &std::pair<std::string_view, std::string_view>::first);
    if (known != kShort.end()) {
        return std::string(known->second);
    }
    std::string word;
    for (const std::string_view part : split(endpoint.id, '_')) {
        if (part != "bot") {
            word += (word.empty() ? "" : "-") + std::string(part);
        }
    }
    return word;
}

bool is_human_word(const BotEndpoint& endpoint) {
    return endpoint.agent == AgentUse::no || endpoint.agent == AgentUse::proposal_only;
}

std::vector<BotOption> bot_options(const BotEndpoint& endpoint) {
    std::vector<BotOption> options;
    for (const BotField& field : endpoint.parameters) {
        options.push_back(
            {std::string(field.name),
             flag_of(field.name),
             Kind::integer,
             "How many of the latest; 1 to 2000.",
             false});
    }
    const Json schema = request_schema_of(endpoint);
    const Json* const properties = schema.is_object() ? schema.find("properties") : nullptr;
    if (properties == nullptr) {
        return options;
    }
    for (const auto& [field, property] : properties->members()) {
        const Kind kind = kind_of(property);
        const bool is_free = kind == Kind::map && endpoint.platform_level;  // An agent's own facts.
        if (std::ranges::count(kNeverTyped, field) > 0 || is_free) {
            continue;
        }
        const Json* const about = property.find("description");
        options.push_back(
            {field,
             flag_of(field),
             kind,
             about == nullptr ? std::string() : about->as_string(),
             is_required(schema, field)});
    }
    return options;
}

Result<Json> bot_value(const BotOption& option, const std::string& typed) {
    switch (option.kind) {
        case Kind::text:
        case Kind::number:  // As text: no digit is lost on the way.
            return Json(typed);
        case Kind::flag:
            return Json(true);
        case Kind::integer: {
            const auto json = parse_json(typed);
            const auto number = json ? json->as_int64() : std::nullopt;
            if (!number) {
                return bad_value(option, "a whole number");
            }
            return Json(*number);
        }
        case Kind::list: {
            Json list = Json::array();
            for (const std::string_view item : split(typed, ',')) {
                list.push(trim(item));
            }
            return list;
        }
        case Kind::map:
            break;
    }
    Json map = Json::object();
    for (const std::string_view item : split(typed, ',')) {
        const std::size_t equals = item.find('=');
        if (equals == std::string_view::npos || equals == 0) {
            return bad_value(option, "pairs such as BTCUSDT=0.1,ETHUSDT=2");
        }
        map.set(
            std::string(trim(item.substr(0, equals))), value_in_map(trim(item.substr(equals + 1))));
    }
    return map;
}

std::string in_bot_words(std::string_view text) {
    std::string spoken;
    while (!text.empty()) {
        const bool begins = text.front() == '/' && (spoken.empty() || spoken.back() == ' ');
        const auto end = std::ranges::find_if_not(text, is_in_path);
        const std::string_view path =
            begins ? text.substr(0, static_cast<std::size_t>(end - text.begin())) : "";
        const BotEndpoint* const endpoint = path.empty() ? nullptr : endpoint_at(path);
        if (endpoint == nullptr) {
            spoken += text.front();
            text.remove_prefix(1);
            continue;
        }
        const std::string method = std::string(endpoint->method) + " ";
        if (spoken.ends_with(method)) {
            spoken.resize(spoken.size() - method.size());
        }
        spoken += "`interlock bot " + bot_word(*endpoint) + "`";
        text.remove_prefix(path.size());
    }
    return spoken;
}

}  // namespace interlock
