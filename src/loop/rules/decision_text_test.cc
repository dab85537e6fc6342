#include "loop/rules/decision_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "loop/wire/test_facts.h"

namespace interlock {
namespace {

// Of all shapes: texts with quotes, breaks and bytes that are not UTF-8, parts absent or there.
std::string draw_words() {
    return *rc::gen::element<std::string>(
        "", "plain", "quote \" and \\", "line\nbreak\x01", "\xC3\xA4\xF0\x9F\x98\x80", "\xFF");
}

Json draw_json() {
    return *rc::gen::element<Json>(
        Json(),
        Json::object(),
        Json::object({{"pass", true}, {"checks", Json::array({"a\"b", 12, Json()})}}));
}

std::optional<GateTicket> draw_ticket() {
    if (*rc::gen::arbitrary<bool>()) {
        return std::nullopt;
    }
    return GateTicket{
        .intents_hash = draw_words(),
        .state_version = *rc::gen::arbitrary<std::int64_t>(),
        .market_hash = draw_words(),
        .expires_at = draw_time(),
    };
}

Intent draw_intent(std::size_t number) {
    Intent intent;
    intent.intent_id = IntentId::trusted("i" + std::to_string(number));
    intent.symbol = test_symbol(number);
    intent.side = *rc::gen::element(Side::buy, Side::sell);
    intent.order_type = *rc::gen::element(OrderType::limit, OrderType::market);
    intent.qty = *gen_any_decimal();
    intent.limit_price = draw_optional(gen_any_decimal());
    intent.post_only = *rc::gen::arbitrary<bool>();
    if (*rc::gen::arbitrary<bool>()) {
        intent.strategy_id = StrategyId::trusted("s1");
    }
    intent.expected_edge_bps = draw_optional(gen_any_decimal());
    return intent;
}

void draw_steps(Decision& decision) {
    for (Json* part :
         {&decision.planner_input,
          &decision.validation,
          &decision.dry_run,
          &decision.operation,
          &decision.verification,
          &decision.record}) {
        *part = draw_json();
    }
    for (StepInputs* inputs :
         {&decision.validate_inputs, &decision.dry_run_inputs, &decision.execute_inputs}) {
        *inputs = {draw_words(), draw_words()};
    }
    decision.gate_ticket = draw_ticket();
    decision.dry_run_ticket = draw_ticket();
    decision.slippage_bps = *gen_any_decimal();
    decision.fee_bps = *gen_any_decimal();
    decision.planned_at = draw_time();
    if (*rc::gen::arbitrary<bool>()) {
        decision.executed_at = draw_time();
        decision.recorded_at = draw_time();
    }
}

Decision draw_decision() {
    Decision decision;
    decision.decision_id = DecisionId::trusted("d1");
    decision.tick_id = TickId::trusted("t1");
    decision.account = {TenantId::trusted("acme"), AccountId::trusted("main"), TradeMode::shadow};
    decision.stage = static_cast<DecisionStage>(*rc::gen::inRange(0, 8));
    decision.attempt = *rc::gen::arbitrary<std::int64_t>();
    decision.planner = draw_words();
    decision.from_outside = *rc::gen::arbitrary<bool>();
    decision.plan.reason = draw_words();
    const auto count = *rc::gen::inRange<std::size_t>(0, 4);
    for (std::size_t i = 0; i < count; ++i) {
        decision.plan.intents.push_back(draw_intent(i));
        const auto id = OrderClientId::trusted("h" + std::to_string(i));
        decision.plan.cancels.push_back(id);
        decision.execution.push_back(
            {.intent_id = IntentId::trusted("i1"),
             .order_client_id = id,
             .symbol = test_symbol(i),
             .exchange_order_id = draw_words(),
             .submit_status = draw_words(),
             .reject_code = draw_words()});
        decision.cancels.push_back({.order_client_id = id, .status = draw_words()});
    }
    decision.config_ref = draw_words();
    decision.ledger_ref = draw_words();
    decision.audit_ref = draw_words();
    draw_steps(decision);
    return decision;
}

TEST(DecisionText, IsTheTextOfTheEncodedDecision) {
    EXPECT_TRUE(rc::check([] {
        const Decision decision = draw_decision();
        RC_ASSERT(row_text(decision) == to_text(encode(decision)));
    }));
}

}  // namespace
}  // namespace interlock
