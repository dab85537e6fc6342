#include "account/wire/booked_fill.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

BookedFill sample() {
    BookedFill booked;
    booked.account = {TenantId::trusted("acme"), AccountId::trusted("main"), TradeMode::paper};
    booked.fill.trade_id = 7;
    booked.fill.order_client_id = OrderClientId::trusted("habc");
    booked.fill.exchange_order_id = "x1";
    booked.fill.symbol = Symbol::parse("ABCUSDT").value();
    booked.fill.side = Side::sell;
    booked.fill.qty = Decimal::parse("0.5").value();
    booked.fill.price = Decimal::parse("100.25").value();
    booked.fill.fee = Decimal::parse("0.01").value();
    booked.fill.fee_asset = Asset::parse("FEE").value();
    booked.fill.at = {1'700'000'000'123'000};
    return booked;
}

TEST(BookedFill, ReadsWhatItWrote) {
    BookedFill booked = sample();
    EXPECT_EQ(decode_booked_fill(encode(booked)).value(), booked);
    booked.fee_price = Decimal::parse("3.5").value();
    EXPECT_EQ(decode_booked_fill(encode(booked)).value(), booked);
}

TEST(BookedFill, ReadsPastWhatABookingAddsForPeople) {
    Json detail = encode(sample());
    detail.set("realized", "1.5");
    detail.set("fee_quote", "0.1");
    EXPECT_EQ(decode_booked_fill(detail).value(), sample());
}

TEST(BookedFill, RefusesATradeThatNamesNoAccount) {
    EXPECT_FALSE(decode_booked_fill(encode(sample().fill)).has_value());
}

TEST(BookedFill, RefusesWhatIsNoTrade) {
    EXPECT_FALSE(decode_booked_fill(Json("text")).has_value());
    Json detail = encode(sample());
    detail.set("qty", true);
    EXPECT_FALSE(decode_booked_fill(detail).has_value());
}

}  // namespace
}  // namespace interlock
