#include "bots/rules/bot_money.h"

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
        R"("by_symbol":{"BTCUSDT":{"value":"617.28","asset":"USDT"}},)"
        R"("total":{"value":"617.28","asset":"USDT"}})");
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

struct Amounts {
    std::string_view btc;
    std::string_view eth;
    std::string_view sol;
};

BotConfig three(const Amounts& amounts) {
    return default_bot_config(
        {{symbol("BTCUSDT"), decimal(amounts.btc)},
         {symbol("ETHUSDT"), decimal(amounts.eth)},
         {symbol("SOLUSDT"), decimal(amounts.sol)}});
}

MarketSet three_markets() {
    return {
        {market_of("BTCUSDT", "49990", "50010"),
         market_of("ETHUSDT", "1999", "2001"),
         market_of("SOLUSDT", "99", "101")}};
}

// On an account of 100,000 USDT that had almost nothing before.
std::vector<FieldProblem> judge_three(
    const Amounts& amounts, const Amounts& before = {"0.001", "0.01", "0.1"}) {
    const BotConfig was = three(before);
    const MarketSet market = three_markets();
    return too_large_amounts(
        three(amounts),
        {.before = was,
         .market = market,
         .equity = Decimal(100'000),
         .quote = Asset::parse("USDT").value()});
}

TEST(BotMoney, TheSumWorthTheWholeAccountPassesAndOneStepMoreDoesNot) {
    EXPECT_TRUE(judge_three({"1", "20", "100"}).empty());  // 50,000 + 40,000 + 10,000.
    const auto problems = judge_three({"1.00001", "20", "100"});
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].path, "amounts_by_symbol");
    EXPECT_EQ(
        problems[0].problem,
        "are worth 100000.5 USDT together, more than the whole account (100000 USDT); 0.9999 times "
        "each of them fits now");
    EXPECT_TRUE(judge_three({"0.999909999", "19.998", "99.99"}).empty());
    // Each passes alone.
    const auto whole = judge_three({"1.9", "48", "900"});
    ASSERT_EQ(whole.size(), 1u);
    EXPECT_TRUE(whole[0].problem.starts_with("are worth 281000 USDT together"));
    EXPECT_NE(whole[0].problem.find("; 0.3558 times"), std::string::npos) << whole[0].problem;
}

TEST(BotMoney, TheLargestOfOneAmountIsWhatTheOthersLeave) {
    const auto problems = judge_three({"3", "20", "100"});
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].path, "amounts_by_symbol.BTCUSDT");
    EXPECT_TRUE(problems[0].problem.ends_with("now is 1")) << problems[0].problem;
    EXPECT_TRUE(judge_three({"1", "20", "100"}).empty());
    // Two that are too large are told apart, and together.
    EXPECT_EQ(judge_three({"3", "60", "100"}).size(), 3u);
}

// An owner who takes less may always do so.
TEST(BotMoney, ASumThatDoesNotGrowMayStayThoughTheAccountHasShrunk) {
    EXPECT_TRUE(judge_three({"1.5", "40", "100"}, {"1.6", "40", "100"}).empty());
    EXPECT_EQ(judge_three({"1.6", "40", "100"}, {"1.5", "40", "100"}).size(), 1u);
}

TEST(BotMoney, TheTotalIsToldWithTheAmounts) {
    EXPECT_EQ(
        money_words(three({"1", "20", "100"}), three_markets()),
        "BTCUSDT 50000 USDT, ETHUSDT 40000 USDT, SOLUSDT 10000 USDT; 100000 USDT in all");
    const Json money = money_of(three({"1", "20", "100"}), three_markets(), {});
    EXPECT_EQ(to_text(*money.find("total")), R"({"value":"100000","asset":"USDT"})");
    EXPECT_TRUE(money_of(three({"1", "20", "100"}), {}, {}).find("total")->is_null());
    MarketSet other = three_markets();
    other.markets.back().rules.quote = Asset::parse("EUR").value();
    EXPECT_TRUE(money_of(three({"1", "20", "100"}), other, {}).find("total")->is_null());
    EXPECT_EQ(money_words(three({"1", "20", "100"}), other).find("in all"), std::string::npos);
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
