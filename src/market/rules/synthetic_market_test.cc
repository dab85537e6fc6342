// The synthetic market is a market at every step, and the same one for the same seed.
#include "market/rules/synthetic_market.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

namespace interlock {
namespace {

constexpr std::int64_t kNoonStep = 7'178'976'000;  // 2026-11-15T12:00:00Z.

MarketView view_of(const SyntheticMarket& market, std::size_t index, std::int64_t step) {
    MarketView view;
    market.view_at(index, step, view);
    return view;
}

TEST(SyntheticMarket, HasNineSymbolsInOrder) {
    const SyntheticMarket market;
    ASSERT_EQ(market.markets().size(), 9u);
    EXPECT_TRUE(std::is_sorted(
        market.markets().begin(),
        market.markets().end(),
        [](const MarketRules& a, const MarketRules& b) { return a.symbol < b.symbol; }));
    EXPECT_EQ(market.markets()[3].symbol.text(), "BTCUSDT");
}

TEST(SyntheticMarket, EveryViewIsASoundBook) {
    EXPECT_TRUE(rc::check([](std::uint64_t seed, std::uint32_t ahead, std::uint8_t which) {
        const SyntheticMarket market({.seed = seed, .symbols = {}});
        const std::size_t index = which % 9;
        const std::int64_t step = kNoonStep + ahead;
        const MarketView view = view_of(market, index, step);
        RC_ASSERT(view.at == time_of_step(step));
        RC_ASSERT(!view.bids.empty() && view.asks.size() == kMarketLevelsMax);
        RC_ASSERT(view.bids.front().price < view.asks.front().price);
        for (std::size_t i = 0; i < view.bids.size(); ++i) {
            RC_ASSERT(view.bids[i].price.count > 0 && view.bids[i].quantity.count > 0);
            // In parentheses: the macro takes an expression apart, and || with it.
            RC_ASSERT((i == 0 || view.bids[i].price < view.bids[i - 1].price));
        }
        for (std::size_t i = 0; i < view.asks.size(); ++i) {
            RC_ASSERT(view.asks[i].quantity.count > 0 && view.asks[i].quantity <= kBookLotsMax);
            RC_ASSERT((i == 0 || view.asks[i].price > view.asks[i - 1].price));
        }
        RC_ASSERT(view.trades.size() <= kMarketTradesMax);
        for (const MarketTrade& trade : view.trades) {
            const bool buys = trade.taker == BookSide::buy;
            RC_ASSERT(trade.price == (buys ? view.asks : view.bids).front().price);
            RC_ASSERT(trade.quantity.count > 0);
        }
        const MarketTouch touch = market.touch_at(index, step);
        RC_ASSERT(touch.bid == view.bids.front().price && touch.ask == view.asks.front().price);
        RC_ASSERT(touch.halted == view.halted);
    }));
}

TEST(SyntheticMarket, TheSameSeedIsTheSameMarket) {
    const SyntheticMarket one({.seed = 9, .symbols = {}});
    const SyntheticMarket other({.seed = 9, .symbols = {}});
    for (std::int64_t step = kNoonStep; step < kNoonStep + 200; ++step) {
        ASSERT_EQ(view_of(one, 3, step), view_of(other, 3, step));
    }
}

TEST(SyntheticMarket, AnotherSeedAndAnotherSymbolMoveDifferently) {
    const SyntheticMarket one({.seed = 9, .symbols = {}});
    const SyntheticMarket other({.seed = 10, .symbols = {}});
    EXPECT_NE(view_of(one, 3, kNoonStep), view_of(other, 3, kNoonStep));
    SyntheticSymbol twin = default_symbols()[0];
    twin.base = "BTD";
    const SyntheticMarket twins({.seed = 9, .symbols = {default_symbols()[0], twin}});
    EXPECT_NE(view_of(twins, 0, kNoonStep), view_of(twins, 1, kNoonStep));
}

TEST(SyntheticMarket, SpreadsStayWithinWhatGatesAllow) {
    const SyntheticMarket market;
    for (std::size_t index = 0; index < market.markets().size(); ++index) {
        for (std::int64_t step = kNoonStep; step < kNoonStep + 400'000; step += 97) {
            const MarketTouch touch = market.touch_at(index, step);
            const std::int64_t bps_x10 =
                (touch.ask.count - touch.bid.count) * 200'000 / (touch.ask.count + touch.bid.count);
            ASSERT_LT(bps_x10, 200) << market.markets()[index].symbol.text() << " at " << step;
        }
    }
}

TEST(SyntheticMarket, PricesMoveWithinAnHourAndStayNearTheirAnchorOverYears) {
    const SyntheticMarket market;
    std::int64_t lowest = INT64_MAX;
    std::int64_t highest = 0;
    for (std::int64_t step = kNoonStep; step < kNoonStep + 14'400; ++step) {
        const std::int64_t bid = market.touch_at(3, step).bid.count;
        lowest = std::min(lowest, bid);
        highest = std::max(highest, bid);
    }
    EXPECT_GT(highest - lowest, lowest / 2000);
    EXPECT_LT(highest - lowest, lowest / 10);
    for (std::int64_t day = 0; day < 1000; ++day) {
        const std::int64_t bid = market.touch_at(3, kNoonStep + day * 345'600).bid.count;
        ASSERT_GT(bid, 3'000'000);
        ASSERT_LT(bid, 12'000'000);
    }
}

TEST(SyntheticMarket, SomeSymbolsHaltForMinutesAndTradeNothingMeanwhile) {
    const SyntheticMarket market;
    std::int64_t halted = 0;
    constexpr std::int64_t kChecks = 200'000;
    for (std::int64_t i = 0; i < kChecks; ++i) {
        const std::int64_t step = kNoonStep + i * 100;
        const MarketTouch touch = market.touch_at(4, step);  // DOGEUSDT.
        if (touch.halted) {
            ++halted;
            ASSERT_TRUE(view_of(market, 4, step).trades.empty());
        }
    }
    EXPECT_GT(halted, 0);
    EXPECT_LT(halted, kChecks / 1000);
}

}  // namespace
}  // namespace interlock
