// What is shown of a bot that does not trade: the same reason on every display.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "bot_api.h"

namespace interlock {
namespace {

class BotDisplays : public ::testing::Test {
protected:
    BotApi api;
};

// kill-switch.md 2.5: the same code wherever somebody looks, also for what the account alone says.
TEST_F(BotDisplays, EveryDisplayTellsTheSameReason) {
    const BotApi::Owner owner = api.sign_up_in("displays", "running");
    const auto code_in = [&](const std::string& path) {
        const Json body = BotApi::body_of(api.as_human(owner, {"GET", path}));
        const Json* const list = body.find("strategies");
        const Json& one = list == nullptr || path == "/account" ? body : list->items().front();
        const Json* const blocked = one.find("blocked");
        if (blocked == nullptr) {
            return "no word at " + path + ": " + to_text(body);
        }
        return blocked->is_null() ? std::string("trades") : BotApi::word_at(*blocked, "code");
    };
    const auto told = [&] {
        std::set<std::string> codes;
        for (const std::string path :
             {"/status", "/kill", "/account", "/instances", "/instances/bot.btcusdt"}) {
            codes.insert(code_in(path));
        }
        return codes;
    };
    const auto set_trading = [&](bool enabled, std::string key = {}) {
        key = !key.empty() ? key : enabled ? "on" : "off";
        const HttpResponse response = api.as_human(
            owner,
            {"POST",
             "/trading",
             R"({"idempotency_key":")" + key + R"(","enabled":)" + (enabled ? "true}" : "false}")});
        ASSERT_EQ(response.status, 200) << response.body;
    };
    EXPECT_EQ(told(), std::set<std::string>{"trades"});
    // A stall is the bot's and its strategies' own: neither tenant nor account is stopped by it.
    ASSERT_EQ(api.at_tenant(owner, {"POST", "/disconnect-exchange"}).status, 200);
    for (const std::string path : {"/status", "/instances", "/instances/bot.btcusdt"}) {
        EXPECT_EQ(code_in(path), "stalled") << path;
    }
    const Json instance = BotApi::body_of(api.as_human(owner, {"GET", "/instances/bot.btcusdt"}));
    EXPECT_EQ(BotApi::word_at(instance, "status"), "blocked") << to_text(instance);
    EXPECT_EQ(
        BotApi::word_at(*instance.find("report")->find("state")->find("blocked"), "code"),
        "stalled");
    EXPECT_EQ(code_in("/kill"), "trades");
    EXPECT_EQ(code_in("/account"), "trades");
    set_trading(false, "account-off");
    EXPECT_EQ(code_in("/status"), "stalled");
    EXPECT_EQ(code_in("/instances"), "stalled");
    set_trading(true, "account-on");
    ASSERT_EQ(api.at_tenant(owner, {"POST", "/connect-exchange"}).status, 200);
    api.world.pass(Duration::of_seconds(30));
    EXPECT_EQ(told(), std::set<std::string>{"trades"});
    set_trading(false);
    EXPECT_EQ(told(), std::set<std::string>{"account_disabled"});
    const Json restarted = BotApi::body_of(api.at_tenant(owner, {"POST", "/restart"}));
    EXPECT_EQ(BotApi::word_at(*restarted.find("blocked"), "code"), "account_disabled");
    set_trading(true);
    EXPECT_EQ(told(), std::set<std::string>{"trades"});
    ASSERT_EQ(api.at_tenant(owner, {"POST", "/kill", R"({"active":true})"}).status, 200);
    EXPECT_EQ(told(), std::set<std::string>{"stopped"});
}

// kill-switch.md 2.5: a reason of one market is the strategy's; once it holds all of them up, it is
// the bot's. The bot knows by its next pulse.
TEST_F(BotDisplays, AReasonOfAMarketIsToldByItsStrategyAndByTheBotThatHasNoOther) {
    const BotApi::Owner owner = api.sign_up_in("markets", "running");
    std::int64_t calls = 0;
    const auto set_concern = [&](const std::string& symbol, const std::string& status) {
        const HttpResponse response = api.as_human(
            owner,
            {"POST",
             "/concerns/main:" + symbol,
             R"({"idempotency_key":"c)" + std::to_string(++calls) + R"(","status":")" + status +
                 R"("})"});
        ASSERT_EQ(response.status, 200) << response.body;
    };
    const auto code_of = [](const Json& body) {
        const Json* const blocked = body.find("blocked");
        return blocked->is_null() ? std::string("trades") : BotApi::word_at(*blocked, "code");
    };
    const auto status = [&] {
        api.world.pass(Duration::of_seconds(11));
        return BotApi::body_of(api.at_tenant(owner, {"GET", "/status"}));
    };
    const auto instance = [&](const std::string& symbol) {
        return code_of(BotApi::body_of(api.as_human(owner, {"GET", "/instances/bot." + symbol})));
    };
    set_concern("btcusdt", "paused");
    Json told = status();
    EXPECT_EQ(code_of(told), "trades");
    ASSERT_EQ(told.find("warnings")->items().size(), 1U) << to_text(told);
    EXPECT_EQ(told.find("warnings")->items()[0], Json("People hold BTCUSDT up."));
    EXPECT_EQ(instance("btcusdt"), "paused");
    EXPECT_EQ(instance("ethusdt"), "trades");

    for (const std::string symbol : {"ethusdt", "solusdt"}) {
        set_concern(symbol, "informational");
    }
    told = status();
    EXPECT_EQ(code_of(told), "paused");
    EXPECT_EQ(*told.find("trading"), Json(false));
    EXPECT_EQ(told.find("warnings")->items().size(), 3U) << to_text(told);
    EXPECT_EQ(instance("ethusdt"), "informational");

    set_concern("solusdt", "active");
    told = status();
    EXPECT_EQ(code_of(told), "trades") << to_text(told);
    EXPECT_EQ(told.find("warnings")->items().size(), 2U) << to_text(told);
}

// Orders are smaller then, which is nobody's block: it is told beside it, and no longer than it is
// so.
TEST_F(BotDisplays, DegradedExecutionIsAWarningAndNoBlock) {
    const BotApi::Owner owner = api.sign_up_in("slower", "running");
    const auto warnings_at = [&](const std::string& path) {
        const Json body = BotApi::body_of(api.as_human(owner, {"GET", path}));
        EXPECT_TRUE(body.find("blocked")->is_null()) << path << ": " << to_text(body);
        return to_text(*body.find("warnings"));
    };
    const auto told = [&] {
        return std::set<std::string>{
            warnings_at("/status"), warnings_at("/account"), warnings_at("/kill")};
    };
    ASSERT_EQ(told(), std::set<std::string>{"[]"});
    ASSERT_TRUE(api.world.paper().set_faults(
        {{.kind = PaperFaultKind::clock_skew, .delay = Duration::of_seconds(2)}}));
    api.world.pass(Duration::of_seconds(40));
    std::string sentences;
    for (const std::string market : {"BTCUSDT", "ETHUSDT", "SOLUSDT"}) {
        sentences += (sentences.empty() ? "[\"" : ",\"") + ("Execution on " + market) +
                     " is degraded (clock_skew): orders there are smaller until it is good "
                     "again.\"";
    }
    EXPECT_EQ(told(), std::set<std::string>{sentences + "]"});
    const Json status = BotApi::body_of(api.at_tenant(owner, {"GET", "/status"}));
    EXPECT_EQ(*status.find("trading"), Json(true));

    // A bot that does not run has no orders that could be smaller.
    ASSERT_EQ(api.at_tenant(owner, {"POST", "/stop"}).status, 200);
    EXPECT_EQ(warnings_at("/status"), "[]");
    ASSERT_EQ(api.at_tenant(owner, {"POST", "/restart"}).status, 200);
    ASSERT_TRUE(api.world.paper().set_faults({}));
    api.world.pass(Duration::of_seconds(120));
    EXPECT_EQ(told(), std::set<std::string>{"[]"});
}

// Amounts that no order can be made of are named by the answer that set them, and at /status for as
// long as nothing else is quoted.
TEST_F(BotDisplays, AmountsBelowTheLeastNotionalAreTold) {
    const BotApi::Owner owner = api.sign_up_in("crumbs", "running");
    const auto status = [&] { return BotApi::body_of(api.at_tenant(owner, {"GET", "/status"})); };
    const auto set_amounts = [&](const std::string& btc, const std::string& eth) {
        return BotApi::body_of(api.as_human(
            owner,
            {"POST",
             "/update_all_symbols",
             R"({"symbols":["BTCUSDT","ETHUSDT"],"amounts_by_symbol":{"BTCUSDT":)" + btc +
                 R"(,"ETHUSDT":)" + eth + "}}"}));
    };
    EXPECT_TRUE(status().find("warnings")->items().empty()) << to_text(status());

    const Json one = set_amounts("0.004", "0.0001");
    ASSERT_EQ(one.find("warnings")->items().size(), 1U) << to_text(one);
    EXPECT_NE(one.find("warnings")->items().front().as_string().find("ETHUSDT"), std::string::npos);
    EXPECT_EQ(status().find("warnings")->items().size(), 1U);
    EXPECT_EQ(*status().find("trading"), Json(true));

    const Json both = set_amounts("0.00001", "0.0001");
    EXPECT_EQ(both.find("warnings")->items().size(), 2U) << to_text(both);
    EXPECT_EQ(BotApi::word_at(*status().find("blocked"), "code"), "below_minimum");
    api.world.pass(Duration::of_seconds(40));
    EXPECT_EQ(BotApi::word_at(*status().find("blocked"), "code"), "below_minimum");
    const Json proposed =
        BotApi::body_of(api.at_tenant(owner, {"POST", "/update_pnl", R"({"pnl_perc":3})"}));
    EXPECT_EQ(proposed.find("warnings")->items().size(), 2U) << to_text(proposed);

    set_amounts("0.004", "0.08");
    EXPECT_EQ(*status().find("blocked"), Json()) << to_text(status());
    EXPECT_TRUE(status().find("warnings")->items().empty());
}

}  // namespace
}  // namespace interlock
