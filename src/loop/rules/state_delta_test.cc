#include "loop/rules/state_delta.h"

#include <gtest/gtest.h>

#include "base/canonical_json.h"
#include "testing/account_builders.h"

namespace interlock {
namespace {

OrderRecord filled(const std::string& id, Side side, std::string_view quote) {
    OrderRecord order = an_order({.id = id, .side = side, .qty = "2", .price = ""});
    order.state = OrderState::filled;
    order.filled_qty = dec("2");
    order.reported_qty = dec("2");
    order.filled_quote = dec(quote);
    order.fee_quote = dec("0.5");
    order.touch_price = dec("100");
    return order;
}

Execution row(const std::string& id, const std::string& status) {
    Execution execution;
    execution.intent_id = IntentId::trusted("i0");
    execution.order_client_id = OrderClientId::trusted(id);
    execution.symbol = symbol_of("BTCUSDT");
    execution.submit_status = status;
    return execution;
}

Json metrics_of(const Decision& decision, const std::vector<OrderRecord>& orders) {
    const auto delta = state_delta(decision, orders);
    EXPECT_TRUE(delta);
    const auto metrics = decision_metrics({
        .execution = encode_execution(decision),
        .timestamps = encode_timestamps(decision),
        .state_delta = *delta,
    });
    EXPECT_TRUE(metrics) << (metrics ? "" : metrics.error().message);
    return metrics ? *metrics : Json();
}

TEST(StateDelta, SumsWhatWasBookedPerMarket) {
    const auto delta = state_delta(
        {},
        {filled("o1", Side::buy, "200.4"),
         filled("o2", Side::sell, "199.8"),
         filled("o3", Side::buy, "200")});
    ASSERT_TRUE(delta);
    EXPECT_EQ(
        to_text(*delta->find("positions")),
        R"([{"symbol":"BTCUSDT","qty":"2","quote":"-200.6","fee_quote":"1.5"}])");
    const Json& first = delta->find("orders")->items().at(0);
    EXPECT_EQ(first.find("slippage_bps")->as_string(), "20");
    EXPECT_EQ(first.find("state")->as_string(), "filled");
    EXPECT_EQ(first.find("open_qty")->as_string(), "0");
}

TEST(StateDelta, OfADecisionThatSentNothingIsEmptyAndStillHasAHash) {
    const auto delta = state_delta({}, {});
    ASSERT_TRUE(delta);
    EXPECT_EQ(*canonical_json(*delta), R"({"cancels":[],"orders":[],"positions":[]})");
}

TEST(DecisionMetrics, AreOfRowsTimesAndDelta) {
    Decision decision;
    decision.execution = {row("o1", "acked"), row("o2", "rejected"), row("o3", "timeout")};
    decision.planned_at = noon();
    decision.executed_at = noon() + Duration::of_milliseconds(1234);
    const Json metrics =
        metrics_of(decision, {filled("o1", Side::buy, "200.4"), filled("o2", Side::sell, "199.8")});
    // 200.4 at 20 and 199.8 at 10 basis points.
    EXPECT_EQ(
        to_text(metrics),
        R"({"orders":3,"acked":1,"rejected":1,"unknown":1,"filled_quote":"400.2",)"
        R"("fee_quote":"1","slippage_bps":"15.007496251874062969","planned_to_executed_ms":1234})");
}

TEST(DecisionMetrics, KnowNoSlippageWithoutAFill) {
    const Json metrics = metrics_of({}, {an_order()});
    EXPECT_TRUE(metrics.find("slippage_bps")->is_null());
    EXPECT_TRUE(metrics.find("planned_to_executed_ms")->is_null());
    EXPECT_EQ(metrics.find("filled_quote")->as_string(), "0");
}

}  // namespace
}  // namespace interlock
