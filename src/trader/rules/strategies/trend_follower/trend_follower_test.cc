// The trend follower: entries with the trend, exits at its end, the stop, cooldown and the short
// side.
#include "trader/rules/strategies/trend_follower/trend_follower.h"

#include <gtest/gtest.h>

#include "trader/rules/test_planner_world.h"

namespace interlock {
namespace {

class TrendFollowerTest : public ::testing::Test {
protected:
    TrendFollowerTest() { world.hold("0"); }
    void trend(std::string_view strength) {
        TimeframeSignals signals;
        signals.timeframe = Timeframe::m15;
        signals.trend_strength = PlannerWorld::dec(strength);
        world.set_signals(signals);
    }
    Plan run() {
        const Plan plan = world.step(*strategy).plan;
        world.carry_out(plan);
        return plan;
    }
    // Holds something and has seen its trend.
    void ride() {
        world.hold("0.01");
        trend("1");
        world.step(*strategy);
        world.memory().set("cooldown", 100);
    }
    PlannerWorld world;
    std::shared_ptr<const Strategy> strategy = opened_strategy("trend_follower");
};

TEST_F(TrendFollowerTest, BuysBelowMidWhileTheTrendIsStrong) {
    trend("0.5");
    const Plan plan = run();
    ASSERT_EQ(plan.intents.size(), 1u);
    EXPECT_EQ(plan.intents[0].side, Side::buy);
    EXPECT_TRUE(plan.intents[0].post_only);
    // 50005 less a tenth of a per cent, down to the tick.
    EXPECT_EQ(*plan.intents[0].limit_price, PlannerWorld::dec("49954.99"));
}

TEST_F(TrendFollowerTest, DoesNothingBelowItsThreshold) {
    trend("0.499999999");
    EXPECT_TRUE(run().intents.empty());
}

TEST_F(TrendFollowerTest, WithoutSignalsItWaits) {
    const StrategyStep step = world.step(*strategy);
    EXPECT_TRUE(step.plan.intents.empty());
    EXPECT_EQ(step.assessment.current_intent, "wait");
}

TEST_F(TrendFollowerTest, PostureMovesTheThreshold) {
    trend("0.7");
    world.posture = RiskPosture::conservative;
    EXPECT_TRUE(run().intents.empty());
    trend("0.4");
    world.posture = RiskPosture::aggressive;
    EXPECT_EQ(run().intents.size(), 1u);
}

TEST_F(TrendFollowerTest, CoolsDownBetweenEntries) {
    trend("1");
    run();
    world.fill(world.own().front().order_client_id);
    EXPECT_TRUE(run().intents.empty());
    EXPECT_TRUE(run().intents.empty());
    EXPECT_EQ(run().intents.size(), 1u);
}

TEST_F(TrendFollowerTest, AnEntryThatThePriceLeftIsPlacedAnew) {
    trend("1");
    run();
    world.quote("50200", "50210");
    EXPECT_EQ(run().cancels.size(), 1u);
}

TEST_F(TrendFollowerTest, AnEntryThatThePriceComesNearToStays) {
    trend("1");
    run();
    world.quote("49900", "49960");
    const Plan plan = run();
    EXPECT_TRUE(plan.cancels.empty() && plan.intents.empty());
}

TEST_F(TrendFollowerTest, AnEntryIsTakenBackWhenTheTrendIsGone) {
    trend("1");
    run();
    trend("0.1");
    EXPECT_EQ(run().cancels.size(), 1u);
}

TEST_F(TrendFollowerTest, BetweenTheThresholdsItHolds) {
    ride();
    trend("0.3");
    const Plan plan = run();
    EXPECT_TRUE(plan.intents.empty() && plan.cancels.empty());
}

TEST_F(TrendFollowerTest, SellsEverythingPassivelyWhenTheTrendEnds) {
    ride();
    trend("0.2");
    const Plan plan = run();
    ASSERT_EQ(plan.intents.size(), 1u);
    EXPECT_EQ(plan.intents[0].side, Side::sell);
    EXPECT_EQ(plan.intents[0].qty, PlannerWorld::dec("0.01"));
    EXPECT_TRUE(plan.intents[0].post_only);
    EXPECT_GT(*plan.intents[0].limit_price, PlannerWorld::dec("50010"));
}

TEST_F(TrendFollowerTest, SellsAtOnceWhenTheTrendTurns) {
    ride();
    trend("-0.5");
    const Plan plan = run();
    ASSERT_EQ(plan.intents.size(), 1u);
    EXPECT_FALSE(plan.intents[0].post_only);
    EXPECT_EQ(*plan.intents[0].limit_price, PlannerWorld::dec("49950"));
}

TEST_F(TrendFollowerTest, AnUrgentExitStaysInsideTheCollar) {
    strategy = opened_strategy("trend_follower", R"({"exit_offset_pct":"0.05"})");
    ride();
    trend("-1");
    // 80 % of 50 bps below the bid.
    EXPECT_EQ(*run().intents.at(0).limit_price, PlannerWorld::dec("49800"));
}

TEST_F(TrendFollowerTest, APassiveExitMakesWayForAnUrgentOne) {
    ride();
    trend("0.2");
    run();
    trend("-1");
    EXPECT_EQ(run().cancels.size(), 1u);
    EXPECT_FALSE(run().intents.at(0).post_only);
}

TEST_F(TrendFollowerTest, WhatWasHeldBeforeAnyTrendIsLeftAlone) {
    world.hold("0.01");
    trend("-2");
    EXPECT_TRUE(run().intents.empty());
}

TEST_F(TrendFollowerTest, TheTrailingStopFollowsTheTop) {
    strategy = opened_strategy("trend_follower", R"({"trailing_stop_pct":"0.02"})");
    ride();
    world.quote("60000", "60010");
    run();
    world.quote("59000", "59010");
    EXPECT_TRUE(run().intents.empty());
    world.quote("58800", "58808");  // 2.0 % below 60005.
    const Plan plan = run();
    ASSERT_EQ(plan.intents.size(), 1u);
    EXPECT_EQ(plan.intents[0].side, Side::sell);
}

TEST_F(TrendFollowerTest, AfterAStopItWaitsForANewTrend) {
    strategy =
        opened_strategy("trend_follower", R"({"trailing_stop_pct":"0.02","cooldown_ticks":0})");
    ride();
    world.memory().set("cooldown", 0);
    world.quote("48000", "48010");
    run();
    world.fill(world.own().front().order_client_id);
    EXPECT_TRUE(run().intents.empty());
    trend("0.1");
    run();
    trend("1");
    EXPECT_EQ(run().intents.size(), 1u);
}

TEST_F(TrendFollowerTest, EntriesEndAtTheShareOfInventory) {
    world.hold("0.2");
    trend("1");
    EXPECT_TRUE(run().intents.empty());
}

TEST_F(TrendFollowerTest, ReduceOnlyTakesEntriesBackAndStillLeaves) {
    trend("1");
    run();
    world.state().risk_mode = RiskMode::reduce_only;
    EXPECT_EQ(run().cancels.size(), 1u);
    ride();
    trend("-1");
    EXPECT_EQ(run().intents.at(0).side, Side::sell);
}

TEST_F(TrendFollowerTest, TheShortSideSellsWhatIsHeldInSteps) {
    strategy = opened_strategy("trend_follower", R"({"trade_side":"short"})");
    world.hold("0.003");  // 150: one order of 100, then the rest.
    trend("-1");
    const Plan plan = run();
    ASSERT_EQ(plan.intents.size(), 1u);
    EXPECT_EQ(plan.intents[0].side, Side::sell);
    EXPECT_LT(plan.intents[0].qty, PlannerWorld::dec("0.003"));
}

TEST_F(TrendFollowerTest, TheShortSideNeverBuys) {
    strategy = opened_strategy("trend_follower", R"({"trade_side":"short"})");
    trend("3");
    EXPECT_TRUE(run().intents.empty());
}

}  // namespace
}  // namespace interlock
