#include "app/command/bot_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "app/command/bot_words.h"
#include "app/command/table_call.h"
#include "base/errors.h"

namespace interlock {
namespace {

// Secrets are asked for, and an agent's words about itself are nobody's to type.
const std::set<std::string> kNoOption{
    "idempotency_key", "api_key", "api_secret", "api_password", "password", "agent_metadata"};
// Where a field is the word's own argument.
const std::set<std::string> kArgument{"email"};

bool has_option(const CLI::App& command, const std::string& name) {
    const auto options =
        command.get_options([&](const CLI::Option* option) { return option->check_name(name); });
    return !options.empty();
}

TEST(BotCommand, HasAWordForEveryEndpoint) {
    CommandLine line;
    add_bot_command(line);
    const CLI::App* const bot = line.app.get_subcommand("bot");
    std::set<std::string> words;
    for (const BotEndpoint& endpoint : bot_endpoints()) {
        const std::string word = bot_word(endpoint);
        EXPECT_TRUE(words.insert(word).second) << word;
        const CLI::App* command = nullptr;
        ASSERT_NO_THROW(command = bot->get_subcommand(word)) << word;
        EXPECT_EQ(command->get_description(), endpoint.description);
        EXPECT_EQ(has_option(*command, "--tenant"), !endpoint.platform_level) << word;
        EXPECT_EQ(has_option(*command, "--email"), is_human_word(endpoint)) << word;
        for (const BotField& field : endpoint.parameters) {
            EXPECT_TRUE(has_option(*command, "--" + std::string(field.name))) << word;
        }
        const Json schema = request_schema_of(endpoint);
        const Json* const properties = schema.is_object() ? schema.find("properties") : nullptr;
        for (const auto& [name, about] :
             properties == nullptr ? Json::Object{} : properties->members()) {
            std::string flag = "--" + name;
            for (char& c : flag) {
                c = c == '_' ? '-' : static_cast<char>(std::tolower(c));
            }
            EXPECT_TRUE(
                kNoOption.contains(name) || kArgument.contains(name) || has_option(*command, flag))
                << word << " " << flag;
        }
    }
    EXPECT_EQ(words.size(), 28u);
}

TEST(BotCommand, KeepsTheWordsThatWereThereBefore) {
    CommandLine line;
    add_bot_command(line);
    const CLI::App* const bot = line.app.get_subcommand("bot");
    for (const char* word :
         {"status",
          "config",
          "positions",
          "balances",
          "logs",
          "initialize",
          "start",
          "stop",
          "restart",
          "keys",
          "plan",
          "signup"}) {
        EXPECT_NO_THROW(bot->get_subcommand(word)) << word;
    }
    EXPECT_TRUE(has_option(*bot->get_subcommand("stop"), "--cancel-orders"));
    EXPECT_TRUE(has_option(*bot->get_subcommand("logs"), "--lines"));
    EXPECT_TRUE(has_option(*bot->get_subcommand("keys"), "--keys-stdin"));
}

const CallField& field_of_bot(std::string_view id, std::string_view field) {
    return *find_table_call(id)->find(field);
}

TEST(BotWords, ReadsWhatWasTypedAsTheFieldWantsIt) {
    const auto typed = [](const char* id, const char* field, const char* text) {
        return to_text(*typed_value(field_of_bot(id, field), {text}));
    };
    EXPECT_EQ(
        typed("update_all_symbols", "symbols", "BTCUSDT, ETHUSDT"), R"(["BTCUSDT","ETHUSDT"])");
    EXPECT_EQ(
        typed("update_all_symbols", "amounts_by_symbol", "BTCUSDT=0.10,ETHUSDT=2"),
        R"({"BTCUSDT":"0.10","ETHUSDT":"2"})");
    EXPECT_EQ(
        typed("update_bot_settings", "stop_buy", "BTCUSDT=true,ETHUSDT=2000"),
        R"({"BTCUSDT":true,"ETHUSDT":"2000"})");
    EXPECT_EQ(typed("update_bot_settings", "num_bids_ask", "4"), "4");
    EXPECT_EQ(
        field_of_bot("update_bot_settings", "BBANDS_TIGHT_QUANTILE").flag(),
        "--bbands-tight-quantile");
}

TEST(BotWords, RefusesWhatTheFieldCannotBe) {
    const auto refused = [](const char* field, const char* text) {
        return typed_value(field_of_bot("update_bot_settings", field), {text}).error();
    };
    EXPECT_EQ(refused("stop_buy", "BTCUSDT"), errors::invalid_request);
    EXPECT_EQ(refused("num_bids_ask", "four"), errors::invalid_request);
}

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
