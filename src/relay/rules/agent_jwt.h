// The second credential of a gateway: a token of a configured issuer, signed with RS256, whose
// audience is agent:{instanceId}. Nothing in the token chooses how it is checked: the algorithm is
// pinned, the key is found by kid among the issuer's, and a token without an expiry is refused.
// docs/contracts/relay-connector.md#issuers-token
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/platform_crypto.h"
#include "base/result.h"

namespace interlock {

inline constexpr std::size_t kJwtBytesMax = 16 * 1024;
inline constexpr std::size_t kJwksKeysMax = 32;
inline constexpr std::int64_t kJwtSkewSeconds = 60;

struct JwtKey {
    std::string kid;
    RsaPublicKey key;
};
// The RSA signing keys of a JWKS document; keys of other kinds are left out.
Result<std::vector<JwtKey>> decode_jwks(const Json& json);

struct JwtRules {
    std::string issuer;
    std::string audience;  // See agent_audience().
    std::vector<JwtKey> keys;
    std::int64_t now_seconds = 0;
};
std::string agent_audience(std::string_view instance_id);

enum class JwtProblem {
    malformed,
    wrong_algorithm,
    unknown_key,
    bad_signature,
    wrong_issuer,
    wrong_audience,
    no_expiry,
    expired,
    not_yet_valid,
};
std::string_view to_word(JwtProblem problem);

// The claims of a token that is good in every respect.
std::expected<Json, JwtProblem> verify_jwt(std::string_view token, const JwtRules& rules);

}  // namespace interlock
