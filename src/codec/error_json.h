// The one shape of an error on every face: code, one sentence, safe to retry or not, next step.
#pragma once

#include "base/json.h"
#include "base/result.h"

namespace interlock {

// {"code", "message", "retryable", "next_step"} and, when there are any, "problems".
Json encode(const Error& error);
// {"error": encode(error)}, the body of a 4xx or 5xx.
Json encode_error_body(const Error& error);
// JSON Schema of encode_error_body().
Json error_body_schema();
Json error_item_schema();

}  // namespace interlock
