#include "account/wire/risk_limits.h"

#include <gtest/gtest.h>

#include <set>

namespace interlock {
namespace {

RiskLimits defaults() {
    const auto limits = default_limits(Decimal(10'000));
    EXPECT_TRUE(limits.has_value());
    return *limits;
}

LimitChange change(std::string_view name, std::string_view value) {
    return {find_limit_spec(name), *Decimal::parse(value)};
}

// RiskLimits holds nothing but decimals, so its size counts them: a member without a row would be a
// guard that nobody can configure, store or prove.
TEST(RiskLimits, HaveARowForEveryMember) {
    EXPECT_EQ(limit_specs().size(), sizeof(RiskLimits) / sizeof(Decimal));
    std::set<std::string_view> names;
    std::set<const Decimal*> members;
    const RiskLimits limits;
    for (const LimitSpec& spec : limit_specs()) {
        names.insert(spec.name);
        members.insert(&(limits.*spec.member));
    }
    EXPECT_EQ(names.size(), limit_specs().size());
    EXPECT_EQ(members.size(), limit_specs().size());
}

TEST(RiskLimits, DefaultToTheSharesOfNetDeposits) {
    const RiskLimits limits = defaults();
    EXPECT_EQ(limits.principal_baseline, Decimal(9'000));
    EXPECT_EQ(limits.daily_loss_limit, Decimal(500));
    EXPECT_EQ(to_text(limits.max_drawdown), "0.2");
    EXPECT_EQ(limits.max_notional_per_trade, Decimal(2'000));
    EXPECT_EQ(limits.max_symbol_exposure, Decimal(4'000));
    EXPECT_EQ(limits.max_portfolio_exposure, Decimal(10'000));
    EXPECT_EQ(limits.max_leverage, Decimal(1));
    EXPECT_EQ(to_text(limits.reserve_accrual_rate), "0.1");
    EXPECT_EQ(limits.soft_min_runway_days, Decimal(30));
    EXPECT_EQ(limits.hard_min_runway_days, Decimal(7));
    EXPECT_EQ(limits.target_surplus, Decimal(100));
    EXPECT_EQ(limits.max_deficit, Decimal(500));
}

TEST(RiskLimits, HaveDefaultsInsideTheirRanges) {
    const RiskLimits limits = defaults();
    for (const LimitSpec& spec : limit_specs()) {
        EXPECT_GE(limits.*spec.member, *Decimal::parse(spec.min)) << spec.name;
        EXPECT_LE(limits.*spec.member, *Decimal::parse(spec.max)) << spec.name;
    }
}

TEST(RiskLimits, HaveNoDefaultsForNegativeDeposits) {
    EXPECT_FALSE(default_limits(Decimal(-1)).has_value());
}

TEST(RiskLimits, ComeBackFromTheirJsonUnchanged) {
    const RiskLimits limits = defaults();
    EXPECT_EQ(decode_risk_limits(encode(limits)), limits);
}

TEST(RiskLimits, RefuseAStoredNameTheyDoNotKnow) {
    Json json = encode(defaults());
    json.set("max_draw_down", "1");
    EXPECT_FALSE(decode_risk_limits(json).has_value());
}

TEST(RiskLimits, RefuseToBeStoredWithoutOneOfThem) {
    Json json = encode(defaults());
    json.members().pop_back();
    EXPECT_FALSE(decode_risk_limits(json).has_value());
}

TEST(LimitChanges, AreReadByName) {
    const auto changes =
        decode_limit_changes(Json::object({{"max_leverage", "0.5"}, {"max_vol_1m", "0.02"}}));
    ASSERT_TRUE(changes.has_value());
    ASSERT_EQ(changes->size(), 2u);
    EXPECT_EQ(changes->at(0).spec->name, "max_leverage");
    EXPECT_EQ(to_text(changes->at(0).value), "0.5");
}

// A misspelt guard must not silently stay unarmed.
TEST(LimitChanges, RefuseAMisspeltName) {
    const auto changes = decode_limit_changes(Json::object({{"max_levrage", "0.5"}}));
    ASSERT_FALSE(changes.has_value());
    EXPECT_EQ(changes.error().problems.at(0).path, "max_levrage");
}

TEST(LimitChanges, TakeTheEndsOfARangeAndNothingBeyond) {
    EXPECT_TRUE(decode_limit_changes(Json::object({{"max_drawdown", "0"}})).has_value());
    EXPECT_TRUE(decode_limit_changes(Json::object({{"max_drawdown", "1"}})).has_value());
    EXPECT_FALSE(decode_limit_changes(Json::object({{"max_drawdown", "1.000001"}})).has_value());
    EXPECT_FALSE(decode_limit_changes(Json::object({{"max_drawdown", "-0.000001"}})).has_value());
}

TEST(LimitChanges, LoosenInTheDirectionOfTheirRow) {
    const RiskLimits limits = defaults();
    EXPECT_TRUE(is_loosening(limits, change("daily_loss_limit", "501")));
    EXPECT_FALSE(is_loosening(limits, change("daily_loss_limit", "499")));
    EXPECT_FALSE(is_loosening(limits, change("daily_loss_limit", "500")));
    EXPECT_TRUE(is_loosening(limits, change("principal_baseline", "8999")));
    EXPECT_FALSE(is_loosening(limits, change("principal_baseline", "9001")));
}

TEST(LimitChanges, LoosenWhenZeroSwitchesTheGuardOff) {
    RiskLimits limits = defaults();
    EXPECT_FALSE(is_loosening(limits, change("max_order_qty", "5")));
    limits.max_order_qty = Decimal(5);
    EXPECT_TRUE(is_loosening(limits, change("max_order_qty", "0")));
    EXPECT_TRUE(is_loosening(limits, change("max_order_qty", "6")));
    EXPECT_FALSE(is_loosening(limits, change("max_order_qty", "4")));
}

TEST(RiskLimits, AreHardWhereTheContractSaysSo) {
    std::set<std::string_view> hard;
    for (const LimitSpec& spec : limit_specs()) {
        if (spec.is_hard) {
            hard.insert(spec.name);
        }
    }
    const std::set<std::string_view> expected{
        "daily_loss_limit",
        "max_drawdown",
        "max_leverage",
        "max_portfolio_exposure",
        "max_symbol_exposure"};
    EXPECT_EQ(hard, expected);
}

}  // namespace
}  // namespace interlock
