#include "account/rules/dust.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

Decimal dec(std::string_view text) {
    return Decimal::parse(text).value();
}

MarketFacts a_market() {
    MarketFacts facts;
    facts.best_bid = dec("99");
    facts.best_ask = dec("101");
    facts.rules.step_size = dec("0.001");
    facts.rules.qty_min = dec("0.01");
    facts.rules.notional_min = dec("5");
    return facts;
}

TEST(Dust, IsWhatTheVenueWouldNotTakeForItsWorth) {
    EXPECT_TRUE(is_dust(dec("0.049"), a_market()));
    EXPECT_FALSE(is_dust(dec("0.05"), a_market()));
    EXPECT_TRUE(is_dust(dec("0.0499"), a_market())) << "what is beyond the step cannot be sold";
}

TEST(Dust, IsWhatTheVenueWouldNotTakeForItsQuantity) {
    MarketFacts cheap = a_market();
    cheap.rules.notional_min = {};
    EXPECT_TRUE(is_dust(dec("0.009"), cheap));
    EXPECT_FALSE(is_dust(dec("0.01"), cheap));
    cheap.rules.qty_min = {};
    EXPECT_TRUE(is_dust(dec("0.0009"), cheap));
    EXPECT_FALSE(is_dust(dec("0.001"), cheap));
}

TEST(Dust, IsNothingWorthAnythingUnknown) {
    MarketFacts priceless = a_market();
    priceless.best_bid.reset();
    EXPECT_FALSE(is_dust(dec("0.049"), priceless));
    EXPECT_TRUE(is_dust(dec("0.009"), priceless));
    EXPECT_FALSE(is_dust(Decimal(), a_market())) << "nothing held is no dust";
}

TEST(Negligible, IsUpToOneBasisPointOfTheNetDeposits) {
    EXPECT_TRUE(is_negligible(dec("10"), dec("100000")));
    EXPECT_FALSE(is_negligible(dec("10.000000000000000001"), dec("100000")));
    EXPECT_FALSE(is_negligible(Decimal(), dec("100000"))) << "what was free may be worth anything";
    EXPECT_FALSE(is_negligible(dec("0.000000000000000001"), Decimal())) << "nothing was deposited";
    EXPECT_FALSE(is_negligible(dec("1"), dec("-1")));
}

}  // namespace
}  // namespace interlock
