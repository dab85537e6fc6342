// Calls that come between a pulse and what it leads to: both are in one batch of the engine, so the
// call is committed before the strategies act or the hydration is taken over.
#include <gtest/gtest.h>

#include "testing/bot_world.h"

namespace interlock {
namespace {

class BotRaces : public ::testing::Test {
protected:
    // The pulse that is due and the call, in this order, in one batch.
    template <class Call>
    void pulse_and(Call call) {
        world.clock.advance(kPulseEvery);
        EXPECT_TRUE(world.paper->advance(world.clock.now()));
        world.engine->hold();
        for (TurnRequest& turn : world.bots->pulse()) {
            world.submit(std::move(turn));
        }
        bool is_answered = false;
        call([&](const Result<Answer>& answer) { is_answered = answer.has_value(); });
        world.engine->release();
        world.run_effects();
        EXPECT_TRUE(is_answered);
    }
    void disconnect(BotService::Reply reply) {
        world.bots->disconnect(world.human(), std::move(reply));
    }
    // A person's grid takes one of the bot's markets by a switch.
    void give_away(const std::string& symbol) {
        const Json made = world.body([&](BotService::Reply reply) {
            const Json body = Json::object({
                {"idempotency_key", "create"},
                {"strategy_type", "idle"},
                {"market_symbol", symbol},
                {"config", Json::object()},
                {"mode", "observe"},
            });
            world.plane->strategies->create(
                world.human(), decode_create_strategy(body).value(), std::move(reply));
        });
        world.body([&](BotService::Reply reply) {
            const Json body = Json::object({{"idempotency_key", "switch"}, {"reason", "test"}});
            world.plane->strategies->move(
                world.human(),
                {StrategyId::trusted(BotWorld::word_of(made, "id")),
                 ControlAction::switch_strategy,
                 decode_move_strategy(body).value()},
                std::move(reply));
        });
    }
    BotWorld world;
};

TEST_F(BotRaces, AStopBetweenAPulseAndItsOrdersKeepsThemBack) {
    world.run_bot();
    pulse_and([&](BotService::Reply reply) {
        world.bots->call(world.agent(), {.call = BotCall::stop}, std::move(reply));
    });
    ASSERT_EQ(world.times("BOT_PULSE"), 1);
    EXPECT_EQ(world.state(), "stopped");
    EXPECT_EQ(world.orders_sent(), 0);
}

TEST_F(BotRaces, AClosedSessionBetweenAPulseAndItsOrdersKeepsThemBack) {
    world.run_bot();
    pulse_and([&](BotService::Reply reply) { disconnect(std::move(reply)); });
    ASSERT_EQ(world.times("BOT_PULSE"), 1);
    EXPECT_EQ(world.orders_sent(), 0);
}

TEST_F(BotRaces, PulsesWithoutSuchACallPlaceTheirOrders) {
    world.run_bot();
    pulse_and(
        [&](BotService::Reply reply) { world.bots->connect(world.human(), std::move(reply)); });
    ASSERT_EQ(world.times("BOT_PULSE"), 1);
    EXPECT_GT(world.orders_sent(), 0);
}

// A wall clock that steps by an hour neither freezes the pulses nor has them come twice as often,
// and what an owner sets is carried into orders all the same.
class BotClock : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(BotClock, AStepOfTheWallClockLeavesThePulsesAlone) {
    BotWorld world;
    world.run_bot();
    world.pass(Duration::of_seconds(30));
    const auto pulses = [&] { return world.bots->board().view(world.tenant)->pulses; };
    const std::int64_t before = pulses();
    world.clock.step_to(world.clock.now() + Duration::of_minutes(GetParam()));
    world.pass(Duration::of_seconds(60));
    EXPECT_GE(pulses() - before, 5);
    EXPECT_LE(pulses() - before, 7);
    EXPECT_EQ(world.bots->board().view(world.tenant)->pulses_late, 0);
    EXPECT_EQ(world.state(), "running");
    const std::int64_t orders = world.orders_sent();
    world.change(world.human(), "update_pnl", UpdatePnl{Decimal::parse("3").value()});
    world.pass(Duration::of_seconds(45));
    EXPECT_GT(world.orders_sent(), orders);
}

INSTANTIATE_TEST_SUITE_P(OneHour, BotClock, ::testing::Values(-60, 60));

TEST_F(BotRaces, TheEndOfAStallDoesNotOpenASessionThatWasClosedMeanwhile) {
    world.run_bot();
    world.restart();
    // The first good answer after the start; the second one leads to a hydration.
    while (world.bots->board().view(world.tenant)->record.stall.good_pulses == 0) {
        world.pass(Duration::of_seconds(1));
    }
    pulse_and([&](BotService::Reply reply) { disconnect(std::move(reply)); });
    EXPECT_EQ(world.count("BOT_RESUMED"), 0);
    EXPECT_EQ(*world.bots->status(world.tenant).find("connected"), Json(false));
    EXPECT_EQ(*world.bots->status(world.tenant).find("stalled"), Json(true));
    world.body([&](BotService::Reply reply) { world.bots->connect(world.human(), reply); });
    world.pass(Duration::of_seconds(40));
    EXPECT_EQ(world.count("BOT_RESUMED"), 1);
}

TEST_F(BotRaces, AMarketThatASwitchGaveAwayKeepsNoOtherFromTradingAfterAStall) {
    world.run_bot();
    give_away("SOLUSDT");
    world.pass(Duration::of_seconds(30));
    ASSERT_FALSE(world.open_orders().empty());
    world.restart();
    world.pass(Duration::of_seconds(40));
    EXPECT_EQ(world.count("BOT_RESUMED"), 1);
    const std::int64_t pulses = world.times("BOT_PULSE");
    world.pass(Duration::of_seconds(30));
    EXPECT_GT(world.times("BOT_PULSE"), pulses);
    const auto orders = world.open_orders();
    for (const VenueOrder& order : orders) {
        EXPECT_NE(order.symbol.text(), "SOLUSDT");
    }
}

TEST_F(BotRaces, AStallEndsWithTheBotThatLosesItsKeys) {
    world.run_bot();
    world.body([&](BotService::Reply reply) { disconnect(std::move(reply)); });
    ASSERT_EQ(*world.bots->status(world.tenant).find("stalled"), Json(true));
    KeyPermissions bad = good_spot_permissions();
    bad.can_withdraw = true;
    ASSERT_TRUE(world.keys.set(SecretString("good"), bad));
    world.clock.advance(Duration::of_days(1));
    world.plane->runner.fire_timers(100);
    world.run_effects();
    EXPECT_EQ(world.state(), "uninitialized");
    EXPECT_EQ(*world.bots->status(world.tenant).find("stalled"), Json(false));
}

}  // namespace
}  // namespace interlock
