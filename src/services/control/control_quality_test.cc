// What the service learns of execution and what follows (SEMANTICS S4, S5): the thresholds are the
// core's; that the facts reach them, and the verdict the ladder and the record, is told here.
#include <gtest/gtest.h>

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
        for (TurnRequest& turn : world.plane->decisions->quality_turns(world.clock.now())) {
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

    StrategyWorld world;
    std::string idle;
};

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
    for (TurnRequest& turn : world.plane->decisions->quality_turns(world.clock.now())) {
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
