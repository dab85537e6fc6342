// What docs/contracts/bot.md#2-states says of states, of agents and of a human's approval, call by
// call.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "bot_api.h"

namespace interlock {
namespace {

const std::vector<std::string> kStates{"uninitialized", "ready", "running", "stopped"};

class BotContract : public ::testing::Test {
protected:
    std::string state_of(const BotApi::Owner& owner) {
        return BotApi::word(api.at_tenant(owner, {"GET", "/status"}), "bot_state");
    }
    Json config_of(const BotApi::Owner& owner) {
        return BotApi::body_of(api.at_tenant(owner, {"GET", "/config"}));
    }
    static Json error_of(const HttpResponse& response) {
        const Json body = BotApi::body_of(response);
        return body.find("error") == nullptr ? Json::object() : *body.find("error");
    }
    // What the caller is told, and what to do next.
    static std::string advice(const HttpResponse& response) {
        const Json error = error_of(response);
        return BotApi::word_at(error, "message") + " " + BotApi::word_at(error, "next_step");
    }
    HttpResponse approve(const BotApi::Owner& owner, const std::string& id) {
        return api.as_human(owner, {"POST", "/approvals/" + id + "/approve", "{}"});
    }
    std::string propose(const BotApi::Owner& owner, const std::string& pnl) {
        const HttpResponse response =
            api.at_tenant(owner, {"POST", "/update_pnl", R"({"pnl_perc":)" + pnl + "}"});
        EXPECT_EQ(response.status, 202) << response.body;
        return BotApi::word(response, "proposal_id");
    }
    std::string pnl_of(const BotApi::Owner& owner) {
        return to_text(*config_of(owner).find("pnl_perc"));
    }
    // Time without a market, to reach a timer.
    void leave_alone(Duration span) {
        api.world.plane_world().clock.advance(span);
        api.world.plane_world().plane->runner.fire_timers(1000);
    }
    std::string keys(const std::string& exchange, const std::string& api_key = "good") {
        return R"({"exchange":")" + exchange + R"(","api_key":")" + api_key +
               R"(","api_secret":"s"})";
    }

    BotApi api;
};

// Each call of the lifecycle in each state: it is allowed where `requires_state` says so, leads
// where a transition of the document leads, and is refused with the step that is missing.
TEST_F(BotContract, EveryLifecycleCallIsAllowedInItsStateOnly) {
    const Json document = api.document();
    std::map<std::string, std::string> leads;  // "from call" → to
    for (const Json& one : document.find("bot_state_machine")->find("transitions")->items()) {
        leads[BotApi::word_at(one, "from") + " " + BotApi::word_at(one, "via")] =
            BotApi::word_at(one, "to");
    }
    const std::map<std::string, std::string> missing{
        {"start uninitialized", "/initialize_bot"},
        {"start running", "running already"},
        {"start stopped", "/restart"},
        {"stop uninitialized", "/initialize_bot"},
        {"stop ready", "/start"},
        {"stop stopped", "stopped already"}};
    int cells = 0;
    int refused = 0;
    for (const Json& endpoint : BotApi::endpoints_of(document)) {
        if (BotApi::word_at(endpoint, "group") != "lifecycle") {
            continue;
        }
        const std::string id = BotApi::word_at(endpoint, "id");
        const std::string needs = BotApi::word_at(endpoint, "requires_state");
        const std::string path = BotApi::word_at(endpoint, "path");
        for (const std::string& state : kStates) {
            ++cells;
            const BotApi::Owner owner = api.sign_up_in(id + "_" + state, state);
            const HttpResponse response = api.at_key(owner, {"POST", path});
            const std::string where = id + " in " + state + ": " + response.body;
            if (needs.empty() || needs == "any" || needs == state) {
                EXPECT_EQ(response.status, 200) << where;
                const auto to = leads.find(state + " POST " + path);
                const std::string after = to == leads.end() ? state : to->second;
                EXPECT_EQ(BotApi::word(response, "bot_state"), after) << where;
                EXPECT_EQ(state_of(owner), after) << where;
                continue;
            }
            ++refused;
            EXPECT_EQ(response.status, 409) << where;
            EXPECT_EQ(BotApi::error_code(response), "wrong_bot_state") << where;
            EXPECT_NE(advice(response).find(missing.at(id + " " + state)), std::string::npos)
                << where;
            EXPECT_EQ(state_of(owner), state) << where;
        }
    }
    std::cout << "states: " << cells << " cells, " << refused << " refused\n";
    EXPECT_EQ(cells, 16);
    EXPECT_EQ(refused, 6);
}

TEST_F(BotContract, WhatNamesNoStateWorksInAllFour) {
    int calls = 0;
    for (const std::string& state : kStates) {
        const BotApi::Owner owner = api.sign_up_in("every_" + state, state);
        for (const Json& endpoint : BotApi::endpoints_of(api.document())) {
            const std::string id = BotApi::word_at(endpoint, "id");
            const bool is_plain = *endpoint.find("agent_usable") == Json(true) && id != "signup" &&
                                  BotApi::word_at(endpoint, "group") != "lifecycle";
            if (!is_plain) {
                continue;
            }
            const HttpResponse response = api.at_tenant(
                owner, {BotApi::word_at(endpoint, "method"), BotApi::word_at(endpoint, "path")});
            EXPECT_EQ(response.status, 200) << id << " in " << state << ": " << response.body;
            ++calls;
        }
        EXPECT_EQ(state_of(owner), state);
    }
    std::cout << "any state: " << calls << " calls\n";
    EXPECT_GE(calls, 60);
}

// Out of the sequence of the seven steps, before any key is there.
TEST_F(BotContract, CallsWithoutKeysNameTheStepThatBringsThem) {
    const BotApi::Owner owner = api.sign_up("keyless");
    for (const std::string path : {"/initialize_bot", "/restart", "/connect-exchange"}) {
        const HttpResponse response = api.at_tenant(owner, {"POST", path});
        EXPECT_EQ(response.status, 409) << path;
        EXPECT_EQ(BotApi::error_code(response), "keys_missing") << path;
        EXPECT_NE(advice(response).find("/update_exchange_keys"), std::string::npos) << path;
    }
    const HttpResponse start = api.at_tenant(owner, {"POST", "/start"});
    EXPECT_EQ(start.status, 409);
    EXPECT_NE(advice(start).find("/initialize_bot"), std::string::npos) << start.body;
}

TEST_F(BotContract, AHumansOwnCallsAreRefusedToAgents) {
    const BotApi::Owner owner = api.sign_up_in("human_only", "ready");
    int refused = 0;
    for (const Json& endpoint : BotApi::endpoints_of(api.document())) {
        if (*endpoint.find("agent_usable") != Json(false)) {
            continue;
        }
        const BotApi::Call call{
            BotApi::word_at(endpoint, "method"), BotApi::word_at(endpoint, "path")};
        if (BotApi::word_at(endpoint, "id") == "account_login") {
            // There is no password that a key could stand for.
            EXPECT_EQ(api.at_host({"POST", call.path, "{}"}).status, 422);
            EXPECT_EQ(api.at_key(owner, call).status, 404);
            continue;
        }
        for (const HttpResponse& response : {api.at_tenant(owner, call), api.at_key(owner, call)}) {
            EXPECT_EQ(response.status, 403) << call.path;
            EXPECT_EQ(BotApi::error_code(response), "human_required") << call.path;
            ++refused;
        }
    }
    EXPECT_EQ(refused, 2);
}

struct Change {
    std::string path;
    std::string body;
    std::string difference;  // Of the configuration that a signup brings.
};
const std::vector<Change> kChanges{
    {"/update_pnl", R"({"pnl_perc":2.5})", R"({"pnl_perc":{"from":1,"to":2.5}})"},
    {"/update_symbol",
     R"({"old_symbol":"SOLUSDT","new_symbol":"XRPUSDT","new_amount":300})",
     R"({"symbols":{"from":["BTCUSDT","ETHUSDT","SOLUSDT"],"to":["BTCUSDT","ETHUSDT","XRPUSDT"]},)"
     R"("amounts_by_symbol":{"from":{"BTCUSDT":0.004,"ETHUSDT":0.08,"SOLUSDT":1.5},)"
     R"("to":{"BTCUSDT":0.004,"ETHUSDT":0.08,"XRPUSDT":300}}})"},
    {"/update_all_symbols",
     R"({"symbols":["BTCUSDT"],"amounts_by_symbol":{"BTCUSDT":0.005}})",
     R"({"symbols":{"from":["BTCUSDT","ETHUSDT","SOLUSDT"],"to":["BTCUSDT"]},)"
     R"("amounts_by_symbol":{"from":{"BTCUSDT":0.004,"ETHUSDT":0.08,"SOLUSDT":1.5},)"
     R"("to":{"BTCUSDT":0.005}}})"},
    {"/update_bot_settings",
     R"({"volatility":2,"num_bids_ask":2})",
     R"({"volatility":{"from":1,"to":2},"num_bids_ask":{"from":3,"to":2}})"},
};

TEST_F(BotContract, AnAgentsChangeIsAProposalWithTheExactDifference) {
    for (const Change& change : kChanges) {
        const BotApi::Owner owner = api.sign_up_in("agent" + change.path.substr(1), "running");
        const Json before = config_of(owner);
        const HttpResponse first = api.at_tenant(owner, {"POST", change.path, change.body});
        const HttpResponse second = api.at_key(owner, {"POST", change.path, change.body});
        for (const HttpResponse& response : {first, second}) {
            EXPECT_EQ(response.status, 202) << response.body;
            EXPECT_EQ(BotApi::word(response, "status"), "pending_approval");
            EXPECT_EQ(to_text(*BotApi::body_of(response).find("difference")), change.difference);
        }
        EXPECT_EQ(config_of(owner), before) << change.path;
        const HttpResponse done = approve(owner, BotApi::word(first, "proposal_id"));
        EXPECT_EQ(done.status, 200) << done.body;
        EXPECT_NE(config_of(owner), before) << change.path;
    }
}

TEST_F(BotContract, AHumansChangeAppliesAtOnce) {
    for (const Change& change : kChanges) {
        const BotApi::Owner owner = api.sign_up_in("human" + change.path.substr(1), "running");
        const HttpResponse response = api.as_human(owner, {"POST", change.path, change.body});
        EXPECT_EQ(response.status, 200) << response.body;
        EXPECT_EQ(BotApi::word(response, "status"), "applied");
        EXPECT_EQ(to_text(*BotApi::body_of(response).find("difference")), change.difference);
        EXPECT_EQ(*config_of(owner).find("config_version"), Json(2)) << change.path;
    }
}

TEST_F(BotContract, AProposalIsApprovedAfterARestart) {
    const BotApi::Owner owner = api.sign_up_in("later", "ready");
    const std::string id = propose(owner, "3");
    api.world.restart();
    EXPECT_EQ(pnl_of(owner), "1");
    EXPECT_EQ(approve(owner, id).status, 200);
    EXPECT_EQ(pnl_of(owner), "3");
}

TEST_F(BotContract, AProposalThatNobodyAnsweredExpires) {
    const BotApi::Owner owner = api.sign_up_in("nobody_answers", "ready");
    const std::string id = propose(owner, "3");
    leave_alone(Duration::of_hours(25));
    api.log_in(owner);  // The session is over as well.
    const HttpResponse response = approve(owner, id);
    EXPECT_EQ(response.status, 409) << response.body;
    EXPECT_EQ(BotApi::error_code(response), "approval_not_pending");
    EXPECT_EQ(pnl_of(owner), "1");
}

TEST_F(BotContract, AProposalOvertakenByAHumansChangeIsRefused) {
    const BotApi::Owner owner = api.sign_up_in("overtaken", "ready");
    const std::string id = propose(owner, "3");
    ASSERT_EQ(api.as_human(owner, {"POST", "/update_pnl", R"({"pnl_perc":2})"}).status, 200);
    const HttpResponse response = approve(owner, id);
    EXPECT_EQ(response.status, 409) << response.body;
    EXPECT_EQ(BotApi::error_code(response), "approval_not_pending");
    EXPECT_NE(response.body.find("has changed since this was proposed"), std::string::npos);
    EXPECT_EQ(pnl_of(owner), "2");
}

// An agent proposes as often as it likes; the human's release of a stop always finds a place.
TEST_F(BotContract, ProposalsOfAgentsNeverKeepAHumanFromReleasing) {
    const BotApi::Owner owner = api.sign_up_in("crowded", "ready");
    for (int i = 0; i < 110; ++i) {
        const std::string body = R"({"pnl_perc":)" + std::to_string(2 + i % 9) + "}";
        ASSERT_EQ(api.at_tenant(owner, {"POST", "/update_pnl", body}).status, 202) << i;
    }
    ASSERT_EQ(api.at_tenant(owner, {"POST", "/kill", R"({"active":true})"}).status, 200);
    const HttpResponse release = api.as_human(owner, {"POST", "/kill", R"({"active":false})"});
    EXPECT_EQ(release.status, 202) << release.body;
    EXPECT_NE(BotApi::word(release, "release_approval_id"), "");
}

TEST_F(BotContract, AgentsNeverApproveTheirProposals) {
    const BotApi::Owner owner = api.sign_up_in("own_proposal", "ready");
    const std::string path = "/approvals/" + propose(owner, "3") + "/approve";
    for (const HttpResponse& response :
         {api.at_tenant(owner, {"POST", path, "{}"}), api.at_key(owner, {"POST", path, "{}"})}) {
        EXPECT_EQ(response.status, 403);
        EXPECT_EQ(BotApi::error_code(response), "human_required");
    }
    EXPECT_EQ(pnl_of(owner), "1");
}

TEST_F(BotContract, TheOperatorProposesAndNeedsAGrantLikeAnAgent) {
    const BotApi::Owner owner = api.sign_up_in("operated", "ready");
    ASSERT_EQ(approve(owner, propose(owner, "3")).status, 200);
    const HttpResponse proposed = api.world.send(
        {.as = "operator",
         .method = "POST",
         .path = "/api/" + owner.tenant + "/update_pnl",
         .body = R"({"pnl_perc":5})"});
    EXPECT_EQ(proposed.status, 202) << proposed.body;
    EXPECT_EQ(pnl_of(owner), "3");
    EXPECT_EQ(api.at_tenant(owner, {"POST", "/reload_from_config"}).status, 200);
    EXPECT_EQ(pnl_of(owner), "3");
    const HttpResponse refused = api.world.send(
        {.as = "operator",
         .method = "POST",
         .path = "/api/" + owner.tenant + "/update_exchange_keys",
         .body = keys("live")});
    EXPECT_EQ(refused.status, 403) << refused.body;
    EXPECT_EQ(BotApi::error_code(refused), "grant_required");
    const std::string id = BotApi::word_at(BotApi::body_of(proposed), "proposal_id");
    EXPECT_EQ(approve(owner, id).status, 200);
    EXPECT_EQ(pnl_of(owner), "5");
}

TEST_F(BotContract, KeysOfARealExchangeNeedTheOwnersGrantOnce) {
    const BotApi::Owner owner = api.sign_up("granted");
    const BotApi::Call put{"POST", "/update_exchange_keys", keys("live")};
    const HttpResponse refused = api.at_tenant(owner, put);
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(BotApi::error_code(refused), "grant_required");
    EXPECT_EQ(
        api.as_human(owner, {"POST", "/account/key-grant", R"({"exchange":"live"})"}).status, 200);
    EXPECT_EQ(api.at_key(owner, put).status, 200);
    EXPECT_EQ(BotApi::error_code(api.at_tenant(owner, put)), "grant_required");
    EXPECT_EQ(api.as_human(owner, put).status, 200);  // People need none.
}

TEST_F(BotContract, ARefusedCallLeavesTheGrant) {
    const BotApi::Owner owner = api.sign_up("refused");
    const auto grant = [&](const std::string& body) {
        return api.as_human(owner, {"POST", "/account/key-grant", body});
    };
    const auto put = [&](const std::string& exchange) {
        return api.at_tenant(owner, {"POST", "/update_exchange_keys", keys(exchange)});
    };
    // An exchange that does not exist is never asked for, and never granted.
    EXPECT_EQ(BotApi::error_code(put("binance")), "unknown_exchange");
    const HttpResponse unknown = grant(R"({"exchange":"binance"})");
    EXPECT_EQ(unknown.status, 422);
    EXPECT_EQ(BotApi::error_code(unknown), "unknown_exchange");
    EXPECT_NE(unknown.body.find("it reaches live, paper"), std::string::npos) << unknown.body;

    EXPECT_EQ(grant("{}").status, 200);
    EXPECT_EQ(BotApi::error_code(put("binance")), "unknown_exchange");
    EXPECT_EQ(
        api.at_tenant(owner, {"POST", "/update_exchange_keys", R"({"exchange":"live"})"}).status,
        422);
    api.world.real_exchange.answer->can_withdraw = true;
    EXPECT_EQ(BotApi::error_code(put("live")), "key_rejected");
    api.world.real_exchange.answer.reset();
    EXPECT_EQ(BotApi::error_code(put("live")), "permissions_unverified");
    api.world.real_exchange.answer = good_spot_permissions();
    EXPECT_EQ(put("live").status, 200);
    EXPECT_EQ(BotApi::error_code(put("live")), "grant_required");
}

TEST_F(BotContract, KeysThatCanDoMoreThanTradeSpotAreRefused) {
    const BotApi::Owner owner = api.sign_up("too_much");
    for (const std::string fault :
         {"can_withdraw",
          "can_transfer_internal",
          "can_transfer_universal",
          "can_margin",
          "can_futures",
          "can_options",
          "can_portfolio_margin"}) {
        const HttpResponse response = api.at_tenant(
            owner, {"POST", "/update_exchange_keys", keys("paper", "paper_key_" + fault)});
        EXPECT_EQ(response.status, 422) << fault << " " << response.body;
        EXPECT_EQ(BotApi::error_code(response), "key_rejected") << fault;
        EXPECT_EQ(response.body.find("paper_key_"), std::string::npos) << response.body;
    }
    EXPECT_EQ(
        *BotApi::body_of(api.at_tenant(owner, {"GET", "/exchange_status"})).find("keys_loaded"),
        Json(false));
}

TEST_F(BotContract, NothingStartsUnderTheKillSwitch) {
    const BotApi::Owner owner = api.sign_up_in("killed", "ready");
    ASSERT_EQ(api.at_tenant(owner, {"POST", "/kill", R"({"active":true})"}).status, 200);
    for (const std::string path : {"/start", "/restart"}) {
        EXPECT_EQ(api.at_tenant(owner, {"POST", path}).status, 423) << path;
    }
    EXPECT_EQ(state_of(owner), "ready");
}

TEST_F(BotContract, TheEndOfATrialStopsTheBotAndWhatNeedsAPlan) {
    const BotApi::Owner owner = api.sign_up_in("trial", "running");
    leave_alone(Duration::of_days(14));
    EXPECT_EQ(state_of(owner), "stopped");
    EXPECT_EQ(
        *BotApi::body_of(api.at_tenant(owner, {"GET", "/account/status"})).find("active"),
        Json(false));
    for (const std::string path : {"/restart", "/initialize_bot"}) {
        const HttpResponse response = api.at_tenant(owner, {"POST", path});
        EXPECT_EQ(response.status, 403) << path;
        EXPECT_EQ(BotApi::error_code(response), "plan_inactive") << path;
    }
    EXPECT_EQ(api.at_tenant(owner, {"POST", "/update_pnl", R"({"pnl_perc":2})"}).status, 403);
}

TEST_F(BotContract, AReplacedKeyIsDeadAtBothPatternsAndTheBotRestarts) {
    BotApi::Owner owner = api.sign_up_in("replaced", "running");
    const HttpResponse made = api.as_human(owner, {"POST", "/account/regenerate-key"});
    ASSERT_EQ(made.status, 200) << made.body;
    EXPECT_EQ(api.at_tenant(owner, {"GET", "/status"}).status, 401);
    EXPECT_EQ(api.at_key(owner, {"GET", "/status"}).status, 401);
    owner.key = BotApi::word(made, "access_key");
    EXPECT_EQ(state_of(owner), "running");
    const std::string logs = BotApi::word(api.at_key(owner, {"GET", "/logs"}), "logs");
    EXPECT_NE(logs.find("BOT_RESTARTED"), std::string::npos) << logs;
}

TEST_F(BotContract, AKeyNamesOnlyTheAssetsOnItsList) {
    const BotApi::Owner owner = api.sign_up_in("listed", "ready");
    const HttpResponse set = api.as_human(
        owner,
        {"POST",
         "/account/asset-lists",
         R"({"key_id":")" + owner.key_id + R"(","assets":["BTCUSDT","ETHUSDT","SOLUSDT"]})"});
    ASSERT_EQ(set.status, 200) << set.body;
    const BotApi::Call change{
        "POST",
        "/update_symbol",
        R"({"old_symbol":"SOLUSDT","new_symbol":"XRPUSDT","new_amount":300})"};
    const HttpResponse refused = api.at_tenant(owner, change);
    EXPECT_EQ(refused.status, 403) << refused.body;
    EXPECT_EQ(BotApi::error_code(refused), "asset_not_allowed");
    EXPECT_NE(refused.body.find("XRPUSDT"), std::string::npos);
    EXPECT_EQ(api.as_human(owner, change).status, 200);
}

// A list bounds what a key trades, not only what it names: calls that name no market are judged by
// the bot's markets. The way out stays open.
TEST_F(BotContract, AKeyTradesOnlyTheAssetsOnItsList) {
    const auto narrow = [&](const BotApi::Owner& owner) {
        const HttpResponse set = api.as_human(
            owner,
            {"POST",
             "/account/asset-lists",
             R"({"key_id":")" + owner.key_id + R"(","assets":["BTCUSDT"]})"});
        ASSERT_EQ(set.status, 200) << set.body;
    };
    const auto expect_refused = [&](const BotApi::Owner& owner, const BotApi::Call& call) {
        const HttpResponse refused = api.at_tenant(owner, call);
        EXPECT_EQ(refused.status, 403) << call.path << refused.body;
        EXPECT_EQ(BotApi::error_code(refused), "asset_not_allowed") << call.path;
        EXPECT_NE(refused.body.find("ETHUSDT"), std::string::npos) << refused.body;
    };
    const std::vector<std::pair<std::string, std::string>> begun{
        {"uninitialized", "/initialize_bot"},
        {"ready", "/start"},
        {"stopped", "/restart"},
        {"running", "/restart"}};
    for (const auto& [state, path] : begun) {
        const BotApi::Owner owner = api.sign_up_in("narrow_" + state, state);
        narrow(owner);
        expect_refused(owner, {"POST", path});
        expect_refused(owner, {"POST", "/connect-exchange"});
        expect_refused(owner, {"POST", "/reload_from_config"});
        expect_refused(owner, {"POST", "/update_pnl", R"({"pnl_perc":2})"});
        expect_refused(owner, {"POST", "/update_bot_settings", R"({"num_bids_ask":2})"});
        EXPECT_EQ(state_of(owner), state);
        // People are not bound, and a bot narrowed to the list is the key's to start.
        const BotApi::Call only_btc{
            "POST",
            "/update_all_symbols",
            R"({"symbols":["BTCUSDT"],"amounts_by_symbol":{"BTCUSDT":0.01}})"};
        EXPECT_EQ(api.at_tenant(owner, only_btc).status, 202);
        EXPECT_EQ(api.as_human(owner, only_btc).status, 200);
        EXPECT_EQ(api.at_tenant(owner, {"POST", path}).status, 200) << path;
    }
    const BotApi::Owner owner = api.sign_up_in("narrow_stop", "running");
    narrow(owner);
    EXPECT_EQ(api.at_tenant(owner, {"POST", "/disconnect-exchange"}).status, 200);
    EXPECT_EQ(api.at_tenant(owner, {"POST", "/stop"}).status, 200);
}

TEST_F(BotContract, NineSymbolsAreTheHardLimit) {
    const BotApi::Owner owner = api.sign_up_in("ten", "ready");
    Json symbols = Json::array();
    Json amounts = Json::object();
    for (int i = 0; i < 10; ++i) {
        const std::string name = "AB" + std::string(1, static_cast<char>('A' + i)) + "USDT";
        symbols.push(name);
        amounts.set(name, 1);
    }
    const std::string body =
        to_text(Json::object({{"symbols", symbols}, {"amounts_by_symbol", amounts}}));
    for (const HttpResponse& response :
         {api.at_tenant(owner, {"POST", "/update_all_symbols", body}),
          api.as_human(owner, {"POST", "/update_all_symbols", body})}) {
        EXPECT_EQ(response.status, 422) << response.body;
        EXPECT_NE(response.body.find("symbols"), std::string::npos);
    }
}

TEST_F(BotContract, AStopLeavesOrdersAndListsThemUnlessToldOtherwise) {
    const BotApi::Owner owner = api.sign_up_in("orders", "running");
    api.world.pass(Duration::of_seconds(30));
    const Json stopped = BotApi::body_of(api.at_tenant(owner, {"POST", "/stop"}));
    EXPECT_FALSE(stopped.find("open_orders")->items().empty()) << to_text(stopped);
    EXPECT_EQ(*stopped.find("orders_cancelled"), Json(false));
    const VenueAccount account = bot_account_of(TenantId::trusted(owner.tenant));
    const auto before = api.world.paper().report(account, 0).value().open_orders.size();
    EXPECT_EQ(before, stopped.find("open_orders")->items().size());
    ASSERT_EQ(api.at_tenant(owner, {"POST", "/restart"}).status, 200);
    ASSERT_EQ(api.at_tenant(owner, {"POST", "/stop", R"({"cancel_orders":true})"}).status, 200);
    api.world.pass(Duration::of_seconds(2));
    EXPECT_EQ(api.world.paper().report(account, 0).value().open_orders.size(), 0U);
}

TEST_F(BotContract, ADisconnectedBotStallsAndKeepsItsState) {
    const BotApi::Owner owner = api.sign_up_in("disconnected", "running");
    ASSERT_EQ(api.at_tenant(owner, {"POST", "/disconnect-exchange"}).status, 200);
    Json status = BotApi::body_of(api.at_tenant(owner, {"GET", "/status"}));
    EXPECT_EQ(BotApi::word_at(status, "bot_state"), "running");
    EXPECT_EQ(*status.find("stalled"), Json(true));
    ASSERT_EQ(api.at_tenant(owner, {"POST", "/connect-exchange"}).status, 200);
    api.world.pass(Duration::of_seconds(30));
    status = BotApi::body_of(api.at_tenant(owner, {"GET", "/status"}));
    EXPECT_EQ(*status.find("stalled"), Json(false)) << to_text(status);
}

// A bot that cannot trade says so at once, with the reason, and so does the restart of it; what
// began and ended is on the record, once each.
TEST_F(BotContract, ABlockedBotSaysThatItDoesNotTrade) {
    const BotApi::Owner owner = api.sign_up_in("blocked", "running");
    const auto status = [&] { return BotApi::body_of(api.at_tenant(owner, {"GET", "/status"})); };
    const auto code = [&] { return BotApi::word_at(*status().find("blocked"), "code"); };
    const auto events = [&](std::string_view event) {
        return std::ranges::count_if(
            *api.world.plane_world().plane->ledger.read(TenantId::trusted(owner.tenant), 0, 10'000),
            [&](const AuditRecord& record) { return record.draft.event == event; });
    };
    EXPECT_EQ(*status().find("trading"), Json(true));
    ASSERT_EQ(api.at_tenant(owner, {"POST", "/kill", R"({"active":true})"}).status, 200);
    EXPECT_EQ(code(), "stopped");
    EXPECT_EQ(*status().find("trading"), Json(false));
    EXPECT_EQ(BotApi::word_at(status(), "bot_state"), "running");
    api.world.pass(Duration::of_seconds(40));
    EXPECT_EQ(events("TRADING_BLOCKED"), 1);

    const HttpResponse asked = api.at_tenant(owner, {"POST", "/kill", R"({"active":false})"});
    const std::string approval = BotApi::word(asked, "release_approval_id");
    const HttpResponse approved =
        api.as_human(owner, {"POST", "/approvals/" + approval + "/approve", "{}"});
    ASSERT_EQ(approved.status, 200) << approved.body;
    EXPECT_EQ(code(), "disabled");
    const Json restarted = BotApi::body_of(api.at_tenant(owner, {"POST", "/restart"}));
    EXPECT_NE(
        BotApi::word_at(restarted, "message").find("it does not trade. Trading is off"),
        std::string::npos)
        << to_text(restarted);

    const HttpResponse enabled =
        api.as_human(owner, {"POST", "/trading", R"({"enabled":true,"idempotency_key":"again"})"});
    ASSERT_EQ(enabled.status, 200) << enabled.body;
    EXPECT_EQ(*BotApi::body_of(enabled).find("blocked"), Json()) << enabled.body;
    EXPECT_EQ(*status().find("trading"), Json(true));
    api.world.pass(Duration::of_seconds(40));
    EXPECT_EQ(events("TRADING_UNBLOCKED"), 1);
    EXPECT_EQ(*status().find("trading"), Json(true)) << to_text(status());

    // A bot that is stopped while it is blocked is not blocked any more, and the record says so.
    ASSERT_EQ(
        api.at_tenant(owner, {"POST", "/trading", R"({"enabled":false,"idempotency_key":"x"})"})
            .status,
        200);
    api.world.pass(Duration::of_seconds(20));
    EXPECT_EQ(events("TRADING_BLOCKED"), 2);
    ASSERT_EQ(api.at_tenant(owner, {"POST", "/stop"}).status, 200);
    EXPECT_EQ(events("TRADING_UNBLOCKED"), 2);
}

// Zero cache: a pulse tells when it fetched what it acted on; equal idle ones are counted.
TEST_F(BotContract, PulsesAreOnTheRecordWithTheirFetchTimes) {
    const BotApi::Owner owner = api.sign_up_in("pulses", "running");
    api.world.pass(Duration::of_seconds(31));
    const auto records =
        *api.world.plane_world().plane->ledger.read(TenantId::trusted(owner.tenant), 0, 10'000);
    int pulses = 0;
    for (const AuditRecord& record : records) {
        if (record.draft.event == "BOT_PULSE") {
            ++pulses;
            const Json* fetched = record.draft.detail.find("fetched");
            ASSERT_NE(fetched, nullptr);
            EXPECT_NE(fetched->find("account_ended_at"), nullptr);
            EXPECT_EQ(fetched->find("books")->members().size(), 3U);
        }
    }
    EXPECT_GE(pulses, 1);
    const auto rows = *api.world.plane_world().memory.load_states("fold/" + owner.tenant + "/");
    for (const auto& [key, state] : rows) {
        const FoldRow row = decode_fold_row(*parse_json(state.json)).value();
        for (const OpenFold& fold : row.open) {
            pulses += fold.event == "BOT_PULSE" ? static_cast<int>(fold.count) : 0;
        }
    }
    EXPECT_GE(pulses, 3);
}

}  // namespace
}  // namespace interlock
