// What a bot's own key learns: every problem of a change at once, and why its bot quotes as it
// does.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "bot_api.h"

namespace interlock {
namespace {

class BotProblems : public ::testing::Test {
protected:
    // The paths of the problems that a refusal names.
    std::set<std::string> paths_of(const HttpResponse& response) {
        EXPECT_EQ(response.status, 422) << response.body;
        EXPECT_EQ(BotApi::error_code(response), "invalid_request") << response.body;
        std::set<std::string> paths;
        const Json body = BotApi::body_of(response);
        const Json* const problems = body.find("error")->find("problems");
        for (const Json& one : problems == nullptr ? Json::Array() : problems->items()) {
            paths.insert(BotApi::word_at(one, "path"));
        }
        return paths;
    }

    BotApi api;
    const BotApi::Owner owner = api.sign_up_in("problems", "running");
};

// bot.md 1.4: an unknown field does not hide what else is wrong.
TEST_F(BotProblems, UnknownFieldsAndBadSettingsAreToldTogether) {
    const BotApi::Call settings{
        "POST",
        "/update_bot_settings",
        R"({"zz":1,"num_bids_ask":0,"volatility":11,"timeframe":3,"stop_buy":{"XRPUSDT":true}})"};
    const std::set<std::string> all{"zz", "num_bids_ask", "volatility", "timeframe", "stop_buy"};
    EXPECT_EQ(paths_of(api.at_tenant(owner, settings)), all);
    EXPECT_EQ(paths_of(api.as_human(owner, settings)), all);
    EXPECT_EQ(
        paths_of(api.at_tenant(owner, {"POST", "/update_pnl", R"({"zz":1,"pnl_perc":90})"})),
        (std::set<std::string>{"zz", "pnl_perc"}));
    // What cannot be read is not guessed at.
    EXPECT_EQ(
        paths_of(api.at_tenant(owner, {"POST", "/update_pnl", R"({"zz":1,"pnl_perc":"much"})"})),
        (std::set<std::string>{"zz", "pnl_perc"}));
}

TEST_F(BotProblems, ARequestWithAnUnknownFieldChangesNothingHoweverGoodTheRestIs) {
    const Json before = BotApi::body_of(api.at_tenant(owner, {"GET", "/config"}));
    const BotApi::Call call{"POST", "/update_pnl", R"({"pnl_perc":3,"dry":true})"};
    EXPECT_EQ(paths_of(api.as_human(owner, call)), std::set<std::string>{"dry"});
    EXPECT_EQ(paths_of(api.at_tenant(owner, call)), std::set<std::string>{"dry"});
    const Json after = BotApi::body_of(api.at_tenant(owner, {"GET", "/config"}));
    EXPECT_EQ(to_text(*after.find("pnl_perc")), to_text(*before.find("pnl_perc")));
    EXPECT_EQ(to_text(*after.find("config_version")), to_text(*before.find("config_version")));
    const Json waiting = BotApi::body_of(api.as_human(owner, {"GET", "/approvals"}));
    EXPECT_TRUE(waiting.find("approvals")->items().empty()) << to_text(waiting);
}

// The report says why a market is quoted as it is; the key of the bot may read it.
TEST_F(BotProblems, TheKeyOfABotReadsTheReportsOfItsMarketsAndOfNoOthers) {
    const HttpResponse own = api.at_tenant(owner, {"GET", "/instances/bot.btcusdt"});
    EXPECT_EQ(own.status, 200) << own.body;
    EXPECT_NE(BotApi::body_of(own).find("report"), nullptr);
    EXPECT_EQ(own.body, api.at_key(owner, {"GET", "/instances/bot.btcusdt"}).body);
    EXPECT_EQ(api.at_tenant(owner, {"GET", "/instances/bot.nothing"}).status, 404);
    EXPECT_EQ(api.at_tenant(owner, {"GET", "/instances/str_other"}).status, 403);
    EXPECT_EQ(api.at_tenant(owner, {"GET", "/instances"}).status, 403);
    EXPECT_EQ(api.at_tenant(owner, {"POST", "/instances/bot.btcusdt/delete", R"({})"}).status, 403);
    // Another's key is a bad key there.
    const BotApi::Owner other = api.sign_up_in("elsewhere", "ready");
    EXPECT_EQ(
        api.world
            .send(
                {.path = "/api/" + owner.tenant + "/instances/bot.btcusdt",
                 .headers = {{"X-Access-Key", other.key}}})
            .status,
        401);
}

}  // namespace
}  // namespace interlock
