// What the service learns of execution and what follows (control-decision.md#degraded-execution):
// the thresholds are the core's; that the facts reach them, and the verdict the ladder and the
// record, is told here.
#include <gtest/gtest.h>

#include "market/rules/market_model.h"
#include "testing/strategy_world.h"

namespace interlock {
namespace {

// An active idle strategy: the concern is judged whatever its strategy does.
struct ControlQualityTest : ::testing::Test {
    ControlQualityTest() {
        world.create("idle");
        idle = world.create("idle");
        EXPECT_EQ(word(world.decide(StrategyWorld::switch_to("d0", idle)), "status"), "applied");
        world.pass(Duration::of_seconds(30));
        EXPECT_EQ(quality(), "good");
    }
    // One regular evaluation, without a look at the venue.
    void judge() {
        world.clock.advance(kQualityEvery);
        EXPECT_TRUE(world.paper->advance(world.clock.now()));
        for (TurnRequest& turn : world.plane->decisions->quality_turns(world.clock.monotonic())) {
            world.submit(std::move(turn));
        }
    }
    void note(std::optional<Timestamp> reached_at, std::int64_t skew_ms) {
        world.plane->decisions->note_venue(TradeMode::paper, reached_at, skew_ms);
    }
    std::string quality() { return word(world.concern(), "execution_quality"); }
    std::string reasons() { return to_text(*world.concern().find("reasons")); }
    bool may_buy(const std::string& decision) {
        const Json verdict =
            world.validate(decision, Json::array({LoopWorld::intent("buy", "1", "99")}));
        return verdict.find("validation")->find("pass")->as_bool();
    }

    // A book with a tenth of an ABC at the touch and plenty so many ticks behind it; plenty at the
    // touch for none.
    void set_book(std::int64_t behind) {
        const Lots first{behind == 0 ? 20'000 : 100};
        MarketView view;
        view.bids = {{{9'999}, first}, {{9'998 - behind}, {20'000}}};
        view.asks = {{{10'001}, first}, {{10'002 + behind}, {20'000}}};
        world.market->set(step_of(world.clock.now()), view);
        pass_a_moment();
    }
    void pass_a_moment() { world.pass(Duration::of_seconds(1)); }
    // Market orders of one ABC each, all of them rehearsed with this slippage assumed.
    void trade(std::string_view side, int count, int assumed_bps) {
        for (int i = 0; i < count; ++i) {
            const std::string id = "m" + std::to_string(++trades_);
            const Json intents = Json::array(
                {LoopWorld::intent(side, "1.00" + std::to_string(trades_ % 10), Json())});
            world.validate(id, intents);
            Json body = LoopWorld::ids_of(id, "assumed" + id);
            body.set("plan", Json::object({{"intents", intents}}));
            body.set("assumptions", Json::object({{"slippage_bps", assumed_bps}, {"fee_bps", 0}}));
            world.call("dry_run", body);
            const Json answer = world.call("execute", world.execute_body(id, intents));
            EXPECT_EQ(word(answer, "status"), "ok") << to_text(answer);
            pass_a_moment();
        }
    }
    std::string worst_slippage() {
        const Json report = *world.get(idle).find("report")->find("execution");
        return word(report, "slippage_bps_worst");
    }

    StrategyWorld world;
    std::string idle;

private:
    int trades_ = 0;
};

// Sold exactly at the bid, whatever the planner says that it had expected.
TEST_F(ControlQualityTest, WhatAPlannerAssumesDegradesNothing) {
    set_book(0);
    trade("buy", 6, 60);
    trade("sell", 5, 60);
    EXPECT_EQ(worst_slippage(), "0");
    judge();
    EXPECT_EQ(quality(), "good");
}

TEST_F(ControlQualityTest, WhatAPlannerAssumesHidesNoSlippageOfBuys) {
    set_book(43);
    trade("buy", 5, 0);
    judge();
    EXPECT_EQ(quality(), "degraded");
    EXPECT_EQ(reasons(), R"(["slippage"])");
    // A tenth at the touch and nine tenths 44 ticks behind it.
    const auto worst = Decimal::parse(worst_slippage());
    ASSERT_TRUE(worst);
    EXPECT_GT(*worst, Decimal(39));
    EXPECT_LT(*worst, Decimal(40));
}

TEST_F(ControlQualityTest, WhatAPlannerAssumesHidesNoSlippageOfSells) {
    set_book(0);
    trade("buy", 6, 0);
    EXPECT_EQ(quality(), "good");
    set_book(90);
    trade("sell", 5, 0);
    judge();
    // Six buys at the touch and five sells about 80 below it.
    EXPECT_EQ(quality(), "degraded");
    EXPECT_EQ(reasons(), R"(["slippage"])");
}

// An order that rests has no slippage, however it is filled later.
TEST_F(ControlQualityTest, AnOrderThatRestsIsNoSample) {
    for (int i = 0; i < 6; ++i) {
        world.trade(
            "r" + std::to_string(i),
            Json::array({LoopWorld::intent("buy", "1", std::to_string(90 + i))}));
    }
    EXPECT_EQ(
        *world.get(idle).find("report")->find("execution")->find("slippage_samples"), Json(0));
    EXPECT_TRUE(
        world.get(idle).find("report")->find("execution")->find("slippage_bps_worst")->is_null());
}

TEST_F(ControlQualityTest, AClockThatIsOffByMoreThanASecondDegrades) {
    note(world.clock.now(), 1000);
    judge();
    EXPECT_EQ(quality(), "good");
    note(world.clock.now(), -1001);
    judge();
    EXPECT_EQ(quality(), "degraded");
    EXPECT_EQ(reasons(), R"(["clock_skew"])");
}

TEST_F(ControlQualityTest, AVenueThatIsSilentForAMinuteStallsAndNobodyMayOrder) {
    note(world.clock.now(), 0);
    judge();
    judge();
    EXPECT_EQ(quality(), "good");
    EXPECT_TRUE(may_buy("x1"));
    judge();
    EXPECT_EQ(quality(), "stalled");
    EXPECT_EQ(reasons(), R"(["venue_silent"])");
    EXPECT_FALSE(may_buy("x2"));
}

TEST_F(ControlQualityTest, MarketDataOlderThanThirtySecondsDegrades) {
    world.clock.advance(Duration::of_seconds(31));  // The market stands still.
    note(world.clock.now(), 0);
    for (TurnRequest& turn : world.plane->decisions->quality_turns(world.clock.monotonic())) {
        world.submit(std::move(turn));
    }
    EXPECT_EQ(quality(), "degraded");
    EXPECT_EQ(reasons(), R"(["market_data_old"])");
}

TEST_F(ControlQualityTest, OrdersLeaveTheWindowAfterFiveMinutes) {
    ASSERT_TRUE(world.paper->set_faults({{.kind = PaperFaultKind::reject}}));
    for (int i = 0; i < 3; ++i) {
        world.trade(
            "x" + std::to_string(i),
            Json::array({LoopWorld::intent("buy", "1", std::to_string(90 + i))}));
    }
    ASSERT_TRUE(world.paper->set_faults({}));
    ASSERT_EQ(quality(), "degraded");
    EXPECT_EQ(reasons(), R"(["reject_rate"])");
    world.pass(Duration::of_minutes(4), Duration::of_seconds(10));
    EXPECT_EQ(quality(), "degraded");
    world.pass(Duration::of_minutes(3), Duration::of_seconds(10));
    EXPECT_EQ(quality(), "good");
}

TEST_F(ControlQualityTest, GettingWorseIsAnAlertAndGettingBetterIsNone) {
    note(world.clock.now(), 2000);
    judge();
    note(world.clock.now(), 0);
    for (int i = 0; i < 3; ++i) {
        note(world.clock.now(), 0);
        judge();
    }
    ASSERT_EQ(quality(), "good");
    std::vector<std::pair<std::string, AuditSeverity>> told;
    const auto records = world.plane->ledger.read(world.tenant, 0, 1000).value();
    for (const AuditRecord& record : records) {
        if (record.draft.event == "EXECUTION_QUALITY") {
            told.emplace_back(record.draft.reason, record.draft.severity);
        }
    }
    EXPECT_EQ(
        told,
        (std::vector<std::pair<std::string, AuditSeverity>>{
            {"good -> degraded", AuditSeverity::critical},
            {"degraded -> good", AuditSeverity::info}}));
}

}  // namespace
}  // namespace interlock
