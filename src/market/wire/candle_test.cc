// Timeframes: their words and where their spans begin.
#include "market/wire/candle.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

namespace interlock {
namespace {

TEST(Timeframe, EveryWordIsReadBack) {
    for (const Timeframe timeframe : kTimeframes) {
        EXPECT_EQ(parse_timeframe(to_word(timeframe)).value(), timeframe);
    }
}

TEST(Timeframe, RefusesAWordItDoesNotKnow) {
    EXPECT_FALSE(parse_timeframe("8h").has_value());
    EXPECT_FALSE(parse_timeframe("1H").has_value());
    EXPECT_FALSE(parse_timeframe("").has_value());
}

TEST(Timeframe, LengthsAscendAndAreWhatTheirWordsSay) {
    for (std::size_t i = 1; i < kTimeframes.size(); ++i) {
        EXPECT_LT(length_of(kTimeframes[i - 1]), length_of(kTimeframes[i]));
    }
    for (const Timeframe timeframe : kTimeframes) {
        const std::string word(to_word(timeframe));
        const std::int64_t count = std::stoll(word);
        const Duration unit = word.back() == 'm'   ? Duration::of_minutes(1)
                              : word.back() == 'h' ? Duration::of_hours(1)
                                                   : Duration::of_days(1);
        EXPECT_EQ(length_of(timeframe).microseconds, count * unit.microseconds) << word;
    }
}

TEST(Timeframe, SpansBeginAtWholeMultiplesOfTheEpoch) {
    const Timestamp at = parse_timestamp("2026-11-15T07:37:48.123Z").value();
    EXPECT_EQ(to_text(span_start(Timeframe::m1, at)), "2026-11-15T07:37:00.000Z");
    EXPECT_EQ(to_text(span_start(Timeframe::m15, at)), "2026-11-15T07:30:00.000Z");
    EXPECT_EQ(to_text(span_start(Timeframe::h4, at)), "2026-11-15T04:00:00.000Z");
    EXPECT_EQ(to_text(span_start(Timeframe::h6, at)), "2026-11-15T06:00:00.000Z");
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
