#include "bots/rules/bot_record.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

Symbol symbol(std::string_view text) {
    return Symbol::parse(text).value();
}

BotRecord full_record() {
    BotRecord record;
    record.state = BotState::running;
    record.exchange = "paper";
    record.is_connected = false;
    record.cancel_on_stop = true;
    record.stall = {
        .is_stalled = true,
        .cause = StallCause::session,
        .failures = 3,
        .good_pulses = 1,
        .next_try_at = Timestamp{1'700'000'000'000'000}};
    record.config = default_bot_config({{symbol("BTCUSDT"), Decimal(1)}});
    record.approved = default_bot_config({{symbol("ETHUSDT"), Decimal(2)}});
    record.config.stop_buy[symbol("BTCUSDT")] = {.is_off = false, .price = Decimal(70'000)};
    record.config.stop_sell[symbol("BTCUSDT")] = {.is_off = true, .price = std::nullopt};
    record.config_version = 7;
    record.markets = {symbol("BTCUSDT")};
    record.trouble = "key_rejected: it can withdraw";
    record.changed_at = Timestamp{1'700'000'000'000'000};
    record.changed_by = "human:hum_1";
    return record;
}

TEST(BotRecord, ComesBackAsItWasStored) {
    const Json json = *parse_json(to_text(encode(full_record())));
    EXPECT_EQ(*decode_bot_record(json), full_record());
}

TEST(BotRecord, RowsOfOlderServersHaveNoCauseOfAStall) {
    Json json = encode(full_record());
    Json stall = Json::object();
    for (const auto& [name, value] : json.find("stall")->members()) {
        if (name != "cause") {
            stall.set(name, value);
        }
    }
    json.set("stall", std::move(stall));
    const auto old = decode_bot_record(json);
    ASSERT_TRUE(old);
    EXPECT_TRUE(old->stall.is_stalled);
    EXPECT_EQ(old->stall.cause, StallCause::exchange);
}

TEST(BotRecord, RefusesAStateThatDoesNotExist) {
    Json json = encode(full_record());
    json.set("state", "asleep");
    EXPECT_FALSE(decode_bot_record(json));
}

TEST(BotRecord, NamesItsStrategiesAsNobodyElseCan) {
    EXPECT_EQ(bot_strategy_id(symbol("BTCUSDT")).text(), "bot.btcusdt");
    EXPECT_TRUE(is_kept_strategy(bot_strategy_id(symbol("BTCUSDT"))));
    EXPECT_FALSE(is_kept_strategy(StrategyId::trusted("str_01")));
}

TEST(BotRecord, TellsAMarketItsOwnStops) {
    const Json config = rails_config_of(full_record().config, symbol("BTCUSDT"));
    EXPECT_EQ(*config.find("stop_buy"), Json("70000"));
    EXPECT_EQ(*config.find("stop_sell"), Json(true));
}

MarketSet priced(const std::vector<std::string>& names) {
    MarketSet set;
    for (const std::string& name : names) {
        MarketFacts& facts = set.markets.emplace_back();
        facts.symbol = symbol(name);
        facts.best_bid = Decimal(99);
        facts.best_ask = Decimal(101);
        facts.rules.notional_min = Decimal(5);
    }
    return set;
}

TEST(BotRecord, NamesTheMarketsThatCanQuoteNothing) {
    BotConfig config = default_bot_config(
        {{symbol("BTCUSDT"), Decimal(1)}, {symbol("ETHUSDT"), Decimal::parse("0.1").value()}});
    const MarketSet market = priced({"BTCUSDT", "ETHUSDT"});
    const auto one = too_small_amounts(config, market);
    ASSERT_EQ(one.size(), 1U);
    EXPECT_NE(one.front().find("ETHUSDT"), std::string::npos);
    EXPECT_EQ(why_too_small(one, config), std::nullopt);

    config.amounts[symbol("BTCUSDT")] = Decimal::parse("0.1").value();
    const auto both = too_small_amounts(config, market);
    EXPECT_EQ(both.size(), 2U);
    EXPECT_EQ(why_too_small(both, config)->code, "below_minimum");

    EXPECT_TRUE(too_small_amounts(config, {}).empty());
    EXPECT_EQ(why_too_small({}, config), std::nullopt);
}

}  // namespace
}  // namespace interlock
