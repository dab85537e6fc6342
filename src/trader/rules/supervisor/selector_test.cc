#include "trader/rules/supervisor/selector.h"

#include <gtest/gtest.h>

#include "trader/rules/supervisor/test_supervisor_facts.h"

namespace interlock {
namespace {

class Selector : public ::testing::Test {
protected:
    void expect_keep(std::string_view rule) {
        const SupervisorDecision decision = world.decide();
        EXPECT_EQ(to_word(decision.action), "keep");
        EXPECT_EQ(decision.rule, rule) << decision.reason;
    }
    void expect_switch(std::string_view target, std::string_view rule) {
        const SupervisorDecision decision = world.decide();
        EXPECT_EQ(to_word(decision.action), "switch") << decision.rule << ": " << decision.reason;
        EXPECT_EQ(decision.rule, rule);
        EXPECT_EQ(decision.target ? decision.target->text() : "none", target);
        EXPECT_GE(decision.confidence, world.facts.policy.min_confidence);
    }
    void make_wild() {
        Shape wild = kRangeShape;
        wild.volatility = VolatilityRegime::high;
        world.market(wild);
    }

    SupervisorWorld world;
};

TEST_F(Selector, KeepsTheGridInARange) {
    expect_keep("active_fits");
    EXPECT_EQ(world.decide().narrative.regime, MarketRegime::range);
}

TEST_F(Selector, HandsARiseToTheTrendFollowerOfThatSide) {
    world.market(kRiseShape);
    expect_switch("trend", "trend_takes_over");
}

TEST_F(Selector, HandsAFallToTheShortOne) {
    world.market(kFallShape);
    expect_switch("short", "trend_takes_over");
}

TEST_F(Selector, TurnsFromOneTrendFollowerToTheOther) {
    world.activate("trend");
    world.market(kFallShape);
    expect_switch("short", "trend_takes_over");
}

TEST_F(Selector, LeavesTheGridInATrendWhosePullbacksExceedItsStep) {
    for (const Timeframe timeframe : {Timeframe::m1, Timeframe::m5, Timeframe::m15}) {
        world.market(kRiseShape);
        Shape deep = kRiseShape;
        deep.pullback = "0.011";
        world.market_at(timeframe, deep);
        expect_keep("pullbacks_exceed_step");
    }
}

TEST_F(Selector, TakesAPullbackOfExactlyOneStepForTooSmall) {
    Shape even = kRiseShape;
    even.pullback = "0.01";
    world.market(even);
    expect_switch("trend", "trend_takes_over");
}

TEST_F(Selector, WaitsForFiveAndFifteenMinutesToConfirm) {
    for (const Timeframe timeframe : {Timeframe::m5, Timeframe::m15}) {
        world.market(kRiseShape);
        world.market_at(timeframe, kRangeShape);
        expect_keep("unclear_market");
    }
}

TEST_F(Selector, WaitsForTheMinuteToComeFirst) {
    world.market(kRiseShape);
    world.market_at(Timeframe::m1, kRangeShape);
    expect_keep("unclear_market");
}

TEST_F(Selector, GoesBackToTheGridWhenTheMarketRanges) {
    world.activate("trend");
    expect_switch("grid", "range_returns");
}

TEST_F(Selector, LeavesIdleForWhatTheMarketWants) {
    world.activate("idle");
    expect_switch("grid", "range_returns");
    world.market(kRiseShape);
    expect_switch("trend", "trend_takes_over");
}

TEST_F(Selector, CallsTheProtectorWhenAGridCouldFundOneSideOnly) {
    world.at("grid").capacity_available = false;
    world.at("protector").inventory_pressure = supervised("-0.9");
    expect_switch("protector", "one_side_unfunded");
}

TEST_F(Selector, LeavesTheProtectorAtWorkUntilBothSidesCanBeFunded) {
    world.activate("protector");
    world.at("grid").capacity_available = false;
    expect_keep("protector_at_work");
    world.at("grid").capacity_available = true;
    expect_switch("grid", "both_sides_funded");
}

TEST_F(Selector, LeavesTheProtectorInAnUnclearMarketToo) {
    world.activate("protector");
    world.market_at(Timeframe::m5, kRiseShape);
    ASSERT_EQ(world.decide().narrative.regime, MarketRegime::unclear);
    expect_switch("grid", "both_sides_funded");
}

TEST_F(Selector, DoesNotCallTheProtectorWhileEntriesAreStopped) {
    world.at("grid").capacity_available = false;
    world.facts.risk_mode = RiskMode::reduce_only;
    expect_keep("active_fits");
}

TEST_F(Selector, HoldsTheActiveStrategyForTheMinimum) {
    world.market(kRiseShape);
    world.activate("grid", {Duration::of_minutes(15).microseconds - 1});
    expect_keep("minimum_hold");
    world.activate("grid", Duration::of_minutes(15));
    expect_switch("trend", "trend_takes_over");
}

TEST_F(Selector, HoldsWhenItIsNotKnownSinceWhen) {
    world.market(kRiseShape);
    world.facts.active_since.reset();
    expect_keep("minimum_hold");
}

TEST_F(Selector, KeepsWhatItIsNotSureEnoughToChange) {
    world.market(kRiseShape);
    world.facts.policy.min_confidence = supervised("0.999");
    expect_keep("confidence_too_low");
}

TEST_F(Selector, PausesTheGridInAFallThatNothingFits) {
    world.market(kFallShape);
    world.remove("short");
    const SupervisorDecision decision = world.decide();
    EXPECT_EQ(decision.action, SupervisorAction::pause) << decision.rule;
    EXPECT_EQ(decision.rule, "nothing_fits_fall");
}

TEST_F(Selector, DoesNotPauseTheGridInARiseThatNothingFits) {
    world.market(kRiseShape);
    world.remove("trend");
    expect_keep("no_candidate");
}

TEST_F(Selector, ResumesWhatItPausedWhenTheMarketRanges) {
    world.at("grid").paused = true;
    world.at("grid").paused_by_supervisor = true;
    world.facts.memory.tightened_at = world.facts.now - Duration::of_minutes(15);
    EXPECT_EQ(world.decide().action, SupervisorAction::resume) << world.decide().rule;
    world.facts.memory.tightened_at = world.facts.now - Duration::of_minutes(14);
    expect_keep("minimum_hold");
}

TEST_F(Selector, LeavesPausedWhatPeoplePaused) {
    world.at("grid").paused = true;
    expect_keep("paused_by_people");
    world.market(kRiseShape);
    expect_keep("paused_by_people");
}

TEST_F(Selector, NeverResumesALatchedStrategy) {
    world.at("grid").paused = true;
    world.at("grid").paused_by_supervisor = true;
    world.at("grid").is_latched = true;
    world.facts.memory.tightened_at = world.facts.now - Duration::of_hours(1);
    expect_keep("not_runnable");
}

TEST_F(Selector, TightensAVolatileMarketOnceAndLoosensItAfterTheHold) {
    make_wild();
    const SupervisorDecision decision = world.decide();
    ASSERT_EQ(decision.action, SupervisorAction::set_risk_mode);
    EXPECT_EQ(decision.risk_mode, RiskMode::defensive);
    world.facts.memory = remember(world.facts, decision, true);
    world.facts.risk_mode = RiskMode::defensive;
    expect_keep("volatile_market");

    world.market(kRangeShape);
    world.facts.memory.regime = MarketRegime::range;
    expect_keep("active_fits");
    world.facts.memory.tightened_at = world.facts.now - Duration::of_minutes(15);
    const SupervisorDecision loosened = world.decide();
    EXPECT_EQ(loosened.rule, "calm_again");
    EXPECT_EQ(loosened.risk_mode, RiskMode::normal);
}

TEST_F(Selector, LeavesARiskModeThatPeopleSet) {
    world.facts.risk_mode = RiskMode::defensive;
    world.facts.memory.tightened_at = world.facts.now - Duration::of_hours(1);
    expect_keep("active_fits");
}

TEST_F(Selector, ForgetsItsRiskModeWhenPeopleSetAnother) {
    world.facts.risk_mode = RiskMode::reduced;
    world.facts.memory.risk_mode_set = RiskMode::defensive;
    world.facts.memory.risk_mode_before = RiskMode::normal;
    const SupervisorMemory next = remember(world.facts, world.decide(), false);
    EXPECT_EQ(next.risk_mode_set, std::nullopt);
    EXPECT_EQ(next.risk_mode_before, std::nullopt);
}

TEST_F(Selector, KeepsWhileExecutionIsDegraded) {
    world.market(kRiseShape);
    world.facts.quality = ExecutionQuality::degraded;
    expect_keep("execution_degraded");
    make_wild();
    EXPECT_EQ(world.decide().action, SupervisorAction::set_risk_mode);
}

TEST_F(Selector, StaysOutOfWhatPeopleOrAStopHold) {
    world.market(kRiseShape);
    world.facts.status = ConcernStatus::informational;
    expect_keep("informational");
    world.facts.status = ConcernStatus::paused;
    expect_keep("concern_paused");
    world.facts.status = ConcernStatus::active;
    world.facts.kill_switch_active = true;
    expect_keep("kill_switch_active");
    world.facts.kill_switch_active = false;
    world.facts.is_switching = true;
    expect_keep("switch_in_progress");
    world.facts.is_switching = false;
    world.facts.active_strategy_id.reset();
    expect_keep("no_active_strategy");
}

TEST_F(Selector, PassesOverWhatCannotRunAndSaysWhy) {
    world.market(kRiseShape);
    world.at("trend").is_latched = true;
    expect_keep("no_candidate");
    EXPECT_EQ(world.decide().fits.back().excluded, "latched");
    world.at("trend").is_latched = false;
    world.at("trend").problem = "Its config cannot be read.";
    expect_keep("no_candidate");
    EXPECT_EQ(world.decide().fits.back().excluded, "not_runnable");
    world.at("trend").problem.clear();
    world.at("trend").concern_id = ConcernId::trusted("other:abcusdt");
    expect_keep("no_candidate");
    EXPECT_EQ(world.decide().fits.back().excluded, "other_concern");
}

TEST_F(Selector, LeavesALatchedStrategyWithoutAMargin) {
    world.activate("trend");
    world.at("trend").is_latched = true;
    expect_switch("grid", "range_returns");
}

TEST_F(Selector, ScoresTheFitsAsDocumented) {
    Shape shape{"1", "0.3", "0.01"};
    world.market(shape);
    // Persistence (0.5 + 0.3) / 2 = 0.4 up on all; pullback 0.01 of a step of 0.01 is one half.
    const SupervisorDecision decision = world.decide();
    EXPECT_EQ(to_text(decision.narrative.consensus), "0.4");
    EXPECT_EQ(to_text(decision.fits[0].fit), "0.56");  // 0.6 × 0.6 + 0.4 × 0.5
    EXPECT_EQ(to_text(decision.fits[1].fit), "0.25");
    EXPECT_EQ(to_text(decision.fits[2].fit), "0");
    EXPECT_EQ(to_text(decision.fits[3].fit), "0");
    EXPECT_EQ(to_text(decision.fits[4].fit), "0.43");  // 0.7 × 0.4 + 0.3 × 0.5
}

TEST_F(Selector, AsksForWhatAnAgentWouldSend) {
    world.market(kRiseShape);
    const SupervisorDecision decision = world.decide();
    const Json payload =
        control_payload(world.facts, decision, DecisionId::trusted("hermes.main:abcusdt.7"));
    const auto read = decode_control_decision(payload);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->action, ControlAction::switch_strategy);
    EXPECT_EQ(read->target_strategy_id, StrategyId::trusted("trend"));
    EXPECT_EQ(read->expected_active_strategy_id, StrategyId::trusted("grid"));
    EXPECT_EQ(read->confidence, decision.confidence);
    EXPECT_FALSE(read->override_guards);
}

TEST_F(Selector, ReadsItsBundleBackAsItWas) {
    world.facts.memory.risk_mode_set = RiskMode::defensive;
    world.facts.memory.tightened_at = world.facts.now;
    const auto read = decode_supervisor_facts(encode(world.facts), world.facts.now);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, world.facts);
}

TEST_F(Selector, LeavesTheTimeOutOfTheBundle) {
    const Json before = encode(world.facts);
    world.facts.now = world.facts.now + Duration::of_seconds(60);
    EXPECT_EQ(encode(world.facts), before);
}

TEST_F(Selector, RefusesABundleWithAKeyItDoesNotKnow) {
    Json bundle = encode(world.facts);
    bundle.set("mood", "good");
    EXPECT_FALSE(decode_supervisor_facts(bundle, world.facts.now));
}

}  // namespace
}  // namespace interlock
