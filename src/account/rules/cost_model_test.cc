// agent-loop.md#costs as tables, and the windows behind them.
#include "account/rules/cost_model.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "testing/account_builders.h"

namespace interlock {
namespace {

DayBucket a_day(std::string_view day) {
    DayBucket bucket;
    bucket.day = utc_day_start(time_of(std::string(day) + "T00:00:00Z"));
    return bucket;
}

// daily_total_cost = trading_fees + infra + data + ops + reserve_accrual (and model costs).
TEST(CostModel, DailyTotalCostIsTheSumOfEveryCost) {
    const auto cost = daily_total_cost({
        .trading_fees = dec("1.5"),
        .infra_cost = dec("2"),
        .data_cost = dec("3"),
        .ops_overhead = dec("4"),
        .model_cost = dec("0.25"),
        .reserve_accrual = dec("0.25"),
    });
    ASSERT_TRUE(cost);
    EXPECT_EQ(*cost, dec("11"));
}

TEST(CostModel, DailyTotalCostThatOverflowsIsAnError) {
    const Decimal most = Decimal::from_units((static_cast<__int128>(1) << 126));
    EXPECT_FALSE(daily_total_cost({most, most, most, {}, {}, {}}));
}

// rolling_surplus_30d = realized_pnl_rolling_30d − rolling_total_cost_30d.
TEST(CostModel, SurplusIsGrossRealisedLessEveryCostOnce) {
    WindowTotals totals;
    totals.gains = dec("100");
    totals.losses = dec("30");
    totals.fees = dec("5");
    totals.model = dec("1");
    totals.infra = dec("2");
    totals.data = dec("3");
    totals.ops = dec("4");
    totals.accrual = dec("10");
    EXPECT_EQ(*rolling_surplus_30d(totals), dec("45"));
}

struct PrincipalCase {
    std::string_view equity;
    bool is_protected;
};
// principal_protected = current_equity >= principal_baseline.
TEST(CostModel, PrincipalIsProtectedFromTheBaselineUp) {
    for (const PrincipalCase& c : {
             PrincipalCase{"899.999999999999999999", false},
             PrincipalCase{"900", true},
             PrincipalCase{"900.000000000000000001", true},
         }) {
        EXPECT_EQ(principal_protected(dec(c.equity), dec("900")), c.is_protected) << c.equity;
    }
}

struct RunwayCase {
    std::string_view buffer;
    std::string_view daily_cost;
    std::string_view days;
};
// runway_days = cash_buffer_for_costs / max(daily_total_cost, epsilon); 36500 at zero.
TEST(CostModel, RunwayIsTheBufferOverTheDailyCost) {
    for (const RunwayCase& c : {
             RunwayCase{"500", "10", "50"},
             RunwayCase{"500", "0", "36500"},
             RunwayCase{"0", "0", "36500"},
             RunwayCase{"500", "-1", "36500"},
             RunwayCase{"0", "1", "0"},
             RunwayCase{"-5", "1", "0"},
             RunwayCase{"1", "3", "0.333333333333333333"},
             RunwayCase{"1000000000000", "0.000000000000000001", "36500"},
         }) {
        const auto days = runway_days(dec(c.buffer), dec(c.daily_cost));
        ASSERT_TRUE(days);
        EXPECT_EQ(to_text(*days), c.days) << c.buffer << " / " << c.daily_cost;
    }
}

struct AccrualCase {
    std::string_view realized;
    std::string_view rate;
    std::string_view accrual;
};
// reserve_accrual_rate on realised gains.
TEST(CostModel, AccrualIsTheRateOfGainsAndNothingOfLosses) {
    for (const AccrualCase& c : {
             AccrualCase{"100", "0.1", "10"},
             AccrualCase{"-100", "0.1", "0"},
             AccrualCase{"0", "0.1", "0"},
             AccrualCase{"100", "0", "0"},
             AccrualCase{"0.000000000000000009", "0.1", "0"},
         }) {
        EXPECT_EQ(to_text(*reserve_accrual(dec(c.realized), dec(c.rate))), c.accrual);
    }
}

TEST(CostModel, MeanPerDayRoundsUp) {
    EXPECT_EQ(to_text(*mean_per_day(dec("30"))), "1");
    EXPECT_EQ(to_text(*mean_per_day(dec("1"))), "0.033333333333333334");
}

TEST(CostModel, WindowHoldsTodayAndTheTwentyNineDaysBefore) {
    DayBucket old = a_day("2026-02-08");
    DayBucket first = a_day("2026-02-09");
    DayBucket today = a_day("2026-03-10");
    old.fees = dec("100");
    first.fees = dec("10");
    today.fees = dec("1");
    const auto totals = window_totals(std::vector{old, first, today}, noon());
    ASSERT_TRUE(totals);
    EXPECT_EQ(totals->fees, dec("11"));
}

TEST(CostModel, WindowIgnoresDaysToCome) {
    DayBucket tomorrow = a_day("2026-03-11");
    tomorrow.gains = dec("5");
    EXPECT_TRUE(window_totals(std::vector{tomorrow}, noon())->gains.is_zero());
}

TEST(CostModel, RunwayNeverOverstates) {
    EXPECT_TRUE(rc::check([] {
        const Decimal buffer =
            Decimal::from_units(*rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000));
        const Decimal cost = Decimal::from_units(*rc::gen::inRange<std::int64_t>(1, 1'000'000));
        const auto days = runway_days(buffer, cost);
        RC_ASSERT(days.has_value());
        const auto spent = multiply_round_down(*days, cost);
        RC_ASSERT(spent.has_value() && *spent <= buffer);
    }));
}

}  // namespace
}  // namespace interlock
