// The loop from tool call to record, over the paper venue (seed 002 §1, §5, §6; S9–S13).
#include "services/loop/loop_service.h"

#include <gtest/gtest.h>

#include "testing/loop_world.h"

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

// §5.2.1: same key and payload, same answer, nothing sent again.
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

// S7.5: a fresh key and decision with the same meaning.
TEST(Loop, TheSameMeaningUnderAFreshKeyIsADuplicate) {
    LoopWorld world;
    world.trade("d1", one("buy", "1", "100.01"));
    const Json answer = world.validate("d2", one("buy", "1", "100.01"));
    EXPECT_FALSE(answer.find("validation")->find("pass")->as_bool());
    EXPECT_NE(to_text(answer).find("duplicate_of"), std::string::npos);
    EXPECT_EQ(world.orders_sent(), 1);
}

// §1 F1: a failed gate ends in ACTION_REJECTED and a record.
TEST(Loop, AnOrderOverTheLimitIsRejectedOnTheRecord) {
    LoopWorld world;
    const Json answer = world.validate("d1", one("buy", "50", "100.01"));
    EXPECT_FALSE(answer.find("validation")->find("pass")->as_bool());
    EXPECT_EQ(answer.find("validation")->find("checks")->items().size(), 5u);
    EXPECT_EQ(
        world.events("d1"),
        (Events{"PLAN_CREATED", "VALIDATION_RESULT", "ACTION_REJECTED", "DECISION_RECORDED"}));
}

// §6.1.2, S7 "proof of gating".
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

// §6.1.1, I6: what was validated before the stop is not executed after it.
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

// §6.1.6: no entry while an order is uncertain; its worst case is reserved.
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

// S11: never arrived only after three queries and fifteen seconds.
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

// S12: start-up begins in recovery and ends in it by itself.
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
