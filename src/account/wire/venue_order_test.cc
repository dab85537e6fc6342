// Orders, fills and balances survive their own JSON, and nothing else is taken for one.
#include "account/wire/venue_order.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace interlock {
namespace {

template <class T>
T one_of(std::initializer_list<T> values) {
    return *rc::gen::elementOf(std::vector<T>(values));
}
Decimal any_decimal() {
    return Decimal::from_units(static_cast<__int128>(*rc::gen::arbitrary<std::int64_t>()) * 1'000);
}
Timestamp any_time() {
    return {*rc::gen::inRange<std::int64_t>(0, 4'000'000'000'000) * 1000};
}
std::string any_name() {
    return "n" + std::to_string(*rc::gen::arbitrary<std::uint16_t>());
}

VenueAccount any_account() {
    return {
        TenantId::trusted(any_name()),
        AccountId::trusted(any_name()),
        one_of({TradeMode::paper, TradeMode::shadow, TradeMode::live})};
}

VenueOrder any_order() {
    VenueOrder order;
    order.order_client_id = OrderClientId::trusted(any_name());
    order.exchange_order_id = one_of<std::string>({"", "17"});
    order.symbol = Symbol::parse("ABCUSDT").value();
    order.side = one_of({Side::buy, Side::sell});
    order.order_type = one_of({OrderType::market, OrderType::limit});
    order.time_in_force = one_of({TimeInForce::gtc, TimeInForce::ioc, TimeInForce::fok});
    order.post_only = *rc::gen::arbitrary<bool>();
    order.qty = any_decimal();
    if (*rc::gen::arbitrary<bool>()) {
        order.limit_price = any_decimal();
    }
    order.state = static_cast<OrderState>(*rc::gen::inRange(0, 8));
    order.filled_qty = any_decimal();
    order.filled_quote = any_decimal();
    order.cancel_reason = one_of<std::string>({"", "user", "ioc"});
    order.updated_at = any_time();
    return order;
}

VenueFill any_fill() {
    VenueFill fill;
    fill.trade_id = *rc::gen::inRange<std::int64_t>(0, 1'000'000);
    fill.order_client_id = OrderClientId::trusted(any_name());
    fill.exchange_order_id = "4";
    fill.symbol = Symbol::parse("ABCUSDT").value();
    fill.side = one_of({Side::buy, Side::sell});
    fill.qty = any_decimal();
    fill.price = any_decimal();
    fill.fee = any_decimal();
    fill.fee_asset = Asset::parse("ABC").value();
    fill.is_maker = *rc::gen::arbitrary<bool>();
    fill.at = any_time();
    return fill;
}

// Through text, as a journal would.
Json reread(const Json& json) {
    return parse_json(to_text(json)).value();
}

TEST(VenueOrder, OrdersSurviveTheirJson) {
    EXPECT_TRUE(rc::check([] {
        const VenueOrder order = any_order();
        RC_ASSERT(decode_venue_order(reread(encode(order))).value() == order);
    }));
}

TEST(VenueOrder, FillsSurviveTheirJson) {
    EXPECT_TRUE(rc::check([] {
        const VenueFill fill = any_fill();
        RC_ASSERT(decode_venue_fill(reread(encode(fill))).value() == fill);
    }));
}

TEST(VenueOrder, RequestsAcksAccountsAndBalancesSurviveTheirJson) {
    EXPECT_TRUE(rc::check([] {
        const VenueOrder order = any_order();
        const VenueOrderRequest request{
            .account = any_account(),
            .order_client_id = order.order_client_id,
            .symbol = order.symbol,
            .side = order.side,
            .order_type = order.order_type,
            .time_in_force = order.time_in_force,
            .post_only = order.post_only,
            .qty = order.qty,
            .limit_price = order.limit_price};
        RC_ASSERT(decode_venue_order_request(reread(encode(request))).value() == request);
        const VenueAck ack{order, {any_fill(), any_fill()}};
        const VenueAck read = decode_venue_ack(reread(encode(ack))).value();
        RC_ASSERT(read.order == ack.order && read.fills == ack.fills);
        const VenueBalance balance{Asset::parse("ABC").value(), any_decimal(), any_decimal()};
        RC_ASSERT(decode_venue_balance(reread(encode(balance))).value() == balance);
    }));
}

TEST(VenueOrder, EveryStateHasAWordOfItsOwnAndAFinalOne) {
    for (int i = 0; i <= static_cast<int>(OrderState::never_arrived); ++i) {
        const auto state = static_cast<OrderState>(i);
        EXPECT_EQ(parse_order_state(to_word(state)).value(), state);
    }
    EXPECT_FALSE(parse_order_state("lost").has_value());
    EXPECT_EQ(to_final_word(OrderState::submitting), "unknown");
    EXPECT_EQ(to_final_word(OrderState::resting), "new");
    EXPECT_EQ(to_final_word(OrderState::never_arrived), "rejected");
}

TEST(VenueOrder, OnlyWhatMayStillFillIsLive) {
    EXPECT_TRUE(is_live(OrderState::submitting));
    EXPECT_TRUE(is_live(OrderState::unknown));
    EXPECT_TRUE(is_live(OrderState::resting));
    EXPECT_TRUE(is_live(OrderState::partially_filled));
    EXPECT_FALSE(is_live(OrderState::filled));
    EXPECT_FALSE(is_live(OrderState::canceled));
    EXPECT_FALSE(is_live(OrderState::rejected));
    EXPECT_FALSE(is_live(OrderState::never_arrived));
}

TEST(VenueOrder, MissingUnknownAndMistypedFieldsAreRefused) {
    Json json = encode(VenueBalance{Asset::parse("ABC").value(), Decimal(1), Decimal(2)});
    json.set("extra", 1);
    EXPECT_FALSE(decode_venue_balance(json).has_value());
    EXPECT_FALSE(decode_venue_balance(Json::object({{"asset", "ABC"}})).has_value());
    EXPECT_FALSE(decode_venue_balance(Json("ABC")).has_value());
    EXPECT_FALSE(decode_venue_order(Json::object({})).has_value());
    EXPECT_FALSE(decode_venue_fill(Json::object({})).has_value());
    EXPECT_FALSE(decode_venue_order_request(Json::object({{"account", 3}})).has_value());
    EXPECT_FALSE(decode_venue_ack(Json::object({{"fills", Json::array({1})}})).has_value());
}

}  // namespace
}  // namespace interlock
