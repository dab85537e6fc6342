// Points in time and durations as plain values: microseconds since 1970 UTC.
//
// Nothing here reads a clock; "now" comes from engine/ports/clock.h or inside an event. On the wire
// a time is RFC 3339 in UTC with `Z` and milliseconds ("2026-11-15T07:37:48.123Z").
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace interlock {

struct Duration {
    std::int64_t microseconds = 0;

    static constexpr Duration of_milliseconds(std::int64_t n) { return {n * 1000}; }
    static constexpr Duration of_seconds(std::int64_t n) { return {n * 1'000'000}; }
    static constexpr Duration of_minutes(std::int64_t n) { return of_seconds(n * 60); }
    static constexpr Duration of_hours(std::int64_t n) { return of_minutes(n * 60); }
    static constexpr Duration of_days(std::int64_t n) { return of_hours(n * 24); }

    friend constexpr auto operator<=>(const Duration&, const Duration&) = default;
};

struct Timestamp {
    std::int64_t microseconds = 0;  // Since 1970-01-01T00:00:00Z.

    friend constexpr auto operator<=>(const Timestamp&, const Timestamp&) = default;
};

constexpr Timestamp operator+(Timestamp at, Duration span) {
    return {at.microseconds + span.microseconds};
}
constexpr Timestamp operator-(Timestamp at, Duration span) {
    return {at.microseconds - span.microseconds};
}
constexpr Duration operator-(Timestamp later, Timestamp earlier) {
    return {later.microseconds - earlier.microseconds};
}

// RFC 3339 with `Z` and exactly three decimals; the microseconds below are cut, not rounded. A time
// outside the years 0000 to 9999 gives the text of the nearest one inside.
std::string to_text(Timestamp at);

// Accepts any RFC 3339 offset and 0 to 9 decimals (below the microsecond they are cut); in UTC the
// years 1970 to 9999. Leap seconds (:60) refused.
Result<Timestamp> parse_timestamp(std::string_view text);

// Start of the UTC day that holds `at`.
Timestamp utc_day_start(Timestamp at);

}  // namespace interlock
