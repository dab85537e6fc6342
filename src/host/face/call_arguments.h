// Reads what a caller sent into an ApiCall: declared query parameters, checked as their schema
// says. HTTP and MCP both come through here, so both refuse the same things with the same words.
#pragma once

#include <map>
#include <string>

#include "host/face/operation.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind looks_like_secret{
    "looks_like_secret",
    400,
    false,
    "Send an id of your own instead. If this was a real key, revoke it where it came from: it has "
    "left its place."};
}  // namespace errors

// The door of secrets: what a caller wrote is judged here, before anything is made of it, so that
// no record, artifact, state or log ever holds a credential (audit-ledger.md#1-the-record). Free
// text is masked. An id with a known key's shape is refused, never masked, since two masked ids
// would be one; only a stop goes through all the same, with the id replaced by its digest. Secrets
// that the operation's schema asks for (a password, an exchange key) are left as they are.
Result<void> judge_secrets(const Operation& operation, ApiCall& call);

// Checks names and integer ranges; unknown names are problems.
Result<void> check_query(
    const Operation& operation, const std::map<std::string, std::string>& query);

// An integer query parameter that check_query() has passed, or `otherwise` when absent.
std::int64_t query_integer(const ApiCall& call, const std::string& name, std::int64_t otherwise);

// SHA-256 hex of the canonical request: operation, tenant and decoded body
// (turns.md#1-idempotency).
Result<std::string> request_hash(const ApiCall& call, std::string_view operation_id);

}  // namespace interlock
