#include "relay/rules/agent_jwt.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/bytes.h"
#include "base/errors.h"
#include "base/text.h"

namespace interlock {
namespace {

bool has_text(const Json& json, std::string_view key, std::string_view expected) {
    const Json* const value = json.find(key);
    return value != nullptr && value->is_string() && value->as_string() == expected;
}

bool is_absent_or(const Json& json, std::string_view key, std::string_view expected) {
    return json.find(key) == nullptr || has_text(json, key, expected);
}

std::optional<std::string> number_bytes(const Json& json, std::string_view key) {
    const Json* const value = json.find(key);
    if (value == nullptr || !value->is_string()) {
        return std::nullopt;
    }
    auto bytes = from_base64url(value->as_string());
    return bytes ? std::optional(*std::move(bytes)) : std::nullopt;
}

std::optional<Json> read_part(std::string_view part) {
    const auto text = from_base64url(part);
    if (!text) {
        return std::nullopt;
    }
    auto json = parse_json(*text);
    return json && json->is_object() ? std::optional(*std::move(json)) : std::nullopt;
}

// Unix seconds; fractions, which some issuers write, are cut.
std::optional<std::int64_t> seconds_at(const Json& json, std::string_view key) {
    const Json* const value = json.find(key);
    if (value == nullptr || !value->is_number()) {
        return std::nullopt;
    }
    const std::string& text = value->number_text();
    const std::size_t point = text.find('.');
    if (text.find_first_of("eE") != std::string::npos) {
        return std::nullopt;
    }
    return Json::number(text.substr(0, point)).as_int64();
}

bool names_audience(const Json& claims, const std::string& audience) {
    const Json* const value = claims.find("aud");
    if (value == nullptr) {
        return false;
    }
    if (value->is_string()) {
        return value->as_string() == audience;
    }
    return value->is_array() && std::ranges::any_of(value->items(), [&](const Json& item) {
               return item.is_string() && item.as_string() == audience;
           });
}

std::optional<JwtProblem> judge_claims(const Json& claims, const JwtRules& rules) {
    if (rules.issuer.empty() || !has_text(claims, "iss", rules.issuer)) {
        return JwtProblem::wrong_issuer;
    }
    if (rules.audience.empty() || !names_audience(claims, rules.audience)) {
        return JwtProblem::wrong_audience;
    }
    const auto expiry = seconds_at(claims, "exp");
    if (!expiry) {
        return JwtProblem::no_expiry;
    }
    if (rules.now_seconds - kJwtSkewSeconds > *expiry) {
        return JwtProblem::expired;
    }
    const auto not_before = seconds_at(claims, "nbf");
    if (claims.find("nbf") != nullptr &&
        (!not_before || *not_before > rules.now_seconds + kJwtSkewSeconds)) {
        return JwtProblem::not_yet_valid;
    }
    return std::nullopt;
}

}  // namespace

Result<std::vector<JwtKey>> decode_jwks(const Json& json) {
    const Json* const list = json.find("keys");
    if (list == nullptr || !list->is_array() || list->items().size() > kJwksKeysMax) {
        return fail(
            errors::invalid_request,
            "A key set holds a list of at most " + std::to_string(kJwksKeysMax) + " keys.");
    }
    std::vector<JwtKey> keys;
    for (const Json& item : list->items()) {
        const Json* const kid = item.find("kid");
        auto modulus = number_bytes(item, "n");
        auto exponent = number_bytes(item, "e");
        if (has_text(item, "kty", "RSA") && is_absent_or(item, "use", "sig") &&
            is_absent_or(item, "alg", "RS256") && kid != nullptr && kid->is_string() && modulus &&
            exponent) {
            keys.push_back({kid->as_string(), {*std::move(modulus), *std::move(exponent)}});
        }
    }
    return keys;
}

std::string agent_audience(std::string_view instance_id) {
    return instance_id.empty() ? std::string() : "agent:" + std::string(instance_id);
}

std::string_view to_word(JwtProblem problem) {
    static constexpr std::array<std::string_view, 9> kWords = {
        "malformed",
        "wrong_algorithm",
        "unknown_key",
        "bad_signature",
        "wrong_issuer",
        "wrong_audience",
        "no_expiry",
        "expired",
        "not_yet_valid"};
    return kWords[static_cast<std::size_t>(problem)];
}

std::expected<Json, JwtProblem> verify_jwt(std::string_view token, const JwtRules& rules) {
    const auto parts = split(token, '.');
    if (token.size() > kJwtBytesMax || parts.size() != 3) {
        return std::unexpected(JwtProblem::malformed);
    }
    const auto header = read_part(parts[0]);
    auto claims = read_part(parts[1]);
    const auto signature = from_base64url(parts[2]);
    if (!header || !claims || !signature) {
        return std::unexpected(JwtProblem::malformed);
    }
    // "crit" names extensions that must be understood; we understand none.
    if (!has_text(*header, "alg", "RS256") || header->find("crit") != nullptr) {
        return std::unexpected(JwtProblem::wrong_algorithm);
    }
    const auto key = std::ranges::find_if(rules.keys, [&](const JwtKey& candidate) {
        return has_text(*header, "kid", candidate.kid);
    });
    if (key == rules.keys.end()) {
        return std::unexpected(JwtProblem::unknown_key);
    }
    const std::string_view message = token.substr(0, parts[0].size() + 1 + parts[1].size());
    if (!rs256_verify(key->key, message, *signature)) {
        return std::unexpected(JwtProblem::bad_signature);
    }
    if (const auto problem = judge_claims(*claims, rules)) {
        return std::unexpected(*problem);
    }
    return *std::move(claims);
}

}  // namespace interlock
