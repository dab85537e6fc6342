// agent-loop.md#risk-tiers and the mandatory stops as tables: one row per rule, just inside and
// just at.
#include "account/rules/risk_scaling.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "testing/account_builders.h"

namespace interlock {
namespace {

// An account of 10,000 in full health: the target surplus is reached, nothing is near a limit.
TierInput healthy() {
    TierInput input;
    input.now = noon();
    input.limits = *default_limits(dec("10000"));
    input.equity = dec("10000");
    input.peak = dec("10000");
    input.net_deposits = dec("10000");
    input.rolling_surplus_30d = dec("100");
    input.runway_days = dec("36500");
    input.opened_at = noon() - Duration::of_days(100);
    return input;
}

struct TierCase {
    std::string_view name;
    std::function<void(TierInput&)> change;
    Tier tier;
    std::string_view code;  // Of the first reason; empty for normal.
};

using I = TierInput;

std::vector<TierCase> scaling_cases() {
    return {
        // Normal.
        {"healthy", [](I&) {}, Tier::normal, ""},
        {"surplus at target", [](I& i) { i.rolling_surplus_30d = dec("100"); }, Tier::normal, ""},
        // Reduced.
        {"surplus just below target",
         [](I& i) { i.rolling_surplus_30d = dec("99.999999"); },
         Tier::reduced,
         "surplus_below_target"},
        {"surplus zero",
         [](I& i) { i.rolling_surplus_30d = dec("0"); },
         Tier::reduced,
         "surplus_below_target"},
        {"daily loss above 80 %",
         [](I& i) { i.realized_today = dec("-400.01"); },
         Tier::reduced,
         "near_daily_loss_limit"},
        {"daily loss at 80 %", [](I& i) { i.realized_today = dec("-400"); }, Tier::normal, ""},
        {"drawdown above 80 %",
         [](I& i) { i.peak = dec("12000"), i.equity = dec("10079.99"); },
         Tier::reduced,
         "near_max_drawdown"},
        {"drawdown at 80 %",
         [](I& i) { i.peak = dec("12000"), i.equity = dec("10080"); },
         Tier::normal,
         ""},
        {"symbol exposure above 80 %",
         [](I& i) { i.symbol_exposure_max = dec("3200.01"); },
         Tier::reduced,
         "near_symbol_exposure"},
        {"portfolio exposure above 80 %",
         [](I& i) { i.portfolio_exposure = dec("8000.01"), i.equity = dec("20000"); },
         Tier::reduced,
         "near_portfolio_exposure"},
        {"leverage above 80 %",
         [](I& i) { i.portfolio_exposure = dec("7999"), i.equity = dec("9500"); },
         Tier::reduced,
         "near_max_leverage"},
        // Defensive.
        {"surplus below zero",
         [](I& i) { i.rolling_surplus_30d = dec("-0.000001"); },
         Tier::defensive,
         "surplus_negative"},
        {"runway below soft",
         [](I& i) { i.runway_days = dec("29.999999"); },
         Tier::defensive,
         "runway_below_soft_min"},
        {"runway at soft", [](I& i) { i.runway_days = dec("30"); }, Tier::normal, ""},
    };
}

std::vector<TierCase> stop_cases() {
    return {
        // Stop.
        {"principal not protected",
         [](I& i) { i.equity = dec("8999.999999"); },
         Tier::stop,
         "principal_not_protected"},
        {"equity at baseline", [](I& i) { i.equity = dec("9000"); }, Tier::normal, ""},
        {"daily loss touches",
         [](I& i) { i.realized_today = dec("-500"); },
         Tier::stop,
         "daily_loss_limit"},
        {"drawdown touches",
         [](I& i) { i.peak = dec("12500"), i.equity = dec("10000"); },
         Tier::stop,
         "drawdown"},
        {"runway below hard",
         [](I& i) { i.runway_days = dec("6.999999"); },
         Tier::stop,
         "runway_below_hard_min"},
        {"drift unresolved",
         [](I& i) { i.drift_unresolved = true; },
         Tier::stop,
         "drift_unresolved"},
        {"equity unknown", [](I& i) { i.equity.reset(); }, Tier::stop, "equity_unknown"},
        {"peak not set", [](I& i) { i.peak = dec("0"); }, Tier::stop, "equity_unknown"},
    };
}

TEST(RiskScaling, EachRuleOfTheTableGivesItsTier) {
    std::vector<TierCase> cases = scaling_cases();
    std::ranges::move(stop_cases(), std::back_inserter(cases));
    for (const TierCase& c : cases) {
        TierInput input = healthy();
        c.change(input);
        const TierStep step = step_tier({}, input);
        EXPECT_EQ(step.raw, c.tier) << c.name;
        EXPECT_EQ(step.state.tier, c.tier) << c.name;
        EXPECT_EQ(step.reasons.empty() ? "" : step.reasons[0].code, c.code) << c.name;
    }
}

TEST(RiskScaling, TheStrictestTierWinsWhenSeveralMatch) {
    TierInput input = healthy();
    input.rolling_surplus_30d = dec("-1");
    input.realized_today = dec("-600");
    EXPECT_EQ(step_tier({}, input).raw, Tier::stop);
}

TEST(RiskScaling, TiersMapToTheLadderOfModes) {
    EXPECT_EQ(mode_of(Tier::normal), RiskMode::normal);
    EXPECT_EQ(mode_of(Tier::reduced), RiskMode::reduced);
    EXPECT_EQ(mode_of(Tier::defensive), RiskMode::defensive);
    EXPECT_EQ(mode_of(Tier::stop), RiskMode::reduce_only);
}

// Fees alone of a young account without costs.
TierInput young() {
    TierInput input = healthy();
    input.opened_at = noon() - Duration::of_days(5);
    input.costs_are_zero = true;
    input.fees_30d = dec("19.99");
    input.rolling_surplus_30d = dec("-19.99");
    return input;
}

TEST(RiskScaling, GraceForgivesTheFeesOfAYoungAccount) {
    const TierStep step = step_tier({}, young());
    EXPECT_EQ(step.raw, Tier::reduced);
    EXPECT_TRUE(step.in_grace);
}

TEST(RiskScaling, GraceEndsAtItsShareOfTheDeposits) {
    TierInput input = young();
    input.fees_30d = dec("20");
    input.rolling_surplus_30d = dec("-20");
    const TierStep step = step_tier({}, input);
    EXPECT_EQ(step.raw, Tier::defensive);
    EXPECT_FALSE(step.in_grace);
}

TEST(RiskScaling, GraceForgivesNoLosses) {
    TierInput input = young();
    input.rolling_surplus_30d = dec("-20.5");
    EXPECT_EQ(step_tier({}, input).raw, Tier::defensive);
}

TEST(RiskScaling, GraceIsForAccountsWithoutCosts) {
    TierInput input = young();
    input.costs_are_zero = false;
    EXPECT_EQ(step_tier({}, input).raw, Tier::defensive);
}

TEST(RiskScaling, GraceEndsAfterThirtyDays) {
    TierInput input = young();
    input.opened_at = noon() - Duration::of_days(30);
    EXPECT_EQ(step_tier({}, input).raw, Tier::defensive);
}

TEST(RiskScaling, AWorseTierHoldsAtOnce) {
    TierInput input = healthy();
    input.rolling_surplus_30d = dec("-1");
    const TierStep step = step_tier({}, input);
    EXPECT_EQ(step.state.tier, Tier::defensive);
    EXPECT_TRUE(step.changed);
}

TEST(RiskScaling, ABetterTierMustHoldForThreeTicks) {
    TierState state;
    state.tier = Tier::defensive;
    state = step_tier(state, healthy()).state;
    state = step_tier(state, healthy()).state;
    EXPECT_EQ(state.tier, Tier::defensive);
    EXPECT_EQ(step_tier(state, healthy()).state.tier, Tier::normal);
}

TEST(RiskScaling, ARelapseStartsTheCountAgain) {
    TierState state;
    state.tier = Tier::defensive;
    TierInput bad = healthy();
    bad.rolling_surplus_30d = dec("-1");
    for (const TierInput& input : {healthy(), healthy(), bad, healthy(), healthy()}) {
        state = step_tier(state, input).state;
    }
    EXPECT_EQ(state.tier, Tier::defensive);
}

TEST(RiskScaling, LooseningGoesToTheStrictestTierSeenMeanwhile) {
    TierState state;
    state.tier = Tier::stop;
    TierInput reduced = healthy();
    reduced.rolling_surplus_30d = dec("0");
    for (const TierInput& input : {healthy(), reduced, healthy()}) {
        state = step_tier(state, input).state;
    }
    EXPECT_EQ(state.tier, Tier::reduced);
}

TEST(RiskScaling, ADailyLossStopLastsUntilMidnight) {
    TierInput loss = healthy();
    loss.realized_today = dec("-500");
    TierState state = step_tier({}, loss).state;
    TierInput later = healthy();
    later.now = time_of("2026-03-10T23:59:59Z");
    EXPECT_EQ(step_tier(state, later).raw, Tier::stop);
    later.now = time_of("2026-03-11T00:00:00Z");
    EXPECT_EQ(step_tier(state, later).raw, Tier::normal);
}

TEST(RiskScaling, ADrawdownStopIsLatchedUntilAHumanResetsIt) {
    TierInput fallen = healthy();
    fallen.equity = dec("9900");
    fallen.peak = dec("12375");
    TierState state = step_tier({}, fallen).state;
    TierInput risen = healthy();
    risen.now = noon() + Duration::of_days(9);
    for (int i = 0; i < 5; ++i) {
        const TierStep step = step_tier(state, risen);
        EXPECT_EQ(step.raw, Tier::stop);
        state = step.state;
    }
    EXPECT_EQ(step_tier(reset_drawdown(state), risen).raw, Tier::normal);
}

TEST(RiskScaling, UnknownEquityLatchesNothing) {
    TierInput blind = healthy();
    blind.equity.reset();
    EXPECT_FALSE(step_tier({}, blind).state.drawdown_latched_at);
}

// Each mandatory stop under its name, all of them together in their order.
TEST(RiskScaling, StopConditionsAreNamedInTheSeedsOrder) {
    TierInput input = healthy();
    input.kill_switch_active = true;
    input.realized_today = dec("-500");
    input.equity = dec("8000");
    input.runway_days = dec("6");
    input.drift_unresolved = true;
    std::vector<std::string_view> codes;
    for (const TierReason& reason : stop_conditions({}, input)) {
        codes.push_back(reason.code);
    }
    EXPECT_EQ(
        codes,
        (std::vector<std::string_view>{
            "kill_switch_active",
            "daily_loss_limit",
            "drawdown",
            "runway_below_hard_min",
            "drift_unresolved"}));
}

TEST(RiskScaling, AHealthyAccountHasNoStop) {
    EXPECT_TRUE(stop_conditions({}, healthy()).empty());
}

// All stop conditions emit critical audit events: once, when they begin.
TEST(RiskScaling, AStopIsNewOnlyOnce) {
    TierInput input = healthy();
    input.runway_days = dec("1");
    const TierStep first = step_tier({}, input);
    ASSERT_EQ(first.new_stops.size(), 1u);
    EXPECT_EQ(first.new_stops[0].code, "runway_below_hard_min");
    EXPECT_TRUE(step_tier(first.state, input).new_stops.empty());
    const TierStep healed = step_tier(first.state, healthy());
    EXPECT_EQ(step_tier(healed.state, input).new_stops.size(), 1u);
}

TEST(RiskScaling, TheKillSwitchIsAStopButNoTier) {
    TierInput input = healthy();
    input.kill_switch_active = true;
    const TierStep step = step_tier({}, input);
    EXPECT_EQ(step.raw, Tier::normal);
    ASSERT_EQ(step.new_stops.size(), 1u);
    EXPECT_EQ(step.new_stops[0].code, "kill_switch_active");
}

TEST(RiskScaling, StoredFormReadsBack) {
    TierInput input = healthy();
    input.realized_today = dec("-500");
    input.equity = dec("8000");
    const TierState state = step_tier({}, input).state;
    EXPECT_EQ(*decode_tier_state(encode(state)), state);
}

// Less equity never gives a better tier.
TEST(RiskScaling, TiersAreMonotonousInEquity) {
    EXPECT_TRUE(rc::check([] {
        TierInput rich = healthy();
        TierInput poor = healthy();
        const auto a = *rc::gen::inRange<std::int64_t>(0, 20'000);
        const auto b = *rc::gen::inRange<std::int64_t>(0, 20'000);
        rich.peak = poor.peak = Decimal(20'000);
        rich.equity = Decimal(std::max(a, b));
        poor.equity = Decimal(std::min(a, b));
        RC_ASSERT(step_tier({}, poor).raw >= step_tier({}, rich).raw);
    }));
}

}  // namespace
}  // namespace interlock
