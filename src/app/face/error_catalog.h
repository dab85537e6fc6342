// Every kind of error that the server can answer with. The list is made at build time from where
// the kinds are declared (cmake/error_kinds.cmake), so none can be missing or stale.
#pragma once

#include <span>

#include "base/json.h"
#include "base/result.h"

namespace interlock {

// In the order of the rooms and their files.
std::span<const ErrorKind* const> error_kinds();

// {"errors": [{"code", "status", "retryable", "next_step"}]}, by code. A code that is also told
// inside an answer of success (status 200) stands there twice.
Json error_catalog();
Json error_catalog_schema();

}  // namespace interlock
