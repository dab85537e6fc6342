// The generic kinds of failure. A contract adds its own beside its types.
#pragma once

#include "base/result.h"

namespace interlock::errors {

inline constexpr ErrorKind invalid_json{
    "invalid_json", 400, false, "Send one JSON document in UTF-8 without duplicate keys."};
inline constexpr ErrorKind invalid_request{
    "invalid_request", 422, false, "Correct the named fields and send the request again."};
inline constexpr ErrorKind body_too_large{"body_too_large", 413, false, "Send a smaller request."};
inline constexpr ErrorKind unauthenticated{
    "unauthenticated", 401, false, "Send a valid credential for this tenant."};
inline constexpr ErrorKind forbidden{
    "forbidden", 403, false, "Ask someone who holds the needed role to make this call."};
inline constexpr ErrorKind not_found{
    "not_found", 404, false, "Check the id; list the collection to see what exists."};
inline constexpr ErrorKind conflict{
    "conflict", 409, true, "Read the current state and decide again."};
inline constexpr ErrorKind overloaded{
    "overloaded", 503, true, "Wait for Retry-After seconds, then send the same request again."};
inline constexpr ErrorKind rate_limited{
    "rate_limited", 429, true, "Wait for Retry-After seconds, then send the same request again."};
inline constexpr ErrorKind unavailable{
    "unavailable", 503, true, "Send the same request again with the same idempotency key."};
inline constexpr ErrorKind timed_out{
    "timed_out", 504, true, "Send the same request again with the same idempotency key."};
inline constexpr ErrorKind io_failed{
    "io_failed", 500, true, "Check disk space and permissions of the data folder."};
inline constexpr ErrorKind corrupt_data{
    "corrupt_data", 500, false, "Run `interlock audit verify` and restore from a backup."};
inline constexpr ErrorKind out_of_range{
    "out_of_range", 422, false, "Use a value inside the stated range."};
inline constexpr ErrorKind crypto_failed{
    "crypto_failed", 500, false, "Check that the key file belongs to this data folder."};
inline constexpr ErrorKind invalid_config{
    "invalid_config", 500, false, "Correct the configuration; `interlock config show` helps."};
inline constexpr ErrorKind internal{
    "internal", 500, false, "Report this with the log lines around it."};

}  // namespace interlock::errors
