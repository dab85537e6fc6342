// The loop from tool call to record, over the paper venue.
#include "loop/service/loop_service.h"

#include <gtest/gtest.h>

#include "testing/loop_world.h"
#include "trader/rules/replay/json_difference.h"
#include "trader/service/replay_service.h"

namespace interlock {
namespace {

using Events = std::vector<std::string>;

Json one(std::string_view side, std::string_view qty, const Json& price) {
    return Json::array({LoopWorld::intent(side, qty, price)});
}

std::string text_at(const Json& json, std::string_view a, std::string_view b) {
    const Json* inner = json.find(a);
    const Json* value = inner == nullptr ? nullptr : inner->find(b);
    return value == nullptr || !value->is_string() ? "" : value->as_string();
}

std::string submit_status(const Json& answer) {
    const Json* rows = answer.find("execution");
    return rows == nullptr || rows->items().empty()
               ? ""
               : rows->items()[0].find("submit_status")->as_string();
}

std::string error_code(const Json& answer) {
    const Json* errors = answer.find("errors");
    return errors == nullptr || errors->items().empty()
               ? ""
               : errors->items()[0].find("code")->as_string();
}

std::string holding(const Json& account, std::string_view asset) {
    for (const Json& balance : account.find("balances")->items()) {
        if (*balance.find("asset") == Json(asset)) {
            return balance.find("free")->as_string();
        }
    }
    return "0";
}

// What no order could sell must not tie the account to a market for ever.
TEST(Loop, DustIsCalledDustAndDoesNotKeepItsSymbol) {
    LoopWorld world;
    ASSERT_EQ(submit_status(world.trade("d1", one("buy", "1.04", "100.01"))), "acked");
    ASSERT_EQ(submit_status(world.trade("d2", one("sell", "1", "99.99"))), "acked");
    const Json account = world.account();
    const Json& position = account.find("positions")->items().at(0);
    EXPECT_EQ(*position.find("dust"), Json(true)) << to_text(position);
    EXPECT_TRUE(account.find("unpriced")->items().empty());
    for (const Json& row : account.find("allowed_envelope")->items()) {
        const bool is_its_sell =
            *row.find("symbol") == Json("ABCUSDT") && *row.find("side") == Json("sell");
        if (is_its_sell) {
            const std::string why = to_text(*row.find("blocked_by"));
            EXPECT_TRUE(why.contains("exposure_leverage:dust:ABCUSDT")) << why;
            EXPECT_FALSE(why.contains(":short:")) << why;
        }
    }
    ChangeUniverseRequest request;
    request.call.idempotency_key = IdempotencyKey::trusted("u1");
    request.call.account_id = default_account_id();
    request.remove = {Symbol::parse("ABCUSDT").value()};
    Json answer;
    world.plane->control->call(
        {PlaneWorld::agent(), world.tenant, "u1"},
        "change_universe",
        request,
        [&](const Result<Answer>& given) { answer = *parse_json(given->body); });
    world.run_effects();
    EXPECT_EQ(*answer.find("status"), Json("applied")) << to_text(answer);
    EXPECT_FALSE(world.account().find("equity")->is_null());
}

TEST(Loop, AGoodOrderLeavesTheWholeTrail) {
    LoopWorld world;
    const Json answer = world.trade("d1", one("buy", "1", "100.01"));
    EXPECT_EQ(submit_status(answer), "acked");
    EXPECT_EQ(text_at(world.decision("d1"), "verification", "overall"), "matched");
    EXPECT_EQ(
        world.events("d1"),
        (Events{
            "PLAN_CREATED",
            "VALIDATION_RESULT",
            "DRY_RUN_RESULT",
            "EXECUTION_ATTEMPT",
            "FILL_BOOKED",
            "ORDER_ACKED",
            "EXECUTION_ATTEMPT",
            "VERIFICATION_RESULT",
            "DECISION_RECORDED"}));
    EXPECT_EQ(world.orders_sent(), 1);
}

TEST(Loop, BooksEqualTheVenuesAfterAFill) {
    LoopWorld world;
    world.trade("d1", one("buy", "1", "100.01"));
    const auto report = world.paper->report(world.venue_account(), 0).value();
    const Json account = world.account();
    for (const VenueBalance& balance : report.balances) {
        EXPECT_EQ(holding(account, balance.asset.text()), to_text(balance.free));
    }
}

// Same key and payload, same answer, nothing sent again.
TEST(Loop, ARepeatedExecuteGetsTheSameBytesAndSendsNothing) {
    LoopWorld world;
    const Json intents = one("buy", "1", "100.01");
    const Json first = world.trade("d1", intents);
    const Json second = world.call("execute", world.execute_body("d1", intents));
    EXPECT_EQ(to_text(first), to_text(second));
    EXPECT_EQ(world.orders_sent(), 1);
}

TEST(Loop, TheSameKeyWithAnotherPayloadIsAConflict) {
    LoopWorld world;
    world.trade("d1", one("buy", "1", "100.01"));
    const Json answer = world.call("execute", world.execute_body("d1", one("buy", "2", "100.01")));
    EXPECT_EQ(*answer.find("refused"), Json("idempotency_key_conflict"));
}

// A fresh key and decision with the same meaning.
TEST(Loop, TheSameMeaningUnderAFreshKeyIsADuplicate) {
    LoopWorld world;
    world.trade("d1", one("buy", "1", "100.01"));
    const Json answer = world.validate("d2", one("buy", "1", "100.01"));
    EXPECT_FALSE(answer.find("validation")->find("pass")->as_bool());
    EXPECT_NE(to_text(answer).find("duplicate_of"), std::string::npos);
    EXPECT_EQ(world.orders_sent(), 1);
}

// A failed gate ends in ACTION_REJECTED and a record.
TEST(Loop, AnOrderOverTheLimitIsRejectedOnTheRecord) {
    LoopWorld world;
    const Json answer = world.validate("d1", one("buy", "50", "100.01"));
    EXPECT_FALSE(answer.find("validation")->find("pass")->as_bool());
    EXPECT_EQ(answer.find("validation")->find("checks")->items().size(), 5u);
    EXPECT_EQ(
        world.events("d1"),
        (Events{"PLAN_CREATED", "VALIDATION_RESULT", "ACTION_REJECTED", "DECISION_RECORDED"}));
}

// agent-loop.md#proof-of-passing
TEST(Loop, NothingIsExecutedWithoutItsTicket) {
    LoopWorld world;
    const Json intents = one("buy", "1", "100.01");
    EXPECT_EQ(
        error_code(world.call("execute", world.execute_body("d1", intents))), "gate_not_passed");
    world.validate("d2", intents);
    EXPECT_EQ(
        error_code(world.call("execute", world.execute_body("d2", intents))), "gate_not_passed");
    world.validate("d3", intents);
    world.dry_run("d3", intents);
    EXPECT_EQ(
        error_code(world.call("execute", world.execute_body("d3", one("buy", "2", "100.01")))),
        "gate_not_passed");
    EXPECT_EQ(world.orders_sent(), 0);
}

TEST(Loop, AnExpiredTicketIsRefusedAndMayBeRetried) {
    LoopWorld world;
    const Json intents = one("buy", "1", "100.01");
    world.validate("d1", intents);
    world.dry_run("d1", intents);
    world.pass(Duration::of_seconds(121), Duration::of_seconds(11));
    EXPECT_EQ(
        error_code(world.call("execute", world.execute_body("d1", intents))),
        "gate_ticket_expired");
}

TEST(Loop, AForgedOrderIdIsRefused) {
    LoopWorld world;
    const Json intents = one("buy", "1", "100.01");
    world.validate("d1", intents);
    world.dry_run("d1", intents);
    Json body = world.execute_body("d1", intents);
    body.find("approved_intents")->items()[0].set("order_client_id", "hforged");
    EXPECT_EQ(error_code(world.call("execute", body)), "order_client_id_mismatch");
    EXPECT_EQ(world.orders_sent(), 0);
}

// I6: what was validated before the stop is not executed after it.
TEST(Loop, TheKillSwitchStopsAnExecutionAlreadyValidated) {
    LoopWorld world;
    const Json intents = one("buy", "1", "100.01");
    world.validate("d1", intents);
    world.dry_run("d1", intents);
    world.plane->kill.activate_by_rule(world.tenant, "test", "stop");
    const Json answer = world.call("execute", world.execute_body("d1", intents));
    EXPECT_EQ(error_code(answer), "gate_recheck_failed");
    EXPECT_EQ(world.orders_sent(), 0);
}

TEST(Loop, TheKillSwitchCancelsWhatRests) {
    LoopWorld world;
    world.trade("d1", one("buy", "1", "99.00"));
    EXPECT_EQ(world.account().find("open_orders")->items().size(), 1u);
    world.plane->kill.activate_by_rule(world.tenant, "test", "stop");
    world.run_effects();
    world.pass(Duration::of_seconds(5));
    EXPECT_TRUE(world.paper->report(world.venue_account(), 0)->open_orders.empty());
    EXPECT_TRUE(world.account().find("open_orders")->items().empty());
    EXPECT_EQ(world.count("SAFE_RECOVERY_ESCALATED"), 0);
}

// I4: accepted, but the answer was lost.
TEST(Loop, ALostAnswerIsUnknownAndSettledExactlyOnce) {
    LoopWorld world;
    world.account();
    ASSERT_TRUE(world.paper->set_faults({{.kind = PaperFaultKind::lose_answer, .times_max = 1}}));
    const Json answer = world.trade("d1", one("buy", "1", "100.01"));
    EXPECT_EQ(submit_status(answer), "timeout");
    EXPECT_EQ(world.count("SAFE_RECOVERY_TRIGGERED"), 1);
    world.pass(Duration::of_seconds(20));
    EXPECT_EQ(text_at(world.decision("d1"), "verification", "overall"), "matched");
    EXPECT_EQ(world.orders_sent(), 1);
    EXPECT_EQ(world.count("FILL_BOOKED"), 1);
    EXPECT_EQ(world.count("SAFE_RECOVERY_RESOLVED"), 1);
    EXPECT_EQ(holding(world.account(), "ABC"), "0.999");
}

// No entry while an order is uncertain; its worst case is reserved.
TEST(Loop, AnUnknownOrderBlocksEntriesUntilItIsSettled) {
    LoopWorld world;
    world.account();
    ASSERT_TRUE(world.paper->set_faults({{.kind = PaperFaultKind::lose_answer, .times_max = 1}}));
    world.trade("d1", one("buy", "1", "100.01"));
    const Json blocked = world.validate("d2", one("buy", "2", "100.01"));
    EXPECT_FALSE(blocked.find("validation")->find("pass")->as_bool());
    world.pass(Duration::of_seconds(20));
    const Json passed = world.validate("d3", one("buy", "2", "100.01"));
    EXPECT_TRUE(passed.find("validation")->find("pass")->as_bool()) << to_text(passed);
}

// The venue's word on the first order was asked for before the second was there to be shown.
TEST(Loop, AReportThatOvertakesTheNextOrderIsNoTrouble) {
    LoopWorld world;
    const Json first = one("buy", "1", "99");
    const Json second = one("buy", "1", "98");
    for (const auto& [id, intents] : {std::pair("d1", first), std::pair("d2", second)}) {
        world.validate(id, intents);
        world.dry_run(id, intents);
    }
    const auto ignore = [](const Result<Answer>&) {};
    world.submit(world.turn_of("execute", world.execute_body("d1", first), ignore));
    ASSERT_EQ(world.waiting.size(), 1u);
    const OutboxItem order = std::exchange(world.waiting, {}).front();
    world.submit(world.plane->runner.outcome_turn(world.plane->outbox.run_one(order)));
    ASSERT_EQ(world.waiting.size(), 1u);
    ASSERT_EQ(world.waiting.front().kind, kReportKind);
    world.submit(world.turn_of("execute", world.execute_body("d2", second), ignore));
    ASSERT_EQ(world.waiting.size(), 2u);
    world.run_effects();
    EXPECT_EQ(world.count("ORDER_ACKED"), 2);
    EXPECT_EQ(world.count("SAFE_RECOVERY_TRIGGERED"), 0);
}

// Never arrived only after three queries and fifteen seconds.
TEST(Loop, AnOrderThatNeverArrivedIsProvenAndNeverResent) {
    LoopWorld world;
    world.account();
    ASSERT_TRUE(world.paper->set_faults({{.kind = PaperFaultKind::time_out, .times_max = 1}}));
    world.trade("d1", one("buy", "1", "100.01"));
    world.pass(Duration::of_seconds(12));
    EXPECT_EQ(world.count("ORDER_NEVER_ARRIVED"), 0);
    world.pass(Duration::of_seconds(12));
    EXPECT_EQ(world.count("ORDER_NEVER_ARRIVED"), 1);
    EXPECT_EQ(world.orders_sent(), 1);
    EXPECT_EQ(holding(world.account(), "USDT"), "10000");
}

TEST(Loop, ARejectedOrderIsRejectedOnBothSides) {
    LoopWorld world;
    world.account();
    ASSERT_TRUE(world.paper->set_faults({{.kind = PaperFaultKind::reject, .times_max = 1}}));
    const Json answer = world.trade("d1", one("buy", "1", "100.01"));
    EXPECT_EQ(submit_status(answer), "rejected");
    EXPECT_EQ(*answer.find("status"), Json("error"));
    EXPECT_EQ(holding(world.account(), "USDT"), "10000");
    EXPECT_EQ(text_at(world.decision("d1"), "verification", "overall"), "matched");
}

TEST(Loop, CancelsPassWithoutGatesAndUnderTheKillSwitch) {
    LoopWorld world;
    const Json resting = world.trade("d1", one("buy", "1", "99.00"));
    const std::string id =
        resting.find("execution")->items()[0].find("order_client_id")->as_string();
    const Json answer = world.trade("d2", Json::array(), Json::array({id}));
    EXPECT_EQ(*answer.find("status"), Json("ok")) << to_text(answer);
    EXPECT_TRUE(world.account().find("open_orders")->items().empty());
    EXPECT_EQ(holding(world.account(), "USDT"), "10000");
}

TEST(Loop, CancellingAnOrderThatNeverWasIsNoSuccess) {
    LoopWorld world;
    const std::string ghost = "h" + std::string(31, 'a');
    const Json none = world.trade("d1", Json::array(), Json::array({ghost}));
    EXPECT_EQ(*none.find("status"), Json("error")) << to_text(none);
    EXPECT_EQ(error_code(none), "unknown_order");
    EXPECT_EQ(none.find("errors")->items()[0].find("order_client_id")->as_string(), ghost);

    const Json resting = world.trade("d2", one("buy", "1", "99.00"));
    const std::string id =
        resting.find("execution")->items()[0].find("order_client_id")->as_string();
    const Json one_of_two = world.trade("d3", Json::array(), Json::array({id, ghost}));
    EXPECT_EQ(*one_of_two.find("status"), Json("partial")) << to_text(one_of_two);
    // Its end is known: that it is not open is what was wanted.
    const Json over = world.trade("d4", Json::array(), Json::array({id}));
    EXPECT_EQ(*over.find("status"), Json("ok")) << to_text(over);
    EXPECT_TRUE(over.find("errors")->items().empty());
}

Json in_tick(Json body, std::string_view tick) {
    body.set("tick_id", tick);
    return body;
}

TEST(Loop, ADecisionKeepsTheTickItBeganIn) {
    LoopWorld world;
    const Json intents = one("buy", "1", "99.00");
    world.validate("d1", intents);
    Json body = LoopWorld::ids_of("d1", "again");
    body.set("plan", Json::object({{"intents", intents}, {"reason", "test"}}));
    EXPECT_EQ(error_code(world.call("validate", in_tick(body, "t2"))), "decision_mismatch");
    Json rehearse = LoopWorld::ids_of("d1", "rehearse");
    rehearse.set("plan", Json::object({{"intents", intents}}));
    rehearse.set("assumptions", Json::object({{"slippage_bps", 0}, {"fee_bps", 0}}));
    EXPECT_EQ(error_code(world.call("dry_run", in_tick(rehearse, "t2"))), "decision_mismatch");
    world.dry_run("d1", intents);
    const Json execute = world.execute_body("d1", intents);
    Json elsewhere = in_tick(execute, "t2");
    elsewhere.set("idempotency_key", "elsewhere");
    EXPECT_EQ(error_code(world.call("execute", elsewhere)), "decision_mismatch");
    // Nothing of that touched the decision.
    const Json executed = world.call("execute", execute);
    EXPECT_EQ(*executed.find("status"), Json("ok")) << to_text(executed);
    Json verify = in_tick(LoopWorld::ids_of("d1", "verify"), "t2");
    verify.set(
        "order_client_ids",
        Json::array({*executed.find("execution")->items()[0].find("order_client_id")}));
    EXPECT_EQ(error_code(world.call("verify", verify)), "decision_mismatch");
}

Json state_as_of(LoopWorld& world, Timestamp as_of) {
    Json body = LoopWorld::ids_of("look", "look" + to_text(as_of));
    body.set("as_of", to_text(as_of));
    return world.call("state", body);
}

TEST(Loop, TheStateSaysOfWhichMomentItIs) {
    LoopWorld world;
    const Timestamp now = world.clock.now();
    const Duration allowed = Duration::of_seconds(60);
    const Duration least = Duration::of_milliseconds(1);
    for (const Timestamp fine : {now, now - allowed, now + allowed}) {
        const Json answer = state_as_of(world, fine);
        EXPECT_EQ(error_code(answer), "") << to_text(fine);
        EXPECT_EQ(text_at(answer, "state", "as_of"), to_text(now));
    }
    for (const Timestamp other : {now - allowed - least, now + allowed + least}) {
        const Json answer = state_as_of(world, other);
        EXPECT_EQ(error_code(answer), "as_of_not_held") << to_text(other);
        EXPECT_EQ(text_at(answer, "state", "as_of"), to_text(now));
    }
}

// In the stored record itself, which a receipt carries.
TEST(Loop, TheStoredRecordHoldsTheStateDeltaAndTheMetrics) {
    LoopWorld world;
    world.trade("d1", one("buy", "2", Json()));
    const Json decision = world.decision("d1");
    const std::string ref = decision.find("ledger_ref")->as_string();
    ReplayInputs inputs = stored_inputs(world.memory, world.tenant);
    const Json record = inputs.json_of(ref).value();
    EXPECT_EQ(first_difference(*record.find("outputs"), *decision.find("outputs")), "");
    const std::string delta_ref = text_at(record, "outputs", "state_delta_hash");
    EXPECT_NE(delta_ref, ref);
    const Json delta = inputs.json_of(delta_ref).value();
    EXPECT_EQ(
        to_text(*delta.find("positions")),
        R"([{"fee_quote":"0.20002","qty":"2","quote":"-200.02","symbol":"ABCUSDT"}])");
    EXPECT_EQ(
        to_text(*record.find("outputs")->find("metrics")),
        R"({"acked":1,"fee_quote":"0.20002","filled_quote":"200.02","orders":1,)"
        R"("planned_to_executed_ms":0,"rejected":0,"slippage_bps":"0","unknown":0})");
}

TEST(Loop, ARefusedDecisionRecordsThatNothingChanged) {
    LoopWorld world;
    world.validate("d1", one("buy", "90", "100.01"));
    const Json outputs = *world.decision("d1").find("outputs");
    const Json delta = stored_inputs(world.memory, world.tenant)
                           .json_of(outputs.find("state_delta_hash")->as_string())
                           .value();
    EXPECT_EQ(to_text(delta), R"({"cancels":[],"orders":[],"positions":[]})");
    EXPECT_EQ(*outputs.find("metrics")->find("orders"), Json(0));
}

// What one of them assumes or reserves has no part in it.
TEST(Loop, AnOrderKeepsTheTouchItWasDecidedOn) {
    LoopWorld world;
    world.trade("d1", one("buy", "2", Json()));
    world.trade("d2", one("sell", "1", Json()));
    std::vector<std::string> touches;
    const auto rows = world.memory.load_states("order/").value();
    for (const auto& [key, state] : rows) {
        touches.push_back(parse_json(state.json).value().find("touch_price")->as_string());
    }
    std::sort(touches.begin(), touches.end());
    EXPECT_EQ(touches, (std::vector<std::string>{"100.01", "99.99"}));
}

TEST(Loop, TheDryRunRefusesWhatTheBookDoesNotCarry) {
    LoopWorld world;  // Six ABC on each side.
    const Json all = one("buy", "6", Json());
    world.validate("d1", all);
    EXPECT_EQ(*world.dry_run("d1", all).find("dry_run")->find("pass"), Json(true));
    const Json more = one("buy", "6.001", Json());
    world.validate("d2", more);
    const Json answer = world.dry_run("d2", more);
    EXPECT_EQ(
        to_text(*answer.find("dry_run")->find("blocking_reasons")),
        R"(["dry_run:book_too_thin:ABCUSDT"])");
    const Json& adjusted = *answer.find("dry_run")->find("adjusted_plan");
    EXPECT_EQ(adjusted.find("intents")->items()[0].find("qty")->as_string(), "6");
}

TEST(Loop, TheDryRunRefusesAPostOnlyOrderThatWouldTake) {
    LoopWorld world;
    Json intents = one("buy", "1", "100.01");
    intents.items()[0].set("post_only", true);
    world.validate("d1", intents);
    EXPECT_EQ(
        to_text(*world.dry_run("d1", intents).find("dry_run")->find("blocking_reasons")),
        R"(["dry_run:would_take:ABCUSDT"])");
}

// Start-up begins in recovery and ends in it by itself.
TEST(Loop, ARestartRecoversBeforeItTrades) {
    LoopWorld world;
    world.trade("d1", one("buy", "1", "100.01"));
    world.rebuild();
    EXPECT_EQ(text_at(world.account(), "recovery", "phase"), "recovering");
    world.pass(Duration::of_seconds(10));
    EXPECT_EQ(text_at(world.account(), "recovery", "phase"), "normal");
}

// The send happened, the process died before the outcome was recorded.
TEST(Loop, ACrashAfterTheSendBooksTheOrderOnce) {
    LoopWorld world;
    const Json intents = one("buy", "1", "100.01");
    world.validate("d1", intents);
    world.dry_run("d1", intents);
    world.submit(
        world.turn_of("execute", world.execute_body("d1", intents), [](Result<Answer>) {}));
    ASSERT_EQ(world.waiting.size(), 1u);
    world.sent.push_back(world.waiting.front());
    world.plane->outbox.run_one(world.waiting.front());
    world.rebuild();
    world.pass(Duration::of_seconds(20));
    EXPECT_EQ(holding(world.account(), "ABC"), "0.999");
    EXPECT_EQ(world.count("FILL_BOOKED"), 1);
    EXPECT_EQ(world.orders_sent(), 1);
    EXPECT_EQ(text_at(world.decision("d1"), "verification", "overall"), "matched");
    EXPECT_EQ(text_at(world.account(), "recovery", "phase"), "normal");
}

TEST(Loop, AMarketThatMovesFillsWhatRestsThroughTheWatch) {
    LoopWorld world;
    world.trade("d1", one("buy", "1", "99.50"));
    MarketView crash = calm_view();
    for (auto& level : crash.bids) {
        level.price.count -= 100;
    }
    for (auto& level : crash.asks) {
        level.price.count -= 100;
    }
    world.market->set(0, crash);
    world.pass(Duration::of_seconds(10));
    EXPECT_EQ(holding(world.account(), "ABC"), "0.999");
    EXPECT_EQ(world.count("SAFE_RECOVERY_TRIGGERED"), 0);
    // Found in a report, it is told as one that an answer brings: whose it was and what it came to.
    const auto records = *world.plane->ledger.read(world.tenant, 0, 10'000);
    const auto fill = std::ranges::find_if(
        records, [](const AuditRecord& one) { return one.draft.event == "FILL_BOOKED"; });
    ASSERT_NE(fill, records.end());
    EXPECT_EQ(fill->draft.decision_id.text(), "d1");
    EXPECT_EQ(to_text(*fill->draft.detail.find("realized")), R"("0")");
    EXPECT_EQ(to_text(*fill->draft.detail.find("fee_quote")), R"("0.0995")");
}

TEST(Loop, ACallThatCannotBeReadIsOnTheRecordAndKeepsTheShape) {
    LoopWorld world;
    Json body = LoopWorld::ids_of("d1", "k");
    body.set("plan", Json::object({{"intents", Json::array()}, {"reson", "x"}}));
    const Json answer = world.call("validate", body);
    EXPECT_EQ(*answer.find("status"), Json("error"));
    EXPECT_EQ(error_code(answer), "invalid_request");
    EXPECT_FALSE(answer.find("audit_ref")->as_string().empty());
    EXPECT_EQ(world.events("d1"), Events{"ERROR_EVENT"});
}

}  // namespace
}  // namespace interlock
