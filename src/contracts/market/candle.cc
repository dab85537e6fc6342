#include "contracts/market/candle.h"

#include <algorithm>

#include "base/errors.h"

namespace interlock {
namespace {

struct Named {
    std::string_view word;
    Duration length;
};
// By the number of the timeframe.
constexpr std::array<Named, kTimeframes.size()> kNamed{{
    {"1m", Duration::of_minutes(1)},
    {"5m", Duration::of_minutes(5)},
    {"15m", Duration::of_minutes(15)},
    {"1h", Duration::of_hours(1)},
    {"4h", Duration::of_hours(4)},
    {"1d", Duration::of_days(1)},
}};

}  // namespace

std::string_view to_word(Timeframe timeframe) {
    return kNamed[static_cast<std::size_t>(timeframe)].word;
}

Result<Timeframe> parse_timeframe(std::string_view word) {
    const auto found = std::find_if(
        kNamed.begin(), kNamed.end(), [&](const Named& at) { return at.word == word; });
    if (found == kNamed.end()) {
        return fail(errors::invalid_request, "A timeframe is one of 1m, 5m, 15m, 1h, 4h and 1d.");
    }
    return kTimeframes[static_cast<std::size_t>(found - kNamed.begin())];
}

Duration length_of(Timeframe timeframe) {
    return kNamed[static_cast<std::size_t>(timeframe)].length;
}

Timestamp span_start(Timeframe timeframe, Timestamp at) {
    const std::int64_t length = length_of(timeframe).microseconds;
    const std::int64_t into = at.microseconds % length;
    // Before the epoch the remainder is negative; the span still begins before `at`.
    return {at.microseconds - into - (into < 0 ? length : 0)};
}

}  // namespace interlock
