// A wall clock that steps by an hour neither freezes what beats for strategies nor has it come
// twice as often: their ticks, the supervisor's rounds, the judgements of execution. Bots have a
// test of their own (bots/service/bot_races_test.cc).
#include <gtest/gtest.h>

#include "testing/strategy_world.h"

namespace interlock {
namespace {

class StrategyClock : public ::testing::TestWithParam<std::int64_t> {
protected:
    void start(const std::string& type, const Json& config) {
        id = world.create(type, config);
        ASSERT_EQ(word(world.decide(StrategyWorld::switch_to("d0", id)), "status"), "applied");
        world.pass(Duration::of_seconds(30));
    }
    void step_the_clock() {
        world.clock.step_to(world.clock.now() + Duration::of_minutes(GetParam()));
    }

    StrategyWorld world;
    std::string id;
};

INSTANTIATE_TEST_SUITE_P(OneHour, StrategyClock, ::testing::Values(-60, 60));

TEST_P(StrategyClock, AStepOfTheWallClockLeavesTheTicksAlone) {
    start("idle", Json::object({{"tick_seconds", 5}}));
    const std::int64_t before = world.times("PLAN_CREATED");
    step_the_clock();
    world.pass(Duration::of_seconds(60));
    EXPECT_GE(world.times("PLAN_CREATED") - before, 11);
    EXPECT_LE(world.times("PLAN_CREATED") - before, 13);
}

// Nothing stands still behind a status that says "running".
TEST_P(StrategyClock, AGridGoesOnTradingWhenTheWallClockWasSet) {
    start("grid_trader", StrategyWorld::grid_config());
    ASSERT_GT(world.open_orders(), 0u);
    step_the_clock();
    world.pass(Duration::of_seconds(30));
    EXPECT_EQ(word(world.get(id), "status"), "running");
    world.set_concern(ConcernStatus::informational);
    world.pass(Duration::of_seconds(2));
    EXPECT_EQ(world.open_orders(), 0u);
    world.set_concern(ConcernStatus::active);
    world.pass(Duration::of_seconds(5));
    EXPECT_GT(world.open_orders(), 0u);
}

TEST_P(StrategyClock, AStepOfTheWallClockLeavesTheSupervisorsRoundsAlone) {
    world.supervisor_config.enabled = true;
    world.supervisor_config.every = Duration::of_seconds(10);
    world.rebuild();
    start("idle", Json::object());
    const std::string event(kSupervisorEvent);
    const std::int64_t before = world.times(event);
    step_the_clock();
    world.pass(Duration::of_seconds(60));
    EXPECT_GE(world.times(event) - before, 5);
    EXPECT_LE(world.times(event) - before, 7);
}

TEST_P(StrategyClock, AStepOfTheWallClockLeavesTheJudgementsOfExecutionAlone) {
    start("idle", Json::object());
    ASSERT_EQ(word(world.concern(), "execution_quality"), "good");
    step_the_clock();
    ASSERT_TRUE(world.paper->set_faults(
        {{.kind = PaperFaultKind::clock_skew, .delay = Duration::of_seconds(2)}}));
    world.pass(kQualityEvery);
    world.pass(VenueWatch::kBeatEvery);
    EXPECT_EQ(word(world.concern(), "execution_quality"), "degraded");
    EXPECT_EQ(to_text(*world.concern().find("reasons")), R"(["clock_skew"])");
}

}  // namespace
}  // namespace interlock
