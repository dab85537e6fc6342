#include "bin/bot_command.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

TEST(BotCommand, TellsTheStateAndWhatTroublesTheBot) {
    const Json status = *parse_json(
        R"({"bot_state":"running","bot_attached":true,"stalled":true,"connected":true,
            "hydration":{"step":"candles","done":4,"total":6},"last_pulse_at":null,"pulses":7,
            "pulses_late":1,"config_version":3,"trouble":"key_rejected: no"})");
    const std::string text = describe_bot_status(status);
    EXPECT_NE(text.find("running"), std::string::npos);
    EXPECT_NE(text.find("candles"), std::string::npos);
    EXPECT_NE(text.find("7 (1 late)"), std::string::npos);
    EXPECT_NE(text.find("key_rejected: no"), std::string::npos);
}

TEST(BotCommand, SaysWhyARunningBotDoesNotTrade) {
    const std::string text = describe_bot_status(*parse_json(
        R"({"bot_state":"running","trading":false,"warnings":["ETHUSDT: too small"],
            "blocked":{"code":"disabled","reason":"Trading is off.","next":"Enable it."}})"));
    EXPECT_NE(text.find("disabled: Trading is off."), std::string::npos) << text;
    EXPECT_NE(text.find("Enable it."), std::string::npos) << text;
    EXPECT_NE(text.find("ETHUSDT: too small"), std::string::npos) << text;
}

TEST(BotCommand, SaysWhenNothingIsHeld) {
    EXPECT_EQ(
        describe_bot_positions(*parse_json(R"({"positions":[]})")),
        "Nothing is held and nothing is open.\n");
}

TEST(BotCommand, CountsTheOpenOrdersOfAPosition) {
    const Json positions = *parse_json(
        R"({"positions":[{"symbol":"BTCUSDT","quantity":"0.5","average_price":"60000",
            "realized":"12","open_orders":[{},{}]}]})");
    const std::string text = describe_bot_positions(positions);
    EXPECT_NE(text.find("BTCUSDT"), std::string::npos);
    EXPECT_EQ(text.substr(text.size() - 2), "2\n");
}

TEST(BotCommand, ShowsWhenBalancesWereFetched) {
    const Json balances = *parse_json(
        R"({"balances":{"USDT":{"free":"10","locked":"2"}},"fetched_at":"2026-01-01T00:00:00Z"})");
    const std::string text = describe_bot_balances(balances);
    EXPECT_NE(text.find("USDT"), std::string::npos);
    EXPECT_NE(text.find("as of 2026-01-01T00:00:00Z"), std::string::npos);
}

}  // namespace
}  // namespace interlock
