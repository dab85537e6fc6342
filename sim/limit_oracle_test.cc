// The oracle of limits is itself held to a few plans whose verdicts are plain.
#include "sim/limit_oracle.h"

#include <gtest/gtest.h>

#include "loop/rules/gates/gates.h"
#include "loop/rules/gates/sample_world.h"

namespace interlock::sim {
namespace {

// A plan that sells all that is held, of a strategy that the throttle disabled.
SampleWorld throttled_exit() {
    SampleWorld world = sample_world();
    world.state.strategies.front().is_disabled = true;
    world.plan.intents = {sample_sell()};
    world.plan.intents.front().qty = world.state.symbols.front().position;
    return world;
}

std::optional<Violation> judged(const SampleWorld& world, const Json& validation) {
    ViolationLog log;
    LimitOracle(log).judge({world.state, world.market, world.plan}, validation, "d1");
    return log.first();
}

Json refused_for(const std::string& code) {
    return Json::object(
        {{"blocking_reasons", Json::array({"policy_guardrails:" + code + ":BTCUSDT"})}});
}

TEST(LimitOracle, ReportsAThrottleThatHoldsUpAnExit) {
    const SampleWorld world = throttled_exit();
    for (const char* code : {"strategy_disabled", "repeated_execution"}) {
        const auto found = judged(world, refused_for(code));
        ASSERT_TRUE(found) << code;
        EXPECT_EQ(found->invariant, "exit");
    }
    EXPECT_FALSE(judged(world, encode(run_gates(world.input()))));
}

TEST(LimitOracle, LeavesAThrottledEntryRefused) {
    SampleWorld world = throttled_exit();
    world.plan.intents.front().qty =
        add(world.plan.intents.front().qty, sample_decimal("1")).value();
    EXPECT_FALSE(judged(world, refused_for("strategy_disabled")));
    world.plan.intents = {sample_buy()};
    EXPECT_FALSE(judged(world, encode(run_gates(world.input()))));
}

}  // namespace
}  // namespace interlock::sim
