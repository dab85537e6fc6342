#include "market/wire/candle.h"

#include <algorithm>

#include "base/errors.h"

namespace interlock {
namespace {

// By the number of the timeframe. All are whole minutes and whole parts of a day.
constexpr std::array<Duration, kTimeframes.size()> kLengths{
    Duration::of_minutes(1),
    Duration::of_minutes(3),
    Duration::of_minutes(5),
    Duration::of_minutes(15),
    Duration::of_minutes(30),
    Duration::of_hours(1),
    Duration::of_hours(2),
    Duration::of_hours(4),
    Duration::of_hours(6),
    Duration::of_hours(12),
    Duration::of_days(1),
};

}  // namespace

std::string_view to_word(Timeframe timeframe) {
    return kTimeframeWords[static_cast<std::size_t>(timeframe)];
}

Result<Timeframe> parse_timeframe(std::string_view word) {
    const auto found = std::find(kTimeframeWords.begin(), kTimeframeWords.end(), word);
    if (found == kTimeframeWords.end()) {
        return fail(
            errors::invalid_request,
            "A timeframe is one of 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 6h, 12h and 1d.");
    }
    return kTimeframes[static_cast<std::size_t>(found - kTimeframeWords.begin())];
}

Duration length_of(Timeframe timeframe) {
    return kLengths[static_cast<std::size_t>(timeframe)];
}

Timestamp span_start(Timeframe timeframe, Timestamp at) {
    const std::int64_t length = length_of(timeframe).microseconds;
    const std::int64_t into = at.microseconds % length;
    // Before the epoch the remainder is negative; the span still begins before `at`.
    return {at.microseconds - into - (into < 0 ? length : 0)};
}

}  // namespace interlock
