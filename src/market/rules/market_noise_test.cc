// The noise under the synthetic market: repeatable, bounded, and as wild as it is told to be.
#include "market/rules/market_noise.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>

#include "market/rules/market_model.h"
#include "market/rules/market_stats.h"

namespace interlock {
namespace {

TEST(MarketNoise, UniformReachesBothEndsAndNothingBeyond) {
    EXPECT_EQ(uniform(0, 3, 9), 3);
    EXPECT_EQ(uniform(~std::uint64_t{0}, 3, 9), 9);
    EXPECT_TRUE(rc::check([](std::uint64_t bits) {
        const std::int64_t drawn = uniform(bits, -5, 5);
        RC_ASSERT(drawn >= -5 && drawn <= 5);
    }));
}

TEST(MarketNoise, BellHasTheDeviationAskedFor) {
    ReturnWindow window;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        window.add(bell(mix_bits(7, 1, i), 1'000'000));
    }
    EXPECT_NEAR(static_cast<int>(window.deviation(1)), 1'000'000, 20'000);
}

TEST(MarketNoise, ScalingByALogarithmIsTheExponential) {
    EXPECT_EQ(scale_by_log(1'000'000'000, 0), 1'000'000'000);
    EXPECT_NEAR(static_cast<int>(scale_by_log(100'000'000, 1'000'000'000'000)), 271'828'182, 1);
    EXPECT_NEAR(static_cast<int>(scale_by_log(100'000'000, -1'000'000'000'000)), 36'787'944, 1);
    EXPECT_NEAR(static_cast<int>(scale_by_log(100'000'000, 10'000'000'000)), 101'005'016, 1);
}

TEST(MarketNoise, ThePathIsTheSameWheneverItIsAskedFor) {
    EXPECT_TRUE(rc::check([](std::uint64_t seed, std::uint32_t step) {
        const PricePath path{seed, 500'000};
        RC_ASSERT(log_price_at(path, step) == log_price_at(path, step));
        RC_ASSERT(std::llabs(log_price_at(path, step)) <= 1'000'000'000'000);
    }));
}

// Two hundred days of five-minute returns; half and twice of it would both fail.
TEST(MarketNoise, OverFiveMinutesThePathHasTheVolatilityOfItsYear) {
    ReturnWindow window;
    const PricePath path{42, 500'000};
    constexpr std::int64_t kSteps = kCandleSeconds * kStepsPerSecond;
    std::int64_t before = log_price_at(path, 0);
    for (std::int64_t candle = 1; candle <= 200 * kCandlesPerDay; ++candle) {
        const std::int64_t now = log_price_at(path, candle * kSteps);
        window.add(now - before);
        before = now;
    }
    const std::int64_t yearly = window.deviation(365 * kCandlesPerDay);
    EXPECT_GT(yearly, 380'000'000'000);
    EXPECT_LT(yearly, 680'000'000'000);
}

TEST(MarketNoise, HoursAreCalmUsualOrWild) {
    std::int64_t calm = 0;
    std::int64_t wild = 0;
    for (std::int64_t hour = 0; hour < 2000; ++hour) {
        const std::int64_t regime = regime_permille(5, hour * 3600 * kStepsPerSecond);
        calm += regime < 1000 ? 1 : 0;
        wild += regime > 1000 ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<int>(calm), 1000, 120);
    EXPECT_NEAR(static_cast<int>(wild), 240, 80);
}

}  // namespace
}  // namespace interlock
