#include "account/rules/order_record.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "testing/account_builders.h"

namespace interlock {
namespace {

const Timestamp kLater = noon() + Duration::of_seconds(1);

OrderStep report(OrderRecord order, OrderState state, std::string_view filled = "0") {
    const VenueOrder seen = shown(order, state, filled);
    return step_order(std::move(order), OrderReported{seen}, kLater);
}

TEST(OrderRecord, AnAckMakesItRest) {
    const OrderStep step = report(an_order(), OrderState::resting);
    EXPECT_EQ(step.order.state, OrderState::resting);
    EXPECT_EQ(step.order.exchange_order_id, "x-o1");
    EXPECT_TRUE(step.changed);
    EXPECT_FALSE(step.ended);
    EXPECT_TRUE(step.drift.empty());
}

TEST(OrderRecord, AReportedFillIsAClaimAndNotAFill) {
    const OrderStep step = report(an_order(), OrderState::filled, "1");
    EXPECT_EQ(step.order.state, OrderState::filled);
    EXPECT_TRUE(step.order.filled_qty.is_zero());
    EXPECT_EQ(step.order.reported_qty, dec("1"));
    EXPECT_FALSE(is_settled(step.order));
    EXPECT_EQ(reserved_qty(step.order), dec("1"));
}

TEST(OrderRecord, ALateNewAfterFilledChangesNothing) {
    const OrderRecord filled = report(an_order(), OrderState::filled, "1").order;
    const OrderStep step = report(filled, OrderState::resting);
    EXPECT_EQ(step.order.state, OrderState::filled);
    EXPECT_EQ(step.order.reported_qty, dec("1"));
    EXPECT_FALSE(step.changed);
}

TEST(OrderRecord, ALateNewAfterAPartialFillKeepsThePartialFill) {
    const OrderRecord partial = report(an_order(), OrderState::partially_filled, "0.4").order;
    EXPECT_EQ(report(partial, OrderState::resting).order.state, OrderState::partially_filled);
}

TEST(OrderRecord, ALateNewAfterCanceledChangesNothing) {
    const OrderRecord canceled = report(an_order(), OrderState::canceled).order;
    EXPECT_FALSE(report(canceled, OrderState::resting).changed);
}

TEST(OrderRecord, AFillAfterACancelWins) {
    const OrderRecord canceled = report(an_order(), OrderState::canceled).order;
    const OrderStep step = report(canceled, OrderState::filled, "1");
    EXPECT_EQ(step.order.state, OrderState::filled);
    EXPECT_EQ(reserved_qty(step.order), dec("1"));
}

TEST(OrderRecord, ARejectionEndsAnUncertainOrder) {
    const OrderStep step = step_order(an_order(), OrderRejected{"insufficient_balance"}, kLater);
    EXPECT_EQ(step.order.state, OrderState::rejected);
    EXPECT_EQ(step.order.reject_code, "insufficient_balance");
    EXPECT_TRUE(step.ended);
    EXPECT_TRUE(is_settled(step.order));
}

TEST(OrderRecord, ARejectionAfterAnAckIsDriftAndNotBelieved) {
    const OrderRecord resting = report(an_order(), OrderState::resting).order;
    const OrderStep step = step_order(resting, OrderRejected{"late"}, kLater);
    EXPECT_EQ(step.order.state, OrderState::resting);
    EXPECT_EQ(step.drift, std::vector<std::string>{"field_mismatch:state"});
}

TEST(OrderRecord, AnUnknownOutcomeKeepsAllReserved) {
    const OrderStep step = step_order(an_order(), OrderOutcomeUnknown{}, kLater);
    EXPECT_EQ(step.order.state, OrderState::unknown);
    EXPECT_EQ(reserved_qty(step.order), dec("1"));
    EXPECT_TRUE(is_uncertain(step.order));
}

TEST(OrderRecord, AnUnknownOutcomeAfterAnAckSaysNothing) {
    const OrderRecord resting = report(an_order(), OrderState::resting).order;
    EXPECT_FALSE(step_order(resting, OrderOutcomeUnknown{}, kLater).changed);
}

TEST(OrderRecord, AnAckAfterNeverArrivedRevivesTheOrderAndIsDrift) {
    const OrderRecord gone = an_order({.state = OrderState::never_arrived});
    const OrderStep step = report(gone, OrderState::resting);
    EXPECT_EQ(step.order.state, OrderState::resting);
    EXPECT_EQ(reserved_qty(step.order), dec("1"));
    EXPECT_EQ(step.drift, std::vector<std::string>{"unexpected_order"});
}

TEST(OrderRecord, AVanishedOrderThatShowsUpAgainIsRevivedAndDrift) {
    OrderRecord order = report(an_order(), OrderState::resting).order;
    order = step_order(order, OrderVanished{}, kLater).order;
    EXPECT_EQ(order.state, OrderState::canceled);
    EXPECT_TRUE(is_settled(order));
    const OrderStep step = report(order, OrderState::resting);
    EXPECT_EQ(step.order.state, OrderState::resting);
    EXPECT_EQ(step.drift, std::vector<std::string>{"unexpected_order"});
}

TEST(OrderRecord, RejectedOnBothSidesIsNoDrift) {
    const OrderRecord gone = an_order({.state = OrderState::never_arrived});
    EXPECT_TRUE(report(gone, OrderState::rejected).drift.empty());
}

TEST(OrderRecord, TwoExchangeIdsForOneOrderAreADuplicate) {
    OrderRecord order = report(an_order(), OrderState::resting).order;
    VenueOrder other = shown(order, OrderState::resting);
    other.exchange_order_id = "x-else";
    const OrderStep step = step_order(order, OrderReported{other}, kLater);
    EXPECT_EQ(step.drift, std::vector<std::string>{"duplicate_live_order"});
    EXPECT_EQ(step.order.exchange_order_id, "x-o1");
}

TEST(OrderRecord, TheSameAbsenceToldTwiceCountsOnce) {
    OrderRecord order = step_order(an_order(), OrderAbsent{}, kLater).order;
    order = step_order(order, OrderAbsent{}, kLater).order;
    EXPECT_EQ(order.proof.absent_queries, 1);
}

TEST(OrderRecord, ASignOfLifeClearsTheProofOfAbsence) {
    const OrderRecord order = step_order(an_order(), OrderAbsent{}, kLater).order;
    EXPECT_EQ(report(order, OrderState::resting).order.proof, ArrivalProof{});
}

TEST(OrderRecord, ACancelRequestIsRememberedWhileItIsLive) {
    EXPECT_TRUE(step_order(an_order(), CancelRequested{}, kLater).order.cancel_requested);
    const OrderRecord over = an_order({.state = OrderState::rejected});
    EXPECT_FALSE(step_order(over, CancelRequested{}, kLater).order.cancel_requested);
}

TEST(OrderRecord, ATradeGrowsTheFillAndFillsTheOrder) {
    OrderRecord order = an_order();
    order = note_fill(order, a_trade(order, {.id = 1, .qty = "0.4", .price = "99"}))->order;
    EXPECT_EQ(order.state, OrderState::partially_filled);
    EXPECT_EQ(order.filled_quote, dec("39.6"));
    order = note_fill(order, a_trade(order, {.id = 2, .qty = "0.6", .price = "100"}))->order;
    EXPECT_EQ(order.state, OrderState::filled);
    EXPECT_EQ(order.filled_quote, dec("99.6"));
    EXPECT_TRUE(is_settled(order));
}

TEST(OrderRecord, ATradeBeyondTheQuantityIsAnOverfill) {
    const OrderRecord order = an_order();
    EXPECT_EQ(
        note_fill(order, a_trade(order, {.qty = "1.1"}))->drift,
        std::vector<std::string>{"overfill"});
}

TEST(OrderRecord, ATradeOfARejectedOrderIsUnexpected) {
    const OrderRecord order = an_order({.state = OrderState::rejected});
    const auto noted = note_fill(order, a_trade(order, {.qty = "0.5"}));
    EXPECT_EQ(noted->drift, std::vector<std::string>{"unexpected_order"});
    EXPECT_EQ(noted->order.state, OrderState::partially_filled);
}

TEST(OrderRecord, TradesBeyondTheBoundAreCoveredByTheFloor) {
    OrderRecord order = an_order({.qty = "1000"});
    const auto count = static_cast<std::int64_t>(kTradesPerOrderMax) + 10;
    for (std::int64_t id = 1; id <= count; ++id) {
        order = note_fill(order, a_trade(order, {.id = id}))->order;
    }
    EXPECT_EQ(order.trade_ids.size(), kTradesPerOrderMax);
    EXPECT_EQ(order.trades_floor, 10);
    for (std::int64_t id = 1; id <= count; ++id) {
        EXPECT_TRUE(has_trade(order, id));
    }
    EXPECT_FALSE(has_trade(order, count + 1));
}

TEST(OrderRecord, StoredFormReadsBack) {
    OrderRecord order = an_order({.price = "", .reserve_price = "101.5"});
    order = note_fill(order, a_trade(order, {.id = 7, .qty = "0.25"}))->order;
    order = step_order(order, OrderAbsent{}, kLater).order;
    order.reject_code = "code";
    EXPECT_EQ(*decode_order_record(encode(order)), order);
    EXPECT_EQ(*decode_order_record(encode(an_order())), an_order());
}

TEST(OrderRecord, TouchAndFeesReadBackToo) {
    OrderRecord order = an_order();
    order.touch_price = dec("100.01");
    order.fee_quote = dec("0.2");
    EXPECT_EQ(*decode_order_record(encode(order)), order);
}

OrderRecord filled_at(Side side, std::string_view touch, std::string_view average) {
    OrderRecord order = an_order({.side = side, .price = ""});
    order.touch_price = dec(touch);
    order.reserve_price = dec("150");
    order.filled_qty = dec("2");
    order.filled_quote = *multiply_half_even(dec("2"), dec(average));
    return order;
}

TEST(OrderRecord, SlippageIsAgainstTheTouchOnBothSides) {
    EXPECT_EQ(slippage_bps_of(filled_at(Side::buy, "100", "100.3")), dec("30"));
    EXPECT_EQ(slippage_bps_of(filled_at(Side::buy, "100", "99.9")), dec("-10"));
    EXPECT_EQ(slippage_bps_of(filled_at(Side::sell, "100", "99.7")), dec("30"));
    EXPECT_EQ(slippage_bps_of(filled_at(Side::sell, "100", "100")), dec("0"));
}

TEST(OrderRecord, SlippageIsOfOrdersThatTakeAlone) {
    OrderRecord order = filled_at(Side::buy, "100", "100.3");
    order.request.order_type = OrderType::limit;
    order.request.limit_price = dec("100.5");
    EXPECT_EQ(slippage_bps_of(order), dec("30"));
    order.request.limit_price = dec("99.99");  // Was to rest; then the market came to it.
    EXPECT_FALSE(slippage_bps_of(order));
    order.request.limit_price = dec("100.5");
    order.request.post_only = true;
    EXPECT_FALSE(slippage_bps_of(order));
    order = filled_at(Side::buy, "100", "100.3");
    order.filled_qty = {};
    EXPECT_FALSE(slippage_bps_of(order));
}

TEST(OrderRecord, AStoredFormWithAnUnknownKeyIsRefused) {
    Json json = encode(an_order());
    json.set("extra", 1);
    EXPECT_FALSE(decode_order_record(json));
}

OrderEvent any_event(const OrderRecord& order) {
    const auto state = static_cast<OrderState>(*rc::gen::inRange(2, 7));
    VenueOrder seen = shown(order, state);
    seen.filled_qty = Decimal::from_units(
        static_cast<__int128>(*rc::gen::inRange(0, 11)) * 100'000'000'000'000'000);
    switch (*rc::gen::inRange(0, 6)) {
        case 0:
            return OrderRejected{"code"};
        case 1:
            return OrderOutcomeUnknown{};
        case 2:
            return OrderAbsent{};
        case 3:
            return OrderNeverArrived{};
        case 4:
            return CancelRequested{};
        default:
            return OrderReported{seen};
    }
}

// Whatever the venue says in whatever order: claims never shrink, nothing is ever filled without a
// trade, an end by fill or cancel stays an end.
TEST(OrderRecord, NeverGoesBackwards) {
    EXPECT_TRUE(rc::check([] {
        OrderRecord order = an_order();
        Timestamp at = noon();
        for (int i = 0; i < 12; ++i) {
            at = at + Duration::of_seconds(1);
            const OrderStep step = step_order(order, any_event(order), at);
            RC_ASSERT(step.order.reported_qty >= order.reported_qty);
            RC_ASSERT(step.order.filled_qty == order.filled_qty);
            if (order.state == OrderState::filled) {
                RC_ASSERT(step.order.state == OrderState::filled);
            }
            if (order.state == OrderState::canceled) {
                RC_ASSERT(!is_live(step.order.state));
            }
            RC_ASSERT(is_live(order.state) || is_uncertain(order) || !is_uncertain(step.order));
            order = step.order;
        }
    }));
}

}  // namespace
}  // namespace interlock
