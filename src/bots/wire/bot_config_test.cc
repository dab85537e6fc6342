#include "bots/wire/bot_config.h"

#include <gtest/gtest.h>

#include "base/errors.h"

namespace interlock {
namespace {

Symbol symbol(std::string_view text) {
    return Symbol::parse(text).value();
}

Decimal decimal(std::string_view text) {
    return Decimal::parse(text).value();
}

BotConfig two_pairs() {
    return default_bot_config(
        {{symbol("BTCUSDT"), decimal("0.1")}, {symbol("ETHUSDT"), decimal("2")}});
}

Json parsed(std::string_view text) {
    return parse_json(text).value();
}

TEST(BotConfig, TheDefaultIsValidAndComesBackAsItWas) {
    const BotConfig config = two_pairs();
    const auto again = decode_bot_config(encode(config));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, config);
}

TEST(BotConfig, IsToldWithTheDocumentsNamesAndNumbers) {
    EXPECT_EQ(
        to_text(describe(two_pairs())),
        R"({"symbols":["BTCUSDT","ETHUSDT"],"pnl_perc":1,)"
        R"("amounts_by_symbol":{"BTCUSDT":0.1,"ETHUSDT":2},"stop_buy":{},"stop_sell":{},)"
        R"("BBANDS_TIGHT_QUANTILE":0.2,"volatility":1,"timeframe":"1h","num_bids_ask":3})");
}

TEST(BotConfig, APnlOutsideItsRangeIsRefused) {
    for (const char* value : {"0.0999", "20.0001", "-1", "0"}) {
        const auto next = apply_update(two_pairs(), UpdatePnl{decimal(value)});
        ASSERT_FALSE(next) << value;
        EXPECT_EQ(next.error().problems.at(0).path, "pnl_perc");
    }
    for (const char* value : {"0.1", "20"}) {
        EXPECT_TRUE(apply_update(two_pairs(), UpdatePnl{decimal(value)})) << value;
    }
}

TEST(BotConfig, ReplacingAPairKeepsItsPlaceAndDropsItsStops) {
    BotConfig config = two_pairs();
    config.stop_buy[symbol("BTCUSDT")] = {.is_off = true, .price = std::nullopt};
    const auto next =
        apply_update(config, UpdateSymbol{symbol("BTCUSDT"), symbol("SOLUSDT"), decimal("30")});
    ASSERT_TRUE(next);
    EXPECT_EQ(next->symbols, (std::vector<Symbol>{symbol("SOLUSDT"), symbol("ETHUSDT")}));
    EXPECT_EQ(next->amounts.at(symbol("SOLUSDT")), decimal("30"));
    EXPECT_TRUE(next->stop_buy.empty());
}

TEST(BotConfig, APairThatIsNotTradedCannotBeReplaced) {
    EXPECT_FALSE(apply_update(
        two_pairs(), UpdateSymbol{symbol("SOLUSDT"), symbol("XRPUSDT"), decimal("1")}));
}

TEST(BotConfig, APairIsNotTradedTwice) {
    EXPECT_FALSE(apply_update(
        two_pairs(), UpdateSymbol{symbol("BTCUSDT"), symbol("ETHUSDT"), decimal("1")}));
}

TEST(BotConfig, NineSymbolsAreTheLimit) {
    UpdateAllSymbols update;
    for (int i = 0; i < 9; ++i) {
        const Symbol one = symbol("A" + std::to_string(i) + "USDT");
        update.symbols.push_back(one);
        update.amounts[one] = Decimal(1);
    }
    EXPECT_TRUE(apply_update(two_pairs(), update));
    update.symbols.push_back(symbol("TENUSDT"));
    update.amounts[symbol("TENUSDT")] = Decimal(1);
    EXPECT_FALSE(apply_update(two_pairs(), update));
}

TEST(BotConfig, AmountsMustMatchTheSymbols) {
    UpdateAllSymbols update{{symbol("BTCUSDT")}, {}};
    EXPECT_FALSE(apply_update(two_pairs(), update));
    update.amounts = {{symbol("BTCUSDT"), Decimal()}};
    EXPECT_FALSE(apply_update(two_pairs(), update));
    update.amounts = {{symbol("BTCUSDT"), Decimal(1)}, {symbol("ETHUSDT"), Decimal(1)}};
    EXPECT_FALSE(apply_update(two_pairs(), update));
}

TEST(BotConfig, SettingsChangeOnlyWhatIsGiven) {
    const auto update = decode_update_bot_settings(
        parsed(R"({"stop_sell":{"BTCUSDT":50000},"num_bids_ask":5,"volatility":null})"));
    ASSERT_TRUE(update) << update.error().message;
    const BotConfig before = two_pairs();
    const auto next = apply_update(before, *update);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->levels, 5);
    EXPECT_EQ(next->stop_sell.at(symbol("BTCUSDT")).price, decimal("50000"));
    EXPECT_EQ(next->volatility, before.volatility);
    EXPECT_EQ(next->timeframe, before.timeframe);
}

TEST(BotConfig, AStopIsAPriceOrTheWholeSideAndFalseClearsIt) {
    BotConfig config = two_pairs();
    const auto set =
        decode_update_bot_settings(parsed(R"({"stop_buy":{"BTCUSDT":true,"ETHUSDT":"2500.5"}})"));
    ASSERT_TRUE(set);
    config = apply_update(config, *set).value();
    EXPECT_TRUE(config.stop_buy.at(symbol("BTCUSDT")).is_off);
    EXPECT_EQ(config.stop_buy.at(symbol("ETHUSDT")).price, decimal("2500.5"));
    const auto clear =
        decode_update_bot_settings(parsed(R"({"stop_buy":{"BTCUSDT":false,"ETHUSDT":null}})"));
    ASSERT_TRUE(clear);
    EXPECT_TRUE(apply_update(config, *clear)->stop_buy.empty());
}

TEST(BotConfig, AStopOfAPairThatIsNotTradedIsRefused) {
    const auto update = decode_update_bot_settings(parsed(R"({"stop_buy":{"SOLUSDT":true}})"));
    ASSERT_TRUE(update);
    EXPECT_FALSE(apply_update(two_pairs(), *update));
}

TEST(BotConfig, UnknownFieldsAreRefusedByName) {
    const auto update = decode_update_pnl(parsed(R"({"pnl_perc":1,"pnl_prec":2})"));
    ASSERT_FALSE(update);
    EXPECT_EQ(update.error().problems.at(0).path, "pnl_prec");
}

TEST(BotConfig, SettingsOutsideTheirRangesAreRefused) {
    for (const char* text :
         {R"({"BBANDS_TIGHT_QUANTILE":0})",
          R"({"BBANDS_TIGHT_QUANTILE":1})",
          R"({"volatility":10.1})",
          R"({"volatility":-0.1})",
          R"({"timeframe":"7m"})",
          R"({"num_bids_ask":0})",
          R"({"num_bids_ask":21})"}) {
        const auto update = decode_update_bot_settings(parsed(text));
        ASSERT_TRUE(update) << text;
        EXPECT_FALSE(apply_update(two_pairs(), *update)) << text;
    }
}

TEST(BotConfig, EveryProblemIsToldAtOnce) {
    const auto update = decode_update_bot_settings(
        parsed(R"({"BBANDS_TIGHT_QUANTILE":1,"volatility":11,"timeframe":"7m","num_bids_ask":0,)"
               R"("stop_buy":{"SOLUSDT":true},"stop_sell":{"XRPUSDT":1}})"));
    ASSERT_TRUE(update);
    const auto next = apply_update(two_pairs(), *update);
    ASSERT_FALSE(next);
    std::vector<std::string> paths;
    for (const FieldProblem& problem : next.error().problems) {
        paths.push_back(problem.path);
    }
    EXPECT_EQ(
        paths,
        (std::vector<std::string>{
            "BBANDS_TIGHT_QUANTILE",
            "volatility",
            "timeframe",
            "num_bids_ask",
            "stop_buy",
            "stop_sell"}));
    EXPECT_EQ(
        next.error().message,
        "BBANDS_TIGHT_QUANTILE must be above 0 and below 1; and 5 more in problems.");
    // Stored ones are told whole as well.
    Json stored = encode(two_pairs());
    stored.set("volatility", Json::number("11"));
    stored.set("num_bids_ask", 21);
    EXPECT_EQ(decode_bot_config(stored).error().problems.size(), 2u);
}

TEST(BotConfig, TheDifferenceNamesOldAndNew) {
    const BotConfig before = two_pairs();
    const BotConfig after = apply_update(before, UpdatePnl{decimal("2.5")}).value();
    EXPECT_EQ(to_text(difference(before, after)), R"({"pnl_perc":{"from":1,"to":2.5}})");
    EXPECT_EQ(to_text(difference(before, before)), "{}");
}

}  // namespace
}  // namespace interlock
