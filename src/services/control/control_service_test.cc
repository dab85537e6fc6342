#include "services/control/control_service.h"

#include <gtest/gtest.h>

#include "testing/strategy_world.h"

namespace interlock {
namespace {

bool has_warning(const Json& answer, std::string_view warning) {
    for (const Json& one : answer.find("warnings")->items()) {
        if (one.as_string() == warning) {
            return true;
        }
    }
    return false;
}

// A concern whose active grid has orders at the venue, and an idle strategy beside it.
struct ControlServiceTest : ::testing::Test {
    ControlServiceTest() {
        grid = world.create("grid_trader", StrategyWorld::grid_config());
        idle = world.create("idle", Json::object(), InstanceMode::observe);
        EXPECT_EQ(word(world.decide(StrategyWorld::switch_to("d0", grid)), "status"), "applied");
        world.pass(Duration::of_seconds(30));
    }

    StrategyWorld world;
    std::string grid;
    std::string idle;
};

TEST_F(ControlServiceTest, TheFirstSwitchStartsTradingThroughTheLoop) {
    EXPECT_EQ(world.active(), grid);
    EXPECT_GT(world.open_orders(), 0u);
    EXPECT_GT(world.count("VALIDATION_RESULT"), 0);
    EXPECT_GT(world.count("DRY_RUN_RESULT"), 0);
}

TEST_F(ControlServiceTest, ASwitchHandsOverOnceTheOldOrdersAreGone) {
    const Json answer = world.decide(StrategyWorld::switch_to("d1", idle));
    EXPECT_EQ(word(answer, "status"), "applied");
    EXPECT_EQ(word(answer, "from_strategy_id"), grid);
    EXPECT_EQ(word(answer, "to_strategy_id"), idle);
    EXPECT_EQ(world.active(), idle);
    EXPECT_EQ(world.open_orders(), 0u);
    EXPECT_EQ(word(world.get(grid), "mode"), "observe");
    EXPECT_EQ(word(world.get(idle), "mode"), "active");
    world.pass(Duration::of_seconds(20));
    EXPECT_EQ(world.open_orders(), 0u) << "the old one observes and sends nothing";
}

TEST_F(ControlServiceTest, WhileCancelsAreOutTheOldOneIsFrozenAndNobodyElseIsActive) {
    world.holds_effects = true;
    const Json answer = world.decide(StrategyWorld::switch_to("d1", idle));
    EXPECT_EQ(answer, Json("no answer yet"));
    EXPECT_EQ(world.active(), grid);
    EXPECT_EQ(world.concern().find("switching")->as_bool(), true);
    EXPECT_EQ(code(world.decide(StrategyWorld::switch_to("d2", idle))), "switch_in_progress");
    EXPECT_EQ(world.count("CONTROL_APPLYING"), 1);
}

// A switch may begin between the record of an order and the venue's word on it.
TEST_F(ControlServiceTest, AnOrderThatWasOnItsWayIsCancelledOnceItIsThere) {
    StrategyWorld fresh;
    const std::string old = fresh.create("grid_trader", StrategyWorld::grid_config());
    const std::string next = fresh.create("idle");
    fresh.decide(StrategyWorld::switch_to("d0", old));
    fresh.clock.advance(Duration::of_seconds(2));
    ASSERT_TRUE(fresh.paper->advance(fresh.clock.now()));
    fresh.watch->poll();  // Writes its orders ahead; nothing is sent yet.
    ASSERT_FALSE(fresh.waiting.empty());
    const Json answer = fresh.decide(StrategyWorld::switch_to("d1", next));
    EXPECT_EQ(word(answer, "status"), "applied") << to_text(answer);
    EXPECT_EQ(fresh.active(), next);
    EXPECT_EQ(fresh.open_orders(), 0u);
}

TEST_F(ControlServiceTest, ACancelThatIsNotConfirmedInTimeRollsTheSwitchBack) {
    ASSERT_TRUE(world.paper->set_faults(
        {{.kind = PaperFaultKind::disconnect, .account = world.venue_account()}}));
    world.decide(StrategyWorld::switch_to("d1", idle));
    const auto pending = world.last_answer;
    world.pass(Duration::of_seconds(15));
    const Json answer = StrategyWorld::read(*pending);
    EXPECT_EQ(word(answer, "status"), "failed");
    EXPECT_EQ(code(answer), "cancel_unconfirmed");
    EXPECT_EQ(world.active(), grid);
    EXPECT_NE(word(world.concern(), "execution_quality"), "good");
}

TEST_F(ControlServiceTest, ARestartInTheMiddleRollsTheSwitchBack) {
    world.holds_effects = true;
    world.decide(StrategyWorld::switch_to("d1", idle));
    world.rebuild();
    world.holds_effects = false;
    world.run_effects();
    world.pass(Duration::of_seconds(30));
    EXPECT_EQ(world.active(), grid);
    EXPECT_EQ(word(world.get(grid), "mode"), "active");
    EXPECT_NE(word(world.get(idle), "mode"), "active");
    const Json again = world.decide(StrategyWorld::switch_to("d1", idle));
    EXPECT_EQ(word(again, "status"), "applied") << "a failed decision is evaluated again";
}

TEST_F(ControlServiceTest, ARepeatedDecisionIsNotAppliedAgain) {
    const Json first = world.decide(StrategyWorld::switch_to("d1", idle));
    world.decide(StrategyWorld::switch_to("d2", grid));
    const Json second = world.decide(StrategyWorld::switch_to("d1", idle));
    EXPECT_EQ(word(second, "status"), "noop");
    EXPECT_TRUE(has_warning(second, "duplicate_decision"));
    EXPECT_EQ(*second.find("result")->find("original"), first);
    EXPECT_EQ(world.active(), grid);
}

TEST_F(ControlServiceTest, TheSameIdForSomethingElseIsAConflict) {
    world.decide(StrategyWorld::switch_to("d1", idle));
    EXPECT_EQ(code(world.decide(StrategyWorld::switch_to("d1", grid))), "decision_id_conflict");
    EXPECT_EQ(word(world.decide(StrategyWorld::switch_to("d1", idle)), "status"), "noop")
        << "the first word stands";
}

TEST_F(ControlServiceTest, AStaleViewIsRefusedUnlessOverridden) {
    Json payload = StrategyWorld::switch_to("d1", idle);
    payload.set("expected_active_strategy_id", idle);
    const Json refused = world.decide(payload);
    EXPECT_EQ(code(refused), "expected_active_mismatch");
    EXPECT_FALSE(refused.find("validation")->find("expected_active_match")->as_bool());
    payload.set("override", true);
    const Json applied = world.decide(payload);
    EXPECT_EQ(word(applied, "status"), "applied");
    EXPECT_TRUE(has_warning(applied, "override_used"));
}

TEST_F(ControlServiceTest, ADryRunChangesNothingAndConsumesNoId) {
    Json payload = StrategyWorld::switch_to("d1", idle);
    payload.set("dry_run", true);
    const Json shown = world.decide(payload);
    EXPECT_EQ(word(shown, "status"), "applied");
    EXPECT_TRUE(shown.find("applied_at")->is_null());
    EXPECT_EQ(word(*shown.find("result"), "mode_change"), "simulated");
    EXPECT_EQ(world.active(), grid);
    EXPECT_EQ(word(world.decide(StrategyWorld::switch_to("d1", idle)), "status"), "applied");
}

TEST_F(ControlServiceTest, PauseStopsTicksAndCancelsEntriesAndOutlivesARestart) {
    const Json answer = world.decide(StrategyWorld::payload("d1", "pause"));
    EXPECT_EQ(word(answer, "status"), "applied");
    EXPECT_GT(answer.find("result")->find("open_orders")->items().size(), 0u);
    world.rebuild();
    world.pass(Duration::of_seconds(30));
    EXPECT_EQ(word(world.get(grid), "status"), "paused");
    EXPECT_EQ(world.open_orders(), 0u);
    EXPECT_EQ(word(world.decide(StrategyWorld::payload("d2", "pause")), "status"), "noop");
    EXPECT_EQ(word(world.decide(StrategyWorld::payload("d3", "resume")), "status"), "applied");
    world.pass(Duration::of_seconds(30));
    EXPECT_GT(world.open_orders(), 0u);
}

// An order that was on its way when its strategy was paused, and what becomes of it.
std::size_t open_after_pause_in_flight(StrategyWorld& world, bool stops) {
    const std::string grid = world.create("grid_trader", StrategyWorld::grid_config());
    world.decide(StrategyWorld::switch_to("d0", grid));
    world.clock.advance(Duration::of_seconds(2));
    EXPECT_TRUE(world.paper->advance(world.clock.now()));
    world.watch->poll();  // Writes its orders ahead; nothing is sent yet.
    EXPECT_FALSE(world.waiting.empty());
    world.holds_effects = true;
    if (stops) {
        ControlStrategyRequest request;
        request.call.idempotency_key = IdempotencyKey::trusted("stop");
        request.action = HelperAction::stop;
        world.answer_of([&](LoopService::Reply reply) {
            world.plane->strategies->control(
                world.caller(), StrategyId::trusted(grid), request, std::move(reply));
        });
    } else {
        EXPECT_EQ(word(world.decide(StrategyWorld::payload("d1", "pause")), "status"), "applied");
    }
    world.run_effects();
    EXPECT_FALSE(world.sent.empty());
    return world.open_orders();
}

TEST(ControlServiceInFlight, AnEntryThatArrivesAfterItsStrategyWasPausedIsCancelled) {
    StrategyWorld world;
    EXPECT_EQ(open_after_pause_in_flight(world, false), 0u);
}

TEST(ControlServiceInFlight, AnOrderThatArrivesAfterItsStrategyWasStoppedIsCancelled) {
    StrategyWorld world;
    EXPECT_EQ(open_after_pause_in_flight(world, true), 0u);
}

TEST_F(ControlServiceTest, APauseDuringASwitchIsNotLost) {
    world.holds_effects = true;
    world.decide(StrategyWorld::switch_to("d1", idle));
    const auto pending = world.last_answer;
    EXPECT_EQ(word(world.decide(StrategyWorld::payload("d2", "pause")), "status"), "applied");
    EXPECT_EQ(code(StrategyWorld::read(*pending)), "switch_interrupted");
    world.holds_effects = false;
    world.run_effects();
    world.pass(Duration::of_seconds(15));
    EXPECT_EQ(world.active(), grid);
    EXPECT_EQ(word(world.get(grid), "status"), "paused");
}

TEST_F(ControlServiceTest, AStricterRiskModeTakesEntriesOffTheBook) {
    Json payload = StrategyWorld::payload("d1", "set_risk_mode");
    payload.set("risk_mode", "reduce_only");
    EXPECT_EQ(word(world.decide(payload), "status"), "applied");
    world.pass(Duration::of_seconds(20));
    EXPECT_EQ(world.open_orders(), 0u);
    EXPECT_EQ(word(world.concern(), "risk_mode"), "reduce_only");
}

TEST_F(ControlServiceTest, TheConcernsRiskModeBindsOutsidePlannersToo) {
    Json payload = StrategyWorld::payload("d1", "set_risk_mode");
    payload.set("risk_mode", "reduce_only");
    world.decide(payload);
    const Json verdict = world.validate("x1", Json::array({LoopWorld::intent("buy", "1", "99")}));
    EXPECT_FALSE(verdict.find("validation")->find("pass")->as_bool()) << to_text(verdict);
}

TEST_F(ControlServiceTest, AKillSwitchRefusesASwitchEvenWithOverride) {
    world.plane->latch.raise(world.tenant);
    Json payload = StrategyWorld::switch_to("d1", idle);
    payload.set("override", true);
    EXPECT_EQ(code(world.decide(payload)), "kill_switch_active");
    EXPECT_EQ(word(world.decide(StrategyWorld::payload("d2", "pause")), "status"), "applied");
}

TEST_F(ControlServiceTest, EveryAttemptIsOnTheRecord) {
    const auto before = world.count("CONTROL_DECISION");
    world.decide(Json::object({{"action", "keep"}}));
    world.decide(StrategyWorld::switch_to("d1", "nobody"));
    world.decide(StrategyWorld::switch_to("d2", idle));
    world.decide(StrategyWorld::switch_to("d2", idle));
    EXPECT_EQ(world.count("CONTROL_DECISION"), before + 4);
}

TEST_F(ControlServiceTest, AnAccessKeyInADecisionIsKeptNowhere) {
    const std::string key = "ilk_thiskeymustneverbekept";
    Json payload = StrategyWorld::switch_to("d1", idle);
    payload.set("reason", "my key is " + key);
    world.holds_effects = true;
    world.decide(payload);
    world.decide(Json::object({{"action", key}}));
    const auto states = world.memory.load_states("").value();
    for (const auto& [name, state] : states) {
        EXPECT_FALSE(state.json.contains(key)) << name;
    }
    const auto entries = world.memory.read_ledger(world.tenant, 0, 10'000).value();
    for (const LedgerEntry& entry : entries) {
        EXPECT_FALSE(entry.canonical_json.contains(key)) << entry.canonical_json;
    }
}

TEST_F(ControlServiceTest, ADecisionWithAKeyInItsReasonIsADuplicateOfItself) {
    Json payload = StrategyWorld::switch_to("d1", idle);
    payload.set("reason", "my key is ilk_thiskeymustneverbekept");
    EXPECT_EQ(word(world.decide(payload), "status"), "applied");
    EXPECT_EQ(word(world.decide(payload), "status"), "noop");
}

// Throttled and then switched away from, it stays in the account's book as disabled.
TEST_F(ControlServiceTest, EnablingAStrategyThatWasSwitchedAwayFromDoesNotMakeItActive) {
    const auto throttle = [this](Turn& turn) -> Result<TurnReply> {
        TRY_ASSIGN(const AccountView view, load_account(turn, world.venue_account()));
        Account account = *view.account;
        account.strategies.at(StrategyId::trusted(grid)).is_disabled = true;
        ++account.version;
        world.plane->loop->put_account(turn, std::move(account));
        return Answer{200, "{}"};
    };
    TurnRequest turn;
    turn.tenant_id = world.tenant;
    turn.principal = internal_principal("test");
    turn.function = "throttle";
    turn.decide = throttle;
    turn.reply = [](const Result<Answer>&) {};
    world.submit(std::move(turn));
    ASSERT_EQ(word(world.decide(StrategyWorld::switch_to("d1", idle)), "status"), "applied");
    EnableStrategyRequest request;
    request.call.idempotency_key = IdempotencyKey::trusted("enable");
    request.call.account_id = default_account_id();
    request.strategy_id = StrategyId::trusted(grid);
    const Json answer = world.answer_of([&](LoopService::Reply reply) {
        world.plane->control->call(world.caller(), "enable_strategy", request, std::move(reply));
    });
    ASSERT_EQ(word(answer, "status"), "applied");
    const auto stored = world.memory.load_state("account/demo/paper/main").value();
    ASSERT_TRUE(stored);
    const Account account = decode_account(parse_json(stored->json).value()).value();
    const StrategyRecord& record = account.strategies.at(StrategyId::trusted(grid));
    EXPECT_FALSE(record.is_disabled);
    EXPECT_FALSE(record.is_active);
}

TEST_F(ControlServiceTest, AnUnknownOrderDegradesTheConcernAtOnce) {
    ASSERT_TRUE(world.paper->set_faults({{.kind = PaperFaultKind::time_out}}));
    world.trade("x1", Json::array({LoopWorld::intent("buy", "1", "99")}));
    EXPECT_EQ(word(world.concern(), "execution_quality"), "degraded");
    EXPECT_EQ(code(world.decide(StrategyWorld::switch_to("d1", idle))), "execution_degraded");
}

TEST_F(ControlServiceTest, TwoSupervisorsWithOneViewLeaveOneWinner) {
    const std::string other = world.create("idle");
    Json first = StrategyWorld::switch_to("a1", idle);
    first.set("expected_active_strategy_id", grid);
    Json second = StrategyWorld::switch_to("b1", other);
    second.set("expected_active_strategy_id", grid);
    EXPECT_EQ(word(world.decide(first), "status"), "applied");
    EXPECT_EQ(code(world.decide(second)), "expected_active_mismatch");
    EXPECT_EQ(world.active(), idle);
}

TEST_F(ControlServiceTest, TheStoreRefusesASecondActiveStrategy) {
    const auto holder = world.memory.find_claim("active/demo/paper/main:abcusdt").value();
    EXPECT_EQ(holder, grid);
    TurnCommit second;
    second.claims_taken = {{"active/demo/paper/main:abcusdt", idle}};
    const std::vector<TurnCommit> turns{second};
    EXPECT_EQ(world.memory.commit(turns).error(), errors::conflict);
}

TEST_F(ControlServiceTest, ACancelThatWasLostIsAskedForAgain) {
    ASSERT_GT(world.open_orders(), 0u);
    TurnRequest turn;
    turn.tenant_id = world.tenant;
    turn.principal = PlaneWorld::agent();
    turn.function = "test";
    turn.decide = [&](Turn& t) -> Result<TurnReply> {
        // As though each cancel had been asked for and refused by the venue.
        TRY_ASSIGN(const AccountView view, load_account(t, world.venue_account()));
        AccountBooks books = *view.books;
        for (OrderRecord& order : books.books.front().open) {
            order.cancel_requested = true;
        }
        save_books(t, world.venue_account(), std::move(books));
        return Answer{200, "{}"};
    };
    turn.reply = [](Result<Answer>) {};
    world.submit(std::move(turn));
    world.answer_of([&](LoopService::Reply reply) {
        world.plane->strategies->control(
            world.caller(),
            StrategyId::trusted(grid),
            {.call = {.idempotency_key = IdempotencyKey::trusted("stop"), .reason = {}},
             .action = HelperAction::stop},
            std::move(reply));
    });
    EXPECT_GT(world.open_orders(), 0u);
    world.pass(Duration::of_seconds(25));
    EXPECT_EQ(world.open_orders(), 0u);
}

}  // namespace
}  // namespace interlock
