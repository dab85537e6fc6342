// What people may set of control decisions (control-decision.md#switching): the optional guards,
// what a pause leaves at the venue, how the old strategy stands after a switch, and how long its
// cancels may take.
#include <gtest/gtest.h>

#include "testing/strategy_world.h"

namespace interlock {
namespace {

// A grid that holds coins and so has both entries (buys) and reductions (sells) at the venue.
struct ControlConfigTest : ::testing::Test {
    void start(const ControlConfig& config) {
        world.control_config = config;
        world.rebuild();
        world.pass(Duration::of_seconds(30));
        world.trade("x0", Json::array({LoopWorld::intent("buy", "2", "100.01")}));
        grid = world.create("grid_trader", StrategyWorld::grid_config());
        idle = world.create("idle");
        ASSERT_EQ(word(world.decide(switch_to("d0", grid, "1")), "status"), "applied");
        world.pass(Duration::of_seconds(10));
        ASSERT_EQ(open(Side::buy), 2u);
        ASSERT_EQ(open(Side::sell), 2u);
    }
    std::size_t open(Side side) {
        const VenueReport report = world.paper->report(world.venue_account(), 0).value();
        return static_cast<std::size_t>(std::count_if(
            report.open_orders.begin(), report.open_orders.end(), [side](const VenueOrder& order) {
                return order.side == side;
            }));
    }
    static Json with_confidence(Json payload, std::string_view confidence) {
        payload.set("confidence", Json::number(std::string(confidence)));
        return payload;
    }
    static Json switch_to(
        const std::string& id, const std::string& target, std::string_view confidence) {
        return with_confidence(StrategyWorld::switch_to(id, target), confidence);
    }
    static Json overridden(Json payload) {
        payload.set("override", true);
        return payload;
    }
    static Json risk_mode(const std::string& id, std::string_view mode) {
        Json payload = StrategyWorld::payload(id, "set_risk_mode");
        payload.set("risk_mode", mode);
        return payload;
    }

    StrategyWorld world;
    std::string grid;
    std::string idle;
};

TEST_F(ControlConfigTest, ByDefaultAPauseTakesEntriesBackAndTellsWhatIsStillOpen) {
    start({});
    const Json answer = world.decide(StrategyWorld::payload("d1", "pause"));
    ASSERT_EQ(word(answer, "status"), "applied");
    std::size_t asked = 0;
    const auto& told = answer.find("result")->find("open_orders")->items();
    for (const Json& order : told) {
        asked += order.find("cancel_requested")->as_bool() ? 1 : 0;
    }
    EXPECT_EQ(told.size(), 4u);
    EXPECT_EQ(asked, 2u);
    world.pass(Duration::of_seconds(30));
    EXPECT_EQ(open(Side::buy), 0u);
    EXPECT_EQ(open(Side::sell), 2u);
}

TEST_F(ControlConfigTest, APauseMayKeepAllOrders) {
    start({.on_pause = OnPause::keep});
    EXPECT_EQ(word(world.decide(StrategyWorld::payload("d1", "pause")), "status"), "applied");
    world.pass(Duration::of_seconds(30));
    EXPECT_EQ(open(Side::buy), 2u);
    EXPECT_EQ(open(Side::sell), 2u);
}

TEST_F(ControlConfigTest, APauseMayTakeAllOrdersBack) {
    start({.on_pause = OnPause::cancel_all});
    EXPECT_EQ(word(world.decide(StrategyWorld::payload("d1", "pause")), "status"), "applied");
    EXPECT_EQ(open(Side::buy) + open(Side::sell), 0u);
}

// The ladder says which orders may stand.
TEST_F(ControlConfigTest, ReduceOnlyTakesEntriesBackAndHaltedEverything) {
    start({});
    world.holds_effects = true;
    EXPECT_EQ(word(world.decide(risk_mode("d1", "reduce_only")), "status"), "applied");
    EXPECT_EQ(world.waiting.size(), 2u);
    world.run_effects();
    EXPECT_EQ(open(Side::buy), 0u);
    EXPECT_EQ(open(Side::sell), 2u);
    EXPECT_EQ(word(world.decide(risk_mode("d2", "halted")), "status"), "applied");
    world.run_effects();
    EXPECT_EQ(open(Side::sell), 0u);
}

TEST_F(ControlConfigTest, TheOldStrategyObservesAfterASwitch) {
    start({});
    EXPECT_EQ(word(world.decide(switch_to("d1", idle, "1")), "status"), "applied");
    EXPECT_EQ(word(world.get(grid), "mode"), "observe");
}

TEST_F(ControlConfigTest, TheOldStrategyMayBeOffAfterASwitch) {
    start({.after_switch = InstanceMode::off});
    EXPECT_EQ(word(world.decide(switch_to("d1", idle, "1")), "status"), "applied");
    EXPECT_EQ(word(world.get(grid), "mode"), "off");
}

TEST_F(ControlConfigTest, CancelsMayTakeAsLongAsIsSet) {
    start({.cancel_timeout = Duration::of_seconds(3)});
    world.holds_effects = true;
    EXPECT_EQ(world.decide(switch_to("d1", idle, "1")), Json("no answer yet"));
    world.clock.advance(Duration::of_seconds(2));
    world.plane->runner.fire_timers(100);
    EXPECT_EQ(world.late_answer(), Json("no answer yet"));
    world.clock.advance(Duration::of_seconds(1));
    world.plane->runner.fire_timers(100);
    EXPECT_EQ(code(world.late_answer()), "cancel_unconfirmed");
}

TEST_F(ControlConfigTest, ASwitchAsksAgainForCancelsThatWereLost) {
    start({});
    world.holds_effects = true;
    EXPECT_EQ(world.decide(switch_to("d1", idle, "1")), Json("no answer yet"));
    EXPECT_EQ(world.waiting.size(), 4u);
    world.waiting.clear();
    world.clock.advance(Duration::of_seconds(10));
    world.plane->runner.fire_timers(100);
    ASSERT_EQ(code(world.late_answer()), "cancel_unconfirmed");
    world.decide(overridden(switch_to("d2", idle, "1")));
    EXPECT_EQ(world.waiting.size(), 4u);
    world.run_effects();
    EXPECT_EQ(word(world.late_answer(), "status"), "applied");
    EXPECT_EQ(open(Side::buy) + open(Side::sell), 0u);
}

TEST_F(ControlConfigTest, LowConfidenceStartsNothingEvenWithOverride) {
    start({.guards = {.min_confidence = Decimal::parse("0.65").value(), .minimum_hold = {}}});
    EXPECT_EQ(code(world.decide(overridden(switch_to("d1", idle, "0.64")))), "confidence_too_low");
    const Json pause = with_confidence(StrategyWorld::payload("d2", "pause"), "0.1");
    EXPECT_EQ(word(world.decide(pause), "status"), "applied");
    const Json resume = with_confidence(StrategyWorld::payload("d3", "resume"), "0.64");
    EXPECT_EQ(code(world.decide(resume)), "confidence_too_low");
    EXPECT_EQ(world.active(), grid);
    EXPECT_EQ(word(world.decide(switch_to("d1", idle, "0.65")), "status"), "applied");
}

TEST_F(ControlConfigTest, TheActiveStrategyIsHeldForAWhileUnlessOverridden) {
    start({.guards = {.min_confidence = {}, .minimum_hold = Duration::of_minutes(15)}});
    EXPECT_EQ(code(world.decide(switch_to("d1", idle, "1"))), "minimum_hold");
    EXPECT_EQ(word(world.decide(overridden(switch_to("d2", idle, "1"))), "status"), "applied");
    EXPECT_EQ(code(world.decide(switch_to("d3", grid, "1"))), "minimum_hold");
    world.pass(Duration::of_minutes(15), Duration::of_seconds(20));
    EXPECT_EQ(word(world.decide(switch_to("d3", grid, "1")), "status"), "applied");
}

}  // namespace
}  // namespace interlock
