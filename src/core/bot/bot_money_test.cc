#include "core/bot/bot_money.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

Symbol symbol(std::string_view text) {
    return Symbol::parse(text).value();
}
Decimal decimal(std::string_view text) {
    return Decimal::parse(text).value();
}

MarketFacts market_of(std::string_view name, std::string_view bid, std::string_view ask) {
    MarketFacts facts;
    facts.symbol = symbol(name);
    facts.rules.symbol = facts.symbol;
    facts.rules.quote = Asset::parse("USDT").value();
    facts.rules.step_size = decimal("0.00001");
    if (!bid.empty()) {
        facts.best_bid = decimal(bid);
        facts.best_ask = decimal(ask);
    }
    return facts;
}

MarketSet two_markets() {
    return {{market_of("BTCUSDT", "49990", "50010"), market_of("ETHUSDT", "", "")}};
}

BotConfig config_of(std::string_view btc) {
    return default_bot_config({{symbol("BTCUSDT"), decimal(btc)}, {symbol("ETHUSDT"), Decimal(1)}});
}

std::vector<FieldProblem> judge(std::string_view btc, std::string_view equity) {
    const BotConfig before = config_of("0.1");
    const MarketSet market = two_markets();
    return too_large_amounts(
        config_of(btc),
        {.before = before,
         .market = market,
         .equity = decimal(equity),
         .quote = Asset::parse("USDT").value()});
}

TEST(BotMoney, AmountsAreToldAtTheMidWithTheMoment) {
    const Timestamp at{1'794'744'000'000'000};
    EXPECT_EQ(
        to_text(money_of(config_of("0.0123457"), two_markets(), at)),
        R"({"at":"2026-11-15T12:00:00.000Z",)"
        R"("by_symbol":{"BTCUSDT":{"value":"617.28","asset":"USDT"}}})");
    EXPECT_EQ(money_words(config_of("0.02"), two_markets()), "BTCUSDT 1000 USDT");
}

TEST(BotMoney, AnAmountWorthTheWholeAccountPassesAndOneStepMoreDoesNot) {
    EXPECT_TRUE(judge("2", "100000").empty());
    const auto problems = judge("2.00001", "100000");
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].path, "amounts_by_symbol.BTCUSDT");
    EXPECT_EQ(
        problems[0].problem,
        "is worth more than the whole account (100000 USDT); the largest that passes now is 2");
    // What it names passes.
    EXPECT_TRUE(judge("1.99999", "99999.99").empty());
    EXPECT_NE(judge("3", "99999.99")[0].problem.find("now is 1.99999"), std::string::npos);
}

TEST(BotMoney, AnAmountTooLargeToBeWrittenInMoneyIsTooLarge) {
    EXPECT_EQ(judge("1000000000000", "100000").size(), 1u);
    EXPECT_EQ(judge("100000000000000000000", "100000").size(), 1u);
}

TEST(BotMoney, WhatIsInEffectStaysThoughTheAccountHasShrunk) {
    EXPECT_TRUE(judge("0.1", "1").empty());
    EXPECT_EQ(judge("0.2", "1").size(), 1u);
}

TEST(BotMoney, AnAmountOfAMarketWithoutAPriceIsNotWavedThrough) {
    const BotConfig before = config_of("0.1");
    BotConfig next = before;
    next.amounts[symbol("ETHUSDT")] = Decimal(2);
    const MarketSet market = two_markets();
    EXPECT_EQ(
        too_large_amounts(
            next,
            {.before = before,
             .market = market,
             .equity = Decimal(100'000),
             .quote = Asset::parse("USDT").value()})
            .size(),
        1u);
}

}  // namespace
}  // namespace interlock
