// The relay's pure checks asked with one JSON object each, as `interlock relay` reads them from its
// input and as the vectors under conformance/vectors are written. docs/contracts/relay-connector.md
// has the fields.
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"
#include "relay/rules/upgrade_token.h"
#include "relay/rules/webhook_signature.h"

namespace interlock {

// {"source": {…}, "options": {…}?} → the key.
Result<std::string> session_key_of_case(const Json& json);

struct TokenCase {
    TokenVerdict verdict = TokenVerdict::rejected;
    std::string payload;  // The gateway id; only with accepted.
};
// {"token": "…", "now": seconds, "secrets": ["…"]}
Result<TokenCase> token_of_case(const Json& json);
// "accept", "expired" or "bad_token".
std::string_view to_word(TokenVerdict verdict);

// {"scheme": "discord-ed25519", …}: the fields are those of the scheme. "now" may be left out: then
// freshness is not judged.
Result<WebhookVerdict> webhook_of_case(const Json& json);

// {"guild_id", "owner_id", "user_id", "member_roles", "roles", "channel_overwrites"} →
// {"view_channel": bool, "permissions": "…"}
Result<Json> permissions_of_case(const Json& json);

}  // namespace interlock
