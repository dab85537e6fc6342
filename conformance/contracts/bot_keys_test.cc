// The fourteen calls of an agent that change a bot, repeated under one idempotency key: the stored
// answer comes back, nothing happens twice, and another payload is a conflict.
#include <gtest/gtest.h>

#include "bot_api.h"

namespace interlock {
namespace {

class BotKeys : public ::testing::Test {
protected:
    static std::string with_key(const std::string& key, const std::string& more = {}) {
        return R"({"idempotency_key":")" + key + "\"" + (more.empty() ? "" : "," + more) + "}";
    }
    HttpResponse post(const BotApi::Owner& owner, const std::string& path, std::string body) {
        return api.at_tenant(owner, {"POST", path, std::move(body)});
    }
    std::size_t records(const BotApi::Owner& owner) {
        const HttpResponse head = api.as_human(owner, {"GET", "/audit/head"});
        return static_cast<std::size_t>(BotApi::body_of(head).find("seq")->as_int64().value_or(0));
    }
    struct Repeated {
        std::string path;
        std::string body;   // Its members beside the key.
        std::string other;  // A different request.
    };
    void expect_repeatable(const BotApi::Owner& owner, const Repeated& call) {
        const std::string body = with_key("key_" + call.path.substr(1), call.body);
        const HttpResponse first = post(owner, call.path, body);
        ASSERT_LT(first.status, 300) << call.path << " " << first.body;
        const std::size_t before = records(owner);
        const HttpResponse again = post(owner, call.path, body);
        EXPECT_EQ(again.status, first.status) << call.path;
        EXPECT_EQ(again.body, first.body) << call.path;
        EXPECT_EQ(records(owner), before) << call.path;
        if (!call.other.empty()) {
            const HttpResponse conflict =
                post(owner, call.path, with_key("key_" + call.path.substr(1), call.other));
            EXPECT_EQ(conflict.status, 409) << call.path << " " << conflict.body;
            EXPECT_EQ(BotApi::error_code(conflict), "idempotency_key_conflict") << call.path;
        }
        EXPECT_EQ(records(owner), before) << call.path;
        ++repeated;
    }

    BotApi api;
    int repeated = 0;
};

TEST_F(BotKeys, ALifecycleCallRepeatedGivesItsStoredAnswer) {
    const BotApi::Owner owner = api.sign_up_in("cycle", "uninitialized");
    expect_repeatable(owner, {"/initialize_bot", "", ""});
    expect_repeatable(owner, {"/start", "", ""});
    expect_repeatable(owner, {"/stop", R"("cancel_orders":false)", R"("cancel_orders":true)"});
    // Stopped since: without the key this would be 409 wrong_bot_state, with it it is the answer.
    EXPECT_EQ(post(owner, "/stop", "").status, 409);
    expect_repeatable(owner, {"/restart", "", ""});
    EXPECT_EQ(repeated, 4);
}

TEST_F(BotKeys, EveryOtherCallRepeatedGivesItsStoredAnswer) {
    const BotApi::Owner owner = api.sign_up_in("rest", "running");
    for (const Repeated& call : {
             Repeated{"/update_pnl", R"("pnl_perc":2.5)", R"("pnl_perc":3)"},
             {"/update_symbol",
              R"("old_symbol":"SOLUSDT","new_symbol":"XRPUSDT","new_amount":300)",
              R"("old_symbol":"SOLUSDT","new_symbol":"XRPUSDT","new_amount":200)"},
             {"/update_all_symbols",
              R"("symbols":["BTCUSDT"],"amounts_by_symbol":{"BTCUSDT":0.005})",
              R"("symbols":["BTCUSDT"],"amounts_by_symbol":{"BTCUSDT":0.006})"},
             {"/update_bot_settings", R"("num_bids_ask":2)", R"("num_bids_ask":4)"},
             {"/reload_from_config", "", ""},
             {"/disconnect-exchange", "", ""},
             {"/connect-exchange", "", ""},
             {"/run_pnl", R"("lookback_days":7)", R"("lookback_days":8)"},
             {"/stop_pnl", "", ""},
             {"/update_exchange_keys",
              R"("exchange":"paper","api_key":"good","api_secret":"s")",
              R"("exchange":"paper","api_key":"better","api_secret":"s")"},
         }) {
        expect_repeatable(owner, call);
    }
    EXPECT_EQ(repeated, 10);
}

TEST_F(BotKeys, AStoredAnswerOutlivesARestartOfTheServer) {
    const BotApi::Owner owner = api.sign_up_in("restart", "running");
    const std::string body = with_key("stop_1");
    const HttpResponse first = post(owner, "/stop", body);
    ASSERT_EQ(first.status, 200) << first.body;
    api.world.restart();
    const HttpResponse again = post(owner, "/stop", body);
    EXPECT_EQ(again.status, 200);
    EXPECT_EQ(again.body, first.body);
}

TEST_F(BotKeys, ARefusalIsNotKeptUnderItsKey) {
    const BotApi::Owner owner = api.sign_up_in("refused", "uninitialized");
    const std::string body = with_key("start_1");
    EXPECT_EQ(post(owner, "/start", body).status, 409);
    ASSERT_EQ(post(owner, "/initialize_bot", "").status, 200);
    EXPECT_EQ(post(owner, "/start", body).status, 200);
}

TEST_F(BotKeys, AnExchangeSecretIsNoPartOfWhatIsKept) {
    const BotApi::Owner owner = api.sign_up_in("secret", "uninitialized");
    const std::string keys = R"("exchange":"paper","api_key":"good","api_secret":")";
    ASSERT_EQ(post(owner, "/update_exchange_keys", with_key("k", keys + "one\"")).status, 200);
    // Only exchange and key tell two requests apart.
    EXPECT_EQ(post(owner, "/update_exchange_keys", with_key("k", keys + "two\"")).status, 200);
}

}  // namespace
}  // namespace interlock
