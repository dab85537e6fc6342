// Built-in planners: the same steps and the same trail as an outside planner (seed 002 §1).
#include "services/loop/loop_ticker.h"

#include <gtest/gtest.h>

#include "testing/loop_world.h"

namespace interlock {
namespace {

PlannerState maker(std::int64_t levels = 1) {
    PlannerState wanted;
    wanted.settings.strategy_id = StrategyId::trusted("mm");
    wanted.settings.symbol = Symbol::parse("ABCUSDT").value();
    wanted.settings.order_quote = Decimal(500);
    wanted.settings.step_bps = Decimal(50);
    wanted.settings.levels = levels;
    wanted.every = Duration::of_seconds(2);
    return wanted;
}

Result<Answer> start(LoopWorld& world, const PlannerState& wanted) {
    std::optional<Result<Answer>> answer;
    world.submit(world.plane->ticker->start_turn(
        {PlaneWorld::agent(), world.tenant, {}}, wanted, [&](Result<Answer> result) {
            answer = std::move(result);
        }));
    return *answer;
}

std::size_t open_orders(LoopWorld& world) {
    return world.account().find("open_orders")->items().size();
}

TEST(LoopTicker, QuotesThroughTheSameStepsAsAnOutsidePlanner) {
    LoopWorld world;
    ASSERT_TRUE(start(world, maker(2)));
    world.pass(Duration::of_seconds(3));
    EXPECT_EQ(open_orders(world), 2u);
    EXPECT_EQ(
        world.events("auto.mm.1.buys"),
        (std::vector<std::string>{
            "PLAN_CREATED",
            "VALIDATION_RESULT",
            "DRY_RUN_RESULT",
            "EXECUTION_ATTEMPT",
            "ORDER_ACKED",
            "ORDER_ACKED",
            "EXECUTION_ATTEMPT",
            "VERIFICATION_RESULT",
            "DECISION_RECORDED"}));
}

TEST(LoopTicker, ATickWithNothingToChangeIsOneSkippedRecord) {
    LoopWorld world;
    ASSERT_TRUE(start(world, maker()));
    world.pass(Duration::of_seconds(5));
    EXPECT_EQ(world.events("auto.mm.2"), std::vector<std::string>{"PLAN_CREATED"});
    EXPECT_EQ(world.orders_sent(), 1);
}

TEST(LoopTicker, GoesOnAfterARestart) {
    LoopWorld world;
    ASSERT_TRUE(start(world, maker()));
    world.pass(Duration::of_seconds(3));
    world.rebuild();
    world.pass(Duration::of_seconds(20));
    EXPECT_EQ(open_orders(world), 1u);
    EXPECT_FALSE(world.events("auto.mm.5").empty() && world.events("auto.mm.5.buys").empty());
}

TEST(LoopTicker, StopsWhenTold) {
    LoopWorld world;
    ASSERT_TRUE(start(world, maker()));
    world.submit(world.plane->ticker->stop_turn(
        {PlaneWorld::agent(), world.tenant, {}}, StrategyId::trusted("mm"), [](Result<Answer>) {}));
    world.pass(Duration::of_seconds(6));
    EXPECT_EQ(world.orders_sent(), 0);
}

TEST(LoopTicker, TheKillSwitchStopsItsTicksToo) {
    LoopWorld world;
    ASSERT_TRUE(start(world, maker()));
    world.plane->kill.activate_by_rule(world.tenant, "test", "stop");
    world.pass(Duration::of_seconds(6));
    EXPECT_EQ(world.orders_sent(), 0);
}

// I9: what was planned comes out of the recorded facts again, byte for byte.
TEST(LoopTicker, APlanIsMadeAgainFromItsRecordedFacts) {
    LoopWorld world;
    ASSERT_TRUE(start(world, maker(3)));
    world.pass(Duration::of_seconds(3));
    const Json record = world.decision("auto.mm.1.buys");
    const auto fetch = [&](const char* key) {
        const std::string ref = record.find("inputs")->find(key)->as_string();
        const auto bytes = world.memory.read_artifact(world.tenant, ref.substr(7)).value();
        return parse_json(bytes.value()).value();
    };
    const StateFacts state = decode_state_facts(fetch("state_hash")).value();
    const MarketSet market = decode_market_set(fetch("market_hash")).value();
    const Plan again = replan(*record.find("planner_input"), state, market).value();
    EXPECT_EQ(to_text(encode(again)), to_text(*record.find("plan")));
}

TEST(LoopTicker, AStrategyOfAnotherPlannerIsNotTakenOver) {
    LoopWorld world;
    world.account();
    PlannerState wanted = maker();
    wanted.settings.strategy_id = StrategyId::trusted("external");
    EXPECT_FALSE(start(world, wanted));
}

}  // namespace
}  // namespace interlock
