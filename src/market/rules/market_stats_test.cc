// Statistics of quotes: worked examples, windows and their edges.
#include "market/rules/market_stats.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "market/rules/synthetic_market.h"
#include "testing/account_builders.h"

namespace interlock {
namespace {

constexpr std::int64_t kNoonStep = 7'178'976'000;
constexpr std::int64_t kNoon = kNoonStep / kStepsPerSecond;

MarketTouch touch(std::int64_t bid, std::int64_t ask) {
    return {.bid = {bid}, .ask = {ask}};
}
TEST(MarketStats, LogarithmsAreRightToTheTwelfthDecimal) {
    EXPECT_EQ(log_ratio(2, 1), 693'147'180'559);
    EXPECT_EQ(log_ratio(1, 2), -693'147'180'559);
    EXPECT_EQ(log_ratio(10'001, 10'000), 99'995'000);
    EXPECT_EQ(log_ratio(1'000'000, 1), 13'815'510'557'964);
    EXPECT_EQ(log_ratio(77, 77), 0);
}

TEST(MarketStats, RootsAreWhole) {
    EXPECT_TRUE(rc::check([](std::uint32_t value) {
        const std::int64_t root = whole_root(value);
        RC_ASSERT(root * root <= value && (root + 1) * (root + 1) > value);
    }));
    EXPECT_EQ(whole_root(-4), 0);
}

TEST(MarketStats, AWindowForgetsExactlyWhatIsRemoved) {
    EXPECT_TRUE(rc::check([](const std::vector<std::int32_t>& kept, std::int32_t other) {
        ReturnWindow plain;
        ReturnWindow busy;
        busy.add(other);
        for (const std::int32_t value : kept) {
            plain.add(value);
            busy.add(value);
        }
        busy.remove(other);
        RC_ASSERT(plain.count() == busy.count());
        RC_ASSERT(plain.deviation(60) == busy.deviation(60));
    }));
}

// Returns alternate between +ln(1.0001) and −ln(1.0001); the sample deviation of 60 of them is
// 9.9995e-5 × √(60/59), and one minute is √60 of that.
TEST(MarketStats, OneMinuteVolatilityIsTheScaledSampleDeviation) {
    MarketStats stats;
    for (std::int64_t second = 0; second <= 60; ++second) {
        stats.note_second(
            kNoon + second,
            second % 2 == 0 ? touch(9'999'500, 10'000'500) : touch(10'000'500, 10'001'500));
    }
    EXPECT_EQ(stats.vol_samples(), 60);
    EXPECT_EQ(stats.vol_1m(), dec("0.000781094"));
}

TEST(MarketStats, FewerThanTwoReturnsHaveNoVolatility) {
    MarketStats stats;
    EXPECT_EQ(stats.vol_1m(), Decimal());
    stats.note_second(kNoon, touch(100, 102));
    stats.note_second(kNoon + 1, touch(200, 202));
    EXPECT_EQ(stats.vol_samples(), 1);
    EXPECT_EQ(stats.vol_1m(), Decimal());
}

TEST(MarketStats, AMissingSecondGivesNoReturn) {
    MarketStats stats;
    stats.note_second(kNoon, touch(100, 102));
    stats.note_second(kNoon + 2, touch(150, 152));
    EXPECT_EQ(stats.vol_samples(), 0);
    stats.note_second(kNoon + 3, touch(150, 152));
    EXPECT_EQ(stats.vol_samples(), 1);
}

TEST(MarketStats, HaltedEmptyAndCrossedTouchesAreNoSamples) {
    MarketStats stats;
    stats.note_second(kNoon, {.bid = {100}, .ask = {102}, .halted = true});
    stats.note_second(kNoon + 1, touch(0, 102));
    stats.note_second(kNoon + 2, touch(100, 0));
    stats.note_second(kNoon + 3, touch(102, 100));
    EXPECT_EQ(stats.spread_samples(), 0);
    EXPECT_EQ(stats.spread_median_bps(), Decimal());
}

TEST(MarketStats, TheMinuteSlides) {
    MarketStats stats;
    stats.note_second(kNoon, touch(100, 102));
    stats.note_second(kNoon + 1, touch(200, 202));
    for (std::int64_t second = 2; second <= 61; ++second) {
        stats.note_second(kNoon + second, touch(200, 202));
    }
    EXPECT_EQ(stats.vol_samples(), 60);
    EXPECT_EQ(stats.vol_1m(), Decimal());
}

TEST(MarketStats, TheMedianSpreadIsOfFiveMinutes) {
    MarketStats stats;
    for (std::int64_t second = 0; second < 300; ++second) {
        stats.note_second(kNoon + second, touch(9'900, 10'100));
    }
    EXPECT_EQ(stats.spread_median_bps(), Decimal(200));
    for (std::int64_t second = 300; second < 600; ++second) {
        stats.note_second(kNoon + second, touch(9'990, 10'010));
    }
    EXPECT_EQ(stats.spread_samples(), 300);
    EXPECT_EQ(stats.spread_median_bps(), Decimal(20));
}

TEST(MarketStats, AnEvenNumberOfSpreadsHasTheMeanOfTheMiddleTwo) {
    MarketStats stats;
    stats.note_second(kNoon, touch(9'990, 10'010));
    stats.note_second(kNoon + 1, touch(9'980, 10'020));
    EXPECT_EQ(stats.spread_median_bps(), Decimal(30));
}

TEST(MarketStats, ADayThatSwingsByOnePercentInFiveMinutesIsWild) {
    MarketStats calm;
    MarketStats wild;
    for (std::int64_t candle = 0; candle <= kCandlesPerDay; ++candle) {
        const bool up = candle % 2 == 0;
        calm.note_candle(candle, up ? touch(99'990, 100'010) : touch(100'190, 100'210));
        wild.note_candle(candle, up ? touch(99'990, 100'010) : touch(100'990, 101'010));
    }
    EXPECT_EQ(calm.candles(), 289);
    EXPECT_FALSE(calm.is_high_vol());
    EXPECT_TRUE(wild.is_high_vol());
}

TEST(MarketStats, HydratedStatisticsAreThoseOfHavingWatched) {
    const SyntheticMarket market;
    MarketStats watched;
    const std::int64_t day = kCandlesPerDay * kCandleSeconds;
    const std::int64_t begin = (kNoon - day) / kCandleSeconds * kCandleSeconds;
    for (std::int64_t second = begin; second <= kNoon; ++second) {
        watched.note_second(second, market.touch_at(3, second * kStepsPerSecond));
    }
    const MarketStats hydrated = hydrated_stats(market, 3, kNoonStep);
    EXPECT_EQ(hydrated.vol_1m(), watched.vol_1m());
    EXPECT_EQ(hydrated.vol_samples(), 60);
    EXPECT_EQ(hydrated.spread_median_bps(), watched.spread_median_bps());
    EXPECT_EQ(hydrated.spread_samples(), 300);
    EXPECT_EQ(hydrated.candles(), 289);
    EXPECT_EQ(hydrated.is_high_vol(), watched.is_high_vol());
}

// Gates refuse entries above one percent; an ordinary market must not be refused for ever.
TEST(MarketStats, TheSyntheticMarketIsMostlyTradable) {
    const SyntheticMarket market;
    for (std::size_t index = 0; index < market.markets().size(); ++index) {
        for (std::int64_t hour = 0; hour < 48; ++hour) {
            const MarketStats stats =
                hydrated_stats(market, index, kNoonStep + hour * 3600 * kStepsPerSecond);
            ASSERT_LT(stats.vol_1m(), dec("0.01")) << market.markets()[index].symbol.text();
            ASSERT_GT(stats.vol_1m(), Decimal());
        }
    }
}

}  // namespace
}  // namespace interlock
