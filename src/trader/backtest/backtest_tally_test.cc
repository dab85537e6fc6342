#include "trader/backtest/backtest_tally.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

Decimal dec(std::string_view text) {
    return Decimal::parse(text).value();
}

constexpr Timestamp kStart{1'735'689'600'000'000};

// One mark an hour.
void mark_hours(BacktestTally& tally, const std::vector<std::string>& equities) {
    Timestamp at = kStart;
    for (const std::string& equity : equities) {
        ASSERT_TRUE(tally
                        .mark(
                            {.at = at,
                             .price = Decimal(100),
                             .low = Decimal(99),
                             .high = Decimal(101),
                             .equity = dec(equity),
                             .exposure = {}})
                        .has_value());
        at = at + Duration::of_hours(1);
    }
}

TEST(BacktestTally, TheDeepestDrawdownIsToldWithItsTimes) {
    BacktestTally tally;
    mark_hours(tally, {"100", "120", "90", "118", "125", "110"});
    const Drawdown drawdown = tally.figures().value().drawdown;
    EXPECT_EQ(drawdown.fraction, dec("0.25"));
    EXPECT_EQ(drawdown.peak_at, kStart + Duration::of_hours(1));
    EXPECT_EQ(drawdown.trough_at, kStart + Duration::of_hours(2));
}

TEST(BacktestTally, SharpeIsTheMeanOverTheDeviationForAYear) {
    BacktestTally tally;
    // Returns of 1 % and 0 in turn: mean 0.005, sample deviation 0.005 × √(n / (n − 1)).
    std::vector<std::string> equities{"100"};
    Decimal equity(100);
    for (int i = 0; i < 26; ++i) {
        if (i % 2 == 0) {
            equity = multiply_half_even(equity, dec("1.01")).value();
        }
        equities.push_back(to_text(equity));
    }
    equities.push_back(to_text(equity));
    mark_hours(tally, equities);
    const BacktestFigures figures = tally.figures().value();
    EXPECT_EQ(figures.sharpe_of, "hourly");
    ASSERT_EQ(figures.sharpe_returns, 27);
    // The first return compares the opening with itself: 13 of 27 are 1 %. By hand: mean
    // 0.00481481, deviation 0.00509175, times √8760 = 93.5949.
    ASSERT_TRUE(figures.sharpe.has_value());
    EXPECT_GT(*figures.sharpe, dec("88.49"));
    EXPECT_LT(*figures.sharpe, dec("88.52"));
}

TEST(BacktestTally, TooFewReturnsHaveNoSharpe) {
    BacktestTally tally;
    mark_hours(tally, {"100", "101", "102"});
    EXPECT_FALSE(tally.figures().value().sharpe.has_value());
}

TEST(BacktestTally, ExposureIsWeighedByTime) {
    BacktestTally tally;
    const auto mark = [&](std::int64_t hour, const std::string& held) {
        ASSERT_TRUE(tally
                        .mark(
                            {.at = kStart + Duration::of_hours(hour),
                             .price = Decimal(1),
                             .low = Decimal(1),
                             .high = Decimal(1),
                             .equity = Decimal(100),
                             .exposure = dec(held)})
                        .has_value());
    };
    mark(0, "0");
    mark(3, "40");
    mark(4, "0");
    const BacktestFigures figures = tally.figures().value();
    EXPECT_EQ(figures.exposure_mean, dec("0.1"));
    EXPECT_EQ(figures.exposure_max, dec("0.4"));
}

TEST(BacktestTally, DrawnFillsAreThinnedAtTheirBound) {
    BacktestTally tally;
    BacktestFill fill;
    fill.fill.price = Decimal(1);
    constexpr std::int64_t kFills = 5 * static_cast<std::int64_t>(kDrawnFillsMax);
    for (std::int64_t i = 0; i < kFills; ++i) {
        fill.fill.at = {i};
        ASSERT_TRUE(tally.take_fill(fill).has_value());
    }
    EXPECT_LE(tally.drawn().size(), kDrawnFillsMax);
    EXPECT_EQ(tally.drawn_every(), 8);
    for (std::size_t i = 0; i < tally.drawn().size(); ++i) {
        ASSERT_EQ(tally.drawn()[i].at.microseconds, static_cast<std::int64_t>(i) * 8);
    }
    EXPECT_EQ(tally.figures().value().fills, kFills);
}

}  // namespace
}  // namespace interlock
