#include "market/wire/market_facts.h"

#include <gtest/gtest.h>

#include "loop/wire/test_facts.h"

namespace interlock {
namespace {

MarketFacts market(std::string_view bid, std::string_view ask) {
    MarketFacts facts;
    facts.symbol = *Symbol::parse("BTCUSDT");
    facts.best_bid = *Decimal::parse(bid);
    facts.best_ask = *Decimal::parse(ask);
    return facts;
}

TEST(MarketFacts, AreHaltedByStatusEmptySideOrCrossing) {
    EXPECT_FALSE(is_halted(market("100", "101")));
    EXPECT_TRUE(is_halted(market("101", "101")));
    EXPECT_TRUE(is_halted(market("102", "101")));
    EXPECT_TRUE(is_halted(market("0", "101")));
    MarketFacts stopped = market("100", "101");
    stopped.status_halted = true;
    EXPECT_TRUE(is_halted(stopped));
    MarketFacts one_sided = market("100", "101");
    one_sided.best_ask.reset();
    EXPECT_TRUE(is_halted(one_sided));
    EXPECT_TRUE(is_halted(MarketFacts{}));
}

TEST(MarketFacts, HaveTheMidBetweenTheTouches) {
    EXPECT_EQ(to_text(*mid_of(market("100", "101"))), "100.5");
    EXPECT_FALSE(mid_of(MarketFacts{}).has_value());
    EXPECT_FALSE(mid_of(market("-1", "101")).has_value());
}

// One unit of the last decimal between the touches: ties go to the even unit.
TEST(MarketFacts, RoundTheMidHalfToEven) {
    const auto mid = [](__int128 bid, __int128 ask) {
        MarketFacts facts;
        facts.best_bid = Decimal::from_units(bid);
        facts.best_ask = Decimal::from_units(ask);
        return mid_of(facts)->units();
    };
    EXPECT_TRUE(mid(1, 2) == 2);
    EXPECT_TRUE(mid(2, 3) == 2);
    EXPECT_TRUE(mid(3, 4) == 4);
    EXPECT_TRUE(mid(3, 5) == 4);
    constexpr __int128 kMax = ~(static_cast<__int128>(1) << 127);
    EXPECT_TRUE(mid(kMax, kMax) == kMax);
}

TEST(MarketFacts, HaveTheSpreadInBasisPointsRoundedUp) {
    EXPECT_EQ(to_text(*spread_bps_of(market("99.5", "100.5"))), "100");
    EXPECT_EQ(to_text(*spread_bps_of(market("1", "2"))), "6666.666666666666666667");
    EXPECT_FALSE(spread_bps_of(MarketFacts{}).has_value());
}

TEST(MarketFacts, HaveNoSpreadThatADecimalCannotHold) {
    EXPECT_FALSE(spread_bps_of(market("0.000000000000000001", "170000000000000000000")));
}

TEST(MarketFacts, AreAsOldAsTheOlderOfTheirClocks) {
    MarketFacts facts;
    facts.exchange_at = {1'000'000};
    facts.received_at = {3'000'000};
    EXPECT_EQ(to_text(staleness_seconds_of(facts, {3'500'001})), "2.500001");
    EXPECT_EQ(to_text(staleness_seconds_of(facts, {500'000})), "0");
    facts.received_at = {500'000};
    EXPECT_EQ(to_text(staleness_seconds_of(facts, {3'500'000})), "3");
}

TEST(MarketSet, ComesBackFromItsJsonUnchanged) {
    EXPECT_TRUE(rc::check([] {
        const auto count = *rc::gen::inRange<std::size_t>(0, 4);
        const MarketSet set = draw_markets(count, gen_amount(1'000'000'000'000));
        const auto json = parse_json(to_text(encode(set)));
        RC_ASSERT(json.has_value());
        const auto read = decode_market_set(*json);
        RC_ASSERT(read.has_value());
        RC_ASSERT(*read == set);
    }));
}

TEST(MarketSet, FindsAMarketAndMissesAnother) {
    MarketSet set;
    set.markets = {market("1", "2")};
    EXPECT_EQ(set.find(*Symbol::parse("BTCUSDT")), &set.markets[0]);
    EXPECT_EQ(set.find(*Symbol::parse("ETHUSDT")), nullptr);
}

MarketSet two_markets() {
    MarketSet set;
    for (const char* symbol : {"AAA", "BBB"}) {
        MarketFacts facts = market("1", "2");
        facts.symbol = *Symbol::parse(symbol);
        facts.rules.symbol = facts.symbol;
        facts.rules.base = *Asset::parse("A");
        facts.rules.quote = *Asset::parse("B");
        set.markets.push_back(facts);
    }
    return set;
}

TEST(MarketSet, RefusesMarketsThatDoNotAscend) {
    MarketSet set = two_markets();
    ASSERT_TRUE(decode_market_set(encode(set)).has_value());
    std::swap(set.markets[0], set.markets[1]);
    EXPECT_FALSE(decode_market_set(encode(set)).has_value());
}

TEST(MarketSet, RefusesAMarketTooMany) {
    MarketSet set = two_markets();
    set.markets.assign(kMarketsMax + 1, set.markets[0]);
    const auto read = decode_market_set(encode(set));
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().problems.at(0).path, "markets");
}

TEST(MarketSet, ReadsDepthBestFirstOnly) {
    MarketSet set = two_markets();
    const auto reads = [&] { return decode_market_set(encode(set)).has_value(); };
    std::vector<DepthLevel>& asks = set.markets[0].asks;
    std::vector<DepthLevel>& bids = set.markets[0].bids;
    asks = {{Decimal(2), Decimal(1)}, {Decimal(3), Decimal(1)}};
    bids = {{Decimal(2), Decimal(1)}, {Decimal(1), Decimal(1)}};
    EXPECT_EQ(*decode_market_set(encode(set)), set);
    std::swap(asks[0], asks[1]);
    EXPECT_FALSE(reads());
    std::swap(asks[0], asks[1]);
    std::swap(bids[0], bids[1]);
    EXPECT_FALSE(reads());
    bids = {{Decimal(2), Decimal(0)}};
    EXPECT_FALSE(reads());
    bids.clear();
    while (asks.size() <= kDepthLevelsMax) {
        asks.push_back({*add(asks.back().price, Decimal(1)), Decimal(1)});
    }
    EXPECT_FALSE(reads());
    asks.pop_back();
    EXPECT_TRUE(reads());
}

TEST(MarketRules, RefuseANegativeFilter) {
    MarketSet set = two_markets();
    Json json = encode(set.markets[0].rules);
    ASSERT_TRUE(decode_market_rules(json).has_value());
    json.set("step_size", "-1");
    EXPECT_FALSE(decode_market_rules(json).has_value());
}

TEST(MarketRules, RefuseAnUnknownFilter) {
    Json json = encode(two_markets().markets[0].rules);
    json.set("iceberg_parts", 10);
    EXPECT_FALSE(decode_market_rules(json).has_value());
}

}  // namespace
}  // namespace interlock
