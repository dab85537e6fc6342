// Timeframes: their words and where their spans begin.
#include "contracts/market/candle.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace interlock {
namespace {

TEST(Timeframe, EveryWordIsReadBack) {
    for (const Timeframe timeframe : kTimeframes) {
        EXPECT_EQ(parse_timeframe(to_word(timeframe)).value(), timeframe);
    }
}

TEST(Timeframe, RefusesAWordItDoesNotKnow) {
    EXPECT_FALSE(parse_timeframe("2h").has_value());
    EXPECT_FALSE(parse_timeframe("1H").has_value());
    EXPECT_FALSE(parse_timeframe("").has_value());
}

TEST(Timeframe, SpansBeginAtWholeMultiplesOfTheEpoch) {
    const Timestamp at = parse_timestamp("2026-11-15T07:37:48.123Z").value();
    EXPECT_EQ(to_text(span_start(Timeframe::m1, at)), "2026-11-15T07:37:00.000Z");
    EXPECT_EQ(to_text(span_start(Timeframe::m15, at)), "2026-11-15T07:30:00.000Z");
    EXPECT_EQ(to_text(span_start(Timeframe::h4, at)), "2026-11-15T04:00:00.000Z");
    EXPECT_EQ(to_text(span_start(Timeframe::d1, at)), "2026-11-15T00:00:00.000Z");
}

TEST(Timeframe, EveryTimeLiesInItsSpan) {
    EXPECT_TRUE(rc::check([](std::int32_t seconds, std::uint16_t microseconds) {
        const Timestamp at{std::int64_t{seconds} * 1'000'000 + microseconds};
        for (const Timeframe timeframe : kTimeframes) {
            const Timestamp start = span_start(timeframe, at);
            RC_ASSERT(start <= at);
            RC_ASSERT(at < start + length_of(timeframe));
            RC_ASSERT(span_start(timeframe, start) == start);
        }
    }));
}

}  // namespace
}  // namespace interlock
