// The exposure protector: when it acts, how much, and when it leaves the account alone.
#include "trader/rules/strategies/exposure_protector/exposure_protector.h"

#include <gtest/gtest.h>

#include "trader/rules/test_planner_world.h"

namespace interlock {
namespace {

class ExposureProtectorTest : public ::testing::Test {
protected:
    // With a mid of 50000, so that shares are round: 0.1 base and 5000 quote are even.
    ExposureProtectorTest() {
        world.quote("49995", "50005");
        balance("0.1", "5000");
        configure("{}");
    }
    void balance(std::string_view base, std::string_view quote) {
        world.hold(base);
        world.cash(quote);
    }
    void configure(std::string_view config) {
        Json json = parse_json(config).value();
        json.set("rebalance_target_ratio", "0.5");
        strategy = opened_strategy("exposure_protector", to_text(json));
    }
    Plan run() {
        const Plan plan = world.step(*strategy).plan;
        world.carry_out(plan);
        world.state().now = world.state().now + Duration::of_seconds(60);
        return plan;
    }
    PlannerWorld world;
    std::shared_ptr<const Strategy> strategy;
};

// One that is created as it comes must not ask for what the limits of a new account refuse.
TEST_F(ExposureProtectorTest, ItsOwnTargetLiesUnderTheLimitOfANewAccount) {
    const ProtectorConfig config;
    const RiskLimits limits = default_limits(Decimal(1)).value();
    EXPECT_LT(config.rebalance_target_ratio, limits.max_symbol_exposure);
}

TEST_F(ExposureProtectorTest, LeavesABalancedAccountAlone) {
    const StrategyStep step = world.step(*strategy);
    EXPECT_TRUE(step.plan.intents.empty());
    EXPECT_EQ(step.assessment.supervision.find("signal")->as_string(), "balanced");
}

TEST_F(ExposureProtectorTest, TheToleranceItselfIsLeftAlone) {
    configure(R"({"trail_distance_pct":"0"})");
    balance("0.11", "4500");  // 55 %.
    EXPECT_TRUE(run().intents.empty());
    balance("0.1102", "4490");  // 55.1 %.
    EXPECT_EQ(run().intents.size(), 1u);
}

TEST_F(ExposureProtectorTest, SellsAtTheAskWhenBaseIsTooMuch) {
    balance("0.16", "2000");  // 80 %: urgent.
    const Plan plan = run();
    ASSERT_EQ(plan.intents.size(), 1u);
    EXPECT_EQ(plan.intents[0].side, Side::sell);
    EXPECT_EQ(*plan.intents[0].limit_price, PlannerWorld::dec("50005"));
    // The largest order of 500, down to the step.
    EXPECT_EQ(plan.intents[0].qty, PlannerWorld::dec("0.00999"));
    EXPECT_TRUE(plan.intents[0].post_only);
}

TEST_F(ExposureProtectorTest, BuysAtTheBidWhenQuoteIsTooMuch) {
    configure(R"({"order_spacing_ticks":100})");
    balance("0.04", "8000");  // 20 %.
    const Plan plan = run();
    ASSERT_EQ(plan.intents.size(), 1u);
    EXPECT_EQ(plan.intents[0].side, Side::buy);
    EXPECT_EQ(*plan.intents[0].limit_price, PlannerWorld::dec("49994"));
}

TEST_F(ExposureProtectorTest, AStepIsNoLargerThanItsShareOrTheGap) {
    configure(R"({"max_order_notional_quote":"100000","rebalance_step_ratio":"0.1"})");
    balance("0.16", "2000");
    // A tenth of 10000.
    EXPECT_EQ(run().intents.at(0).qty, PlannerWorld::dec("0.01999"));
}

TEST_F(ExposureProtectorTest, WaitsForAMoveToRunOut) {
    balance("0.12", "4000");  // 60 %: not urgent.
    EXPECT_TRUE(run().intents.empty());
    world.quote("50995", "51005");
    EXPECT_TRUE(run().intents.empty());
    world.quote("50735", "50745");  // 0.51 % below the top.
    EXPECT_EQ(run().intents.size(), 1u);
}

TEST_F(ExposureProtectorTest, StepsKeepTheirDistanceInTime) {
    balance("0.16", "2000");
    run();
    world.fill(world.own().front().order_client_id);
    EXPECT_TRUE(run().intents.empty());
    EXPECT_TRUE(run().intents.empty());
    EXPECT_EQ(run().intents.size(), 1u);  // 180 seconds later.
}

TEST_F(ExposureProtectorTest, AnOrderThatTheTouchLeftIsPlacedAnew) {
    balance("0.16", "2000");
    run();
    world.quote("49895", "49905");
    EXPECT_EQ(run().cancels.size(), 1u);
}

TEST_F(ExposureProtectorTest, AnOrderNearTheTouchStays) {
    balance("0.16", "2000");
    run();
    world.quote("49985", "49995");
    const Plan plan = run();
    EXPECT_TRUE(plan.cancels.empty() && plan.intents.empty());
}

TEST_F(ExposureProtectorTest, GoesOnUntilHalfTheToleranceIsReached) {
    configure(R"({"trail_distance_pct":"0"})");
    balance("0.12", "4000");
    run();
    balance("0.104", "4800");  // 52 %: within half of 5 %.
    const Plan plan = run();
    EXPECT_EQ(plan.cancels.size(), 1u);
    EXPECT_TRUE(run().intents.empty());
}

TEST_F(ExposureProtectorTest, ANewRebalanceNeedsTheMarketToHaveMoved) {
    configure(R"({"trail_distance_pct":"0","min_rebalance_seconds":0,"cooldown_ticks":0})");
    balance("0.12", "4000");
    run();
    world.fill(world.own().front().order_client_id);
    balance("0.1", "5000");
    run();
    balance("0.12", "4000");
    EXPECT_TRUE(run().intents.empty());
    world.quote("50295", "50305");
    EXPECT_EQ(run().intents.size(), 1u);
}

TEST_F(ExposureProtectorTest, ReduceOnlySellsAndNeverBuys) {
    world.state().risk_mode = RiskMode::reduce_only;
    balance("0.16", "2000");
    EXPECT_EQ(run().intents.size(), 1u);
    world.remove(world.own().front().order_client_id);
    world.memory() = Json();
    balance("0.02", "9000");
    EXPECT_TRUE(run().intents.empty());
}

TEST_F(ExposureProtectorTest, HaltedTakesEverythingBack) {
    balance("0.16", "2000");
    run();
    world.state().risk_mode = RiskMode::halted;
    const Plan plan = run();
    EXPECT_EQ(plan.cancels.size(), 1u);
    EXPECT_TRUE(plan.intents.empty());
}

TEST_F(ExposureProtectorTest, AnEmptyAccountHasNothingToBalance) {
    balance("0", "0");
    const StrategyStep step = world.step(*strategy);
    EXPECT_TRUE(step.plan.intents.empty());
    EXPECT_EQ(step.assessment.current_intent, "wait");
}

TEST_F(ExposureProtectorTest, RefusesOrderBoundsTheWrongWayRound) {
    const auto opened = find_strategy_type("exposure_protector")
                            ->open(parse_json(R"({"min_order_notional_quote":"600"})").value());
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().problems.front().path, "max_order_notional_quote");
}

}  // namespace
}  // namespace interlock
