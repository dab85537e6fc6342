#include "account/rules/imported_order.h"

#include <gtest/gtest.h>

#include "account/rules/order_form.h"

namespace interlock {
namespace {

VenueOrder seen_order(OrderState state, std::string_view filled) {
    VenueOrder seen;
    seen.order_client_id = OrderClientId::trusted("h" + std::string(31, 'a'));
    seen.exchange_order_id = "17";
    seen.symbol = Symbol::parse("BTCUSDT").value();
    seen.side = Side::buy;
    seen.qty = Decimal::parse("2").value();
    seen.limit_price = Decimal::parse("100").value();
    seen.state = state;
    seen.filled_qty = Decimal::parse(filled).value();
    seen.updated_at = Timestamp{1'000'000};
    return seen;
}

VenueAccount account() {
    return {TenantId::trusted("demo"), AccountId::trusted("main"), TradeMode::paper};
}

TEST(ImportedOrder, IsUnsettledUntilItsTradesAreBooked) {
    const OrderRecord filled = imported_order(account(), seen_order(OrderState::filled, "2"));
    EXPECT_FALSE(is_settled(filled));
    EXPECT_EQ(filled.reported_qty, Decimal::parse("2").value());
    EXPECT_TRUE(filled.filled_qty.is_zero());
    EXPECT_TRUE(is_settled(imported_order(account(), seen_order(OrderState::canceled, "0"))));
    EXPECT_FALSE(is_settled(imported_order(account(), seen_order(OrderState::resting, "0"))));
}

TEST(ImportedOrder, SurvivesTheStore) {
    const OrderRecord order = imported_order(account(), seen_order(OrderState::resting, "0"));
    EXPECT_EQ(decode_order_record(encode(order)).value(), order);
}

TEST(ImportedOrder, GoesToAHumanAtOnceAndOnce) {
    const RecoveryCause cause{
        .at = Timestamp{5'000'000},
        .reasons = {"unexpected_order:x"},
        .exposure = Decimal::parse("200").value()};
    const RecoveryStep first = escalate(RecoveryState{}, cause);
    EXPECT_EQ(first.state.phase, RecoveryPhase::escalated);
    EXPECT_TRUE(first.entered && first.escalated);
    EXPECT_EQ(first.state.reasons, cause.reasons);
    EXPECT_TRUE(first.kill_reason.empty());
    const RecoveryStep again = escalate(first.state, cause);
    EXPECT_EQ(again.state.phase, RecoveryPhase::escalated);
    EXPECT_FALSE(again.entered || again.escalated);
    // Only a human leads out: a start does not.
    EXPECT_EQ(begin_at_startup(again.state, cause).state.phase, RecoveryPhase::escalated);
    EXPECT_EQ(resume_recovery(again.state, cause).state.phase, RecoveryPhase::recovering);
}

TEST(ImportedOrder, KnowsIdsOfOurForm) {
    EXPECT_TRUE(has_our_form(OrderClientId::trusted("h" + std::string(31, '7'))));
    for (const std::string& text :
         {std::string("manual-1"),
          "h" + std::string(30, 'a'),
          "g" + std::string(31, 'a'),
          "h" + std::string(30, 'a') + "1"}) {
        EXPECT_FALSE(has_our_form(OrderClientId::trusted(text))) << text;
    }
}

}  // namespace
}  // namespace interlock
