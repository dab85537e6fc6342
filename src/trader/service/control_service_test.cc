#include "trader/service/control_service.h"

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

TEST_F(ControlServiceTest, CancelsThatNobodyConfirmsDegradeTheConcern) {
    world.holds_effects = true;
    world.decide(StrategyWorld::payload("d1", "pause"));
    ASSERT_FALSE(world.waiting.empty());
    for (int i = 0; i < 3; ++i) {
        world.clock.advance(Duration::of_seconds(20));
        for (TurnRequest& turn : world.plane->decisions->quality_turns(world.clock.monotonic())) {
            world.submit(std::move(turn));
        }
    }
    const Json concern = world.concern();
    EXPECT_NE(to_text(concern).find("cancel_unconfirmed"), std::string::npos) << to_text(concern);
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

TEST_F(ControlServiceTest, ARepeatedDecisionIsAnsweredFromItsRecordAfterARestart) {
    const Json first = world.decide(StrategyWorld::payload("d1", "pause"));
    ASSERT_EQ(word(first, "status"), "applied");
    world.rebuild();
    const Json second = world.decide(StrategyWorld::payload("d1", "pause"));
    EXPECT_EQ(word(second, "status"), "noop");
    EXPECT_EQ(*second.find("result")->find("original"), first);
    const auto row = world.memory.load_state("control/demo/d1").value();
    EXPECT_EQ(row->json.find("mode_change"), std::string::npos) << "the answer is stored once";
}

TEST_F(ControlServiceTest, ADecisionLeavesTheLongRowOfAStrategyAlone) {
    const std::string key = "strategy/demo/paper/" + grid;
    const auto before = world.memory.load_state(key).value();
    world.decide(StrategyWorld::payload("d1", "pause"));
    EXPECT_EQ(world.memory.load_state(key).value()->version, before->version);
    world.rebuild();
    EXPECT_TRUE(world.get(grid).find("paused")->as_bool());
    EXPECT_EQ(word(world.get(grid), "mode"), "active");
}

TEST_F(ControlServiceTest, TicksAfterADecisionKeepWhereTheStrategyStands) {
    const auto version = [this] { return world.get(grid).find("version")->as_int64().value(); };
    world.decide(StrategyWorld::payload("d1", "pause"));
    const std::int64_t paused = version();
    world.decide(StrategyWorld::payload("d2", "resume"));
    EXPECT_EQ(version(), paused + 1);
    world.pass(Duration::of_seconds(60));
    const std::int64_t ticked = version();
    EXPECT_GT(ticked, paused + 1) << "the ticks wrote the long row";
    world.rebuild();
    EXPECT_FALSE(world.get(grid).find("paused")->as_bool());
    EXPECT_EQ(word(world.get(grid), "mode"), "active");
    EXPECT_EQ(version(), ticked);
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

// The venue's word on the orders then comes in a turn of the system's, not of the tenant's.
TEST_F(ControlServiceTest, ASwitchThatTheGlobalKillSwitchEndsIsOnItsTenantsRecord) {
    world.holds_effects = true;
    world.decide(StrategyWorld::switch_to("d1", idle));
    const auto pending = world.last_answer;
    const auto before = world.count("CONTROL_DECISION");
    world.waiting.clear();  // Its own cancels are slower than those of the kill switch.
    world.plane->kill.activate_by_rule(system_tenant(), "test", "the test wants it");
    world.run_effects();
    EXPECT_EQ(code(StrategyWorld::read(*pending)), "kill_switch_active");
    EXPECT_EQ(world.count("CONTROL_DECISION"), before + 1);
    const auto rows = world.memory.load_states("control/").value();
    EXPECT_TRUE(std::any_of(
        rows.begin(), rows.end(), [](const auto& row) { return row.first == "control/demo/d1"; }));
    const auto system = world.plane->ledger.read(system_tenant(), 0, 100).value();
    for (const AuditRecord& record : system) {
        EXPECT_NE(record.draft.event, "CONTROL_DECISION");
    }
}

TEST_F(ControlServiceTest, EveryAttemptIsOnTheRecord) {
    const auto before = world.count("CONTROL_DECISION");
    world.decide(Json::object({{"action", "keep"}}));
    world.decide(StrategyWorld::switch_to("d1", "nobody"));
    world.decide(StrategyWorld::switch_to("d2", idle));
    world.decide(StrategyWorld::switch_to("d2", idle));
    EXPECT_EQ(world.count("CONTROL_DECISION"), before + 4);
}

Account account_of(StrategyWorld& world) {
    const auto stored = world.memory.load_state("account/demo/paper/main").value();
    return decode_account(parse_json(stored->json).value()).value();
}

Json strategy_of(StrategyWorld& world, const std::string& id) {
    const Json account = world.answer_of([&](LoopService::Reply reply) {
        world.submit(world.plane->loop->account_turn(world.caller(), default_account_id(), reply));
    });
    for (const Json& one : account.find("strategies")->items()) {
        if (word(one, "strategy_id") == id) {
            return one;
        }
    }
    return Json();
}

// Which one trades is the concern's word; the account, the largest row there is, stays as it is.
TEST_F(ControlServiceTest, ASwitchDoesNotTouchTheAccount) {
    ASSERT_EQ(word(world.decide(StrategyWorld::switch_to("d1", idle)), "status"), "applied");
    const std::int64_t before = account_of(world).version;
    ASSERT_EQ(word(world.decide(StrategyWorld::switch_to("d2", grid)), "status"), "applied");
    EXPECT_EQ(account_of(world).version, before);
    EXPECT_FALSE(account_of(world).strategies.contains(StrategyId::trusted(grid)));
}

TEST_F(ControlServiceTest, TheAccountShowsWhichStrategyIsActive) {
    EXPECT_EQ(*strategy_of(world, grid).find("is_active"), Json(true));
    EXPECT_EQ(word(strategy_of(world, grid), "type"), "grid_trader");
    ASSERT_EQ(word(world.decide(StrategyWorld::switch_to("d1", idle)), "status"), "applied");
    EXPECT_EQ(*strategy_of(world, idle).find("is_active"), Json(true));
    EXPECT_TRUE(strategy_of(world, grid).is_null());
}

// Rows written before concerns had the only say may still name a strategy as active.
TEST_F(ControlServiceTest, AnAccountThatCallsAStrategyActiveDoesNotMakeItSo) {
    Account account = account_of(world);
    StrategyRecord& record = account.strategies[StrategyId::trusted(idle)];
    record.type = "idle";
    record.is_active = true;
    TurnRequest turn;
    turn.tenant_id = world.tenant;
    turn.principal = internal_principal("test");
    turn.function = "old_row";
    turn.decide = [&](Turn& t) -> Result<TurnReply> {
        world.plane->loop->put_account(t, account);
        TRY_ASSIGN(const auto facts, world.plane->loop->gather_for(t, world.venue_account(), {}));
        for (const StrategyFacts& one : facts.state.strategies) {
            EXPECT_EQ(one.is_active, one.strategy_id.text() != idle) << one.strategy_id.text();
        }
        EXPECT_EQ(facts.state.strategies.size(), 3u);  // Theirs, ours and the outside planner's.
        return Answer{200, "{}"};
    };
    bool answered = false;
    turn.reply = [&](const Result<Answer>& answer) { answered = answer.has_value(); };
    world.submit(std::move(turn));
    EXPECT_TRUE(answered);
}

// The throttle's entry of an instance is made with its first aggressive order, not with a switch.
TEST_F(ControlServiceTest, TheThrottleCountsAnInstanceFromItsFirstAggressiveOrderOn) {
    Plan plan;
    Intent intent;
    intent.intent_id = IntentId::trusted("i1");
    intent.symbol = Symbol::parse("ABCUSDT").value();
    intent.side = Side::buy;
    intent.order_type = OrderType::market;
    intent.qty = Decimal(1);
    intent.strategy_id = StrategyId::trusted(grid);
    intent.expected_edge_bps = Decimal(100);
    plan.intents.push_back(intent);
    TurnRequest turn;
    turn.tenant_id = world.tenant;
    turn.principal = internal_principal("test");
    turn.function = "act";
    turn.decide = [&](Turn& t) -> Result<TurnReply> {
        LoopService& loop = *world.plane->loop;
        TRY_ASSIGN(auto facts, loop.gather(t, world.venue_account(), plan));
        TRY(loop.keep_inputs(t, facts));
        TRY_ASSIGN(
            Decision decision,
            loop.begin_decision(
                t,
                {.decision_id = DecisionId::trusted("auto.test.1"),
                 .tick_id = TickId::trusted("tick_1"),
                 .account = world.venue_account(),
                 .planner = "builtin:grid_trader",
                 .from_outside = false},
                nullptr));
        decision.plan = plan;
        TRY_ASSIGN(const GateReport report, loop.validate_step(t, decision, facts));
        EXPECT_TRUE(report.pass) << to_text(encode(report));
        TRY(loop.dry_run_step(t, decision, facts));
        TRY(loop.execute_step(t, decision, facts));
        save_decision(t, std::move(decision));
        return Answer{200, "{}"};
    };
    std::string refused = "not answered";
    turn.reply = [&](const Result<Answer>& answer) {
        refused = answer ? "" : answer.error().message;
    };
    world.submit(std::move(turn));
    ASSERT_EQ(refused, "");
    const Account account = account_of(world);
    const auto entry = account.strategies.find(StrategyId::trusted(grid));
    ASSERT_NE(entry, account.strategies.end());
    EXPECT_EQ(entry->second.type, "grid_trader");
    EXPECT_EQ(aggressive_in_window(account, entry->second, world.clock.now()), 1);
}

TEST_F(ControlServiceTest, AnOutsidePlannerCannotTakeTheNameOfAnInstance) {
    PutStrategyRequest request;
    request.call.idempotency_key = IdempotencyKey::trusted("put");
    request.call.account_id = default_account_id();
    request.strategy_id = StrategyId::trusted(idle);
    request.is_active = true;
    const Json answer = world.answer_of([&](LoopService::Reply reply) {
        world.plane->control->call(world.caller(), "put_strategy", request, std::move(reply));
    });
    EXPECT_TRUE(to_text(answer).contains("conflict")) << to_text(answer);
    EXPECT_FALSE(account_of(world).strategies.contains(StrategyId::trusted(idle)));
}

// Throttled and then switched away from, it stays in the account's book as disabled.
TEST_F(ControlServiceTest, EnablingAStrategyThatWasSwitchedAwayFromDoesNotMakeItActive) {
    const auto throttle = [this](Turn& turn) -> Result<TurnReply> {
        TRY_ASSIGN(const AccountView view, load_account(turn, world.venue_account()));
        Account account = *view.account;
        StrategyRecord& entry = account.strategies[StrategyId::trusted(grid)];
        entry.type = "grid_trader";
        entry.is_disabled = true;
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
    EXPECT_FALSE(account_of(world).strategies.contains(StrategyId::trusted(grid)));
    EXPECT_TRUE(strategy_of(world, grid).is_null());
}

// A runaway planner loses its entries, not the way out.
TEST_F(ControlServiceTest, APlannerThatWasThrottledMayStillReduce) {
    ASSERT_EQ(word(world.decide(StrategyWorld::switch_to("d1", idle)), "status"), "applied");
    const auto trade = [&](const std::string& side, const std::string& qty) {
        const char* price = side == "buy" ? "100.01" : "99.99";
        return to_text(world.trade(side + qty, Json::array({LoopWorld::intent(side, qty, price)})));
    };
    for (int i = 10; i < 31; ++i) {
        const std::string answer = trade("buy", "0.2" + std::to_string(i));
        ASSERT_TRUE(answer.contains("\"acked\"")) << answer;
        world.pass(Duration::of_seconds(1));
    }
    const StrategyId external = StrategyId::trusted("external");
    ASSERT_TRUE(account_of(world).strategies.at(external).is_disabled);
    const Json refused =
        world.validate("more", Json::array({LoopWorld::intent("buy", "0.3", "100.01")}));
    EXPECT_TRUE(to_text(refused).contains("strategy_disabled")) << to_text(refused);
    // What it is told offers the way out, and taking it at its word works.
    const Json state = world.account();
    EXPECT_EQ(to_text(*state.find("strategy_ids")), R"(["external"])");
    const Json& envelope = *state.find("allowed_envelope");
    EXPECT_EQ(
        to_text(*envelope.items().at(0).find("blocked_by")),
        R"(["policy_guardrails:strategy_disabled:ABCUSDT",)"
        R"("policy_guardrails:repeated_execution:ABCUSDT"])");
    ASSERT_EQ(word(envelope.items().at(1), "side"), "sell");
    const std::string room = word(envelope.items().at(1), "max_qty");
    const std::string exit = trade("sell", room);
    EXPECT_TRUE(exit.contains("\"acked\"")) << exit;
    // 4.62 were bought for a fee of 0.1 % in kind. Two of them find a buyer at this price; the rest
    // of the order waits there for the next one.
    EXPECT_EQ(room, "4.615");
    const Json left = world.account();
    const Json& positions = *left.find("positions");
    ASSERT_EQ(positions.items().size(), 1u);
    EXPECT_EQ(word(positions.items().at(0), "qty"), "2.61538");
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
