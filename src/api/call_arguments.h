// Reads what a caller sent into an ApiCall: declared query parameters, checked as their schema
// says. HTTP and MCP both come through here, so both refuse the same things with the same words.
#pragma once

#include <map>
#include <string>

#include "api/operation.h"

namespace interlock {

// Checks names and integer ranges; unknown names are problems.
Result<void> check_query(
    const Operation& operation, const std::map<std::string, std::string>& query);

// An integer query parameter that check_query() has passed, or `otherwise` when absent.
std::int64_t query_integer(const ApiCall& call, const std::string& name, std::int64_t otherwise);

// SHA-256 hex of the canonical request: operation, tenant and decoded body (SEMANTICS, "what gets
// hashed").
Result<std::string> request_hash(const ApiCall& call, std::string_view operation_id);

}  // namespace interlock
