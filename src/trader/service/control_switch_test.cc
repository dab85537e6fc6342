// What a switch brings along, what may change while it waits for the venue, and which facts of
// account and target hold it up (control-decision.md#switching).
#include <gtest/gtest.h>

#include "loop/service/loop_store.h"
#include "testing/strategy_world.h"

namespace interlock {
namespace {

// An active grid with orders at the venue and an idle strategy to switch to.
struct ControlSwitchTest : ::testing::Test {
    ControlSwitchTest() {
        grid = world.create("grid_trader", StrategyWorld::grid_config());
        idle = world.create("idle");
        EXPECT_EQ(word(world.decide(StrategyWorld::switch_to("d0", grid)), "status"), "applied");
        world.pass(Duration::of_seconds(30));
        EXPECT_GT(world.open_orders(), 0u);
    }
    // Does what another part of the server would do in a turn of its own.
    void in_turn(const std::function<Result<void>(Turn&)>& change) {
        TurnRequest turn;
        turn.tenant_id = world.tenant;
        turn.principal = PlaneWorld::agent();
        turn.function = "test";
        turn.decide = [&](Turn& t) -> Result<TurnReply> {
            TRY(change(t));
            return Answer{200, "{}"};
        };
        turn.reply = [](const Result<Answer>& answer) { EXPECT_TRUE(answer); };
        world.submit(std::move(turn));
    }
    void change_instance(
        const std::string& id, const std::function<void(StrategyInstance&)>& change) {
        in_turn([&](Turn& t) -> Result<void> {
            const StrategyScope scope = scope_of(world.venue_account());
            TRY_ASSIGN(const auto stored, load_instance(t, scope, StrategyId::trusted(id)));
            StrategyInstance next = *stored;
            change(next);
            save_instance(t, std::move(next));
            return {};
        });
    }
    static Json in_mode(Json payload, std::string_view mode) {
        payload.set("risk_mode", mode);
        return payload;
    }

    StrategyWorld world;
    std::string grid;
    std::string idle;
};

TEST_F(ControlSwitchTest, BringsItsRiskModeInTheSameStep) {
    world.decide(StrategyWorld::switch_to("d1", idle));
    ASSERT_EQ(world.open_orders(), 0u);
    const std::string other = world.create("idle");
    const Json answer = world.decide(in_mode(StrategyWorld::switch_to("d2", other), "defensive"));
    EXPECT_EQ(word(answer, "risk_mode"), "defensive");
    EXPECT_EQ(word(world.concern(), "risk_mode"), "defensive");
}

TEST_F(ControlSwitchTest, ThatWaitsForCancelsBringsItsRiskModeAtItsEnd) {
    world.holds_effects = true;
    world.decide(in_mode(StrategyWorld::switch_to("d1", idle), "defensive"));
    const auto pending = world.last_answer;
    EXPECT_EQ(word(world.concern(), "risk_mode"), "normal");
    world.run_effects();
    EXPECT_EQ(word(world.concern(), "risk_mode"), "defensive");
    world.last_answer = pending;
    EXPECT_EQ(word(world.late_answer(), "risk_mode"), "defensive");
}

TEST_F(ControlSwitchTest, DoesNotUndoAStricterModeSetMeanwhile) {
    world.holds_effects = true;
    world.decide(in_mode(StrategyWorld::switch_to("d1", idle), "normal"));
    const auto pending = world.last_answer;
    const Json tightened =
        world.decide(in_mode(StrategyWorld::payload("d2", "set_risk_mode"), "reduce_only"));
    EXPECT_EQ(word(tightened, "status"), "applied");
    world.run_effects();
    world.last_answer = pending;
    EXPECT_EQ(word(world.late_answer(), "status"), "applied");
    EXPECT_EQ(word(world.late_answer(), "risk_mode"), "reduce_only");
    EXPECT_EQ(word(world.concern(), "risk_mode"), "reduce_only");
}

// The old one could sell what is bought now, were it not frozen.
TEST_F(ControlSwitchTest, FreezesTheOldStrategyUntilItIsDone) {
    world.holds_effects = true;
    world.decide(StrategyWorld::switch_to("d1", idle));
    auto cancels = std::exchange(world.waiting, {});
    world.trade("x1", Json::array({LoopWorld::intent("buy", "2", "100.01")}));
    const auto sent = world.orders_sent();
    for (int i = 0; i < 5; ++i) {
        world.clock.advance(Duration::of_seconds(1));
        ASSERT_TRUE(world.paper->advance(world.clock.now()));
        world.watch->poll();
        world.run_effects();
    }
    EXPECT_EQ(world.orders_sent(), sent);
    world.waiting = std::move(cancels);
    world.run_effects();
    EXPECT_EQ(world.active(), idle);
}

TEST_F(ControlSwitchTest, IsRolledBackWhenItsTargetCanNoLongerRun) {
    world.holds_effects = true;
    world.decide(StrategyWorld::switch_to("d1", idle));
    const auto pending = world.last_answer;
    change_instance(idle, [](StrategyInstance& target) { target.is_latched = true; });
    world.run_effects();
    world.last_answer = pending;
    EXPECT_EQ(word(world.late_answer(), "status"), "failed");
    EXPECT_EQ(code(world.late_answer()), "target_not_runnable");
    EXPECT_EQ(world.active(), grid);
}

TEST_F(ControlSwitchTest, IsRolledBackWhenTheKillSwitchComesFirst) {
    world.holds_effects = true;
    world.decide(StrategyWorld::switch_to("d1", idle));
    const auto pending = world.last_answer;
    world.plane->latch.raise(world.tenant);
    world.run_effects();
    world.last_answer = pending;
    EXPECT_EQ(word(world.late_answer(), "status"), "failed");
    EXPECT_EQ(code(world.late_answer()), "kill_switch_active");
    EXPECT_EQ(world.active(), grid);
}

TEST_F(ControlSwitchTest, ThatFailedIsTheNextAttemptUnderItsId) {
    world.holds_effects = true;
    world.decide(StrategyWorld::switch_to("d1", idle));
    world.waiting.clear();
    world.clock.advance(Duration::of_seconds(10));
    world.plane->runner.fire_timers(100);
    ASSERT_EQ(code(world.late_answer()), "cancel_unconfirmed");
    world.holds_effects = false;
    Json again = StrategyWorld::switch_to("d1", idle);
    again.set("override", true);
    ASSERT_EQ(word(world.decide(again), "status"), "applied");
    const auto records = world.plane->ledger.read(world.tenant, 0, 1000).value();
    const auto last = std::find_if(records.rbegin(), records.rend(), [](const AuditRecord& record) {
        return record.draft.event == "CONTROL_DECISION";
    });
    ASSERT_NE(last, records.rend());
    EXPECT_EQ(last->draft.decision_id.text(), "d1");
    EXPECT_EQ(*last->draft.detail.find("attempt"), Json(2));
}

// A stop that is not the kill switch.
TEST_F(ControlSwitchTest, IsHeldUpByAnEscalatedRecoveryAndAPauseIsNot) {
    in_turn([&](Turn& t) -> Result<void> {
        TRY_ASSIGN(const AccountView view, load_account(t, world.venue_account()));
        Account next = *view.account;
        next.recovery.phase = RecoveryPhase::escalated;
        next.recovery.reasons = {"balance_mismatch"};
        ++next.version;
        world.plane->loop->put_account(t, std::move(next));
        return {};
    });
    Json payload = StrategyWorld::switch_to("d1", idle);
    payload.set("override", true);
    EXPECT_EQ(code(world.decide(payload)), "trading_stopped");
    EXPECT_EQ(word(world.decide(StrategyWorld::payload("d2", "pause")), "status"), "applied");
    EXPECT_EQ(code(world.decide(StrategyWorld::payload("d3", "resume"))), "trading_stopped");
}

// A runnable target has a registered type and a valid config.
TEST_F(ControlSwitchTest, IsRefusedWhenItsTargetCannotBeOpened) {
    change_instance(idle, [](StrategyInstance& target) {
        target.config = Json::object({{"tick_secnods", 1}});
    });
    const Json config = world.decide(StrategyWorld::switch_to("d1", idle));
    EXPECT_EQ(code(config), "target_not_runnable");
    EXPECT_NE(to_text(config).find("tick_secnods"), std::string::npos) << to_text(config);
    change_instance(idle, [](StrategyInstance& target) { target.strategy_type = "retired"; });
    EXPECT_EQ(code(world.decide(StrategyWorld::switch_to("d1", idle))), "target_not_runnable");
    EXPECT_EQ(world.active(), grid);
}

}  // namespace
}  // namespace interlock
