// onboarding.md 7: a key's asset list binds every kind of key, and leaves the way out open.
#include <gtest/gtest.h>

#include "api_world.h"

namespace interlock {
namespace {

std::string word(const Json& json, std::string_view key) {
    const Json* value = json.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : to_text(json);
}

struct AssetListContract : testing::Test {
    AssetListContract() {
        world.send_json({.as = "agent", .path = "/api/demo/account"});  // Opens it.
    }

    // That of the planner or the supervisor, which have one scope each.
    std::string key_of(const std::string& as) {
        const Json keys = world.send_json({.as = "operator", .path = "/api/demo/keys"});
        for (const Json& key : keys.find("keys")->items()) {
            if (key.find("scopes")->items() == Json::Array{Json(as)}) {
                return word(key, "key_id");
            }
        }
        ADD_FAILURE() << to_text(keys);
        return {};
    }
    void allow(const std::string& as, const std::string& assets) {
        const HttpResponse set = world.send(
            {.as = "human",
             .method = "POST",
             .path = "/api/demo/account/asset-lists",
             .body = R"({"key_id":")" + key_of(as) + R"(","assets":)" + assets + "}"});
        ASSERT_EQ(set.status, 200) << set.body;
    }

    HttpResponse tool(const std::string& as, const std::string& name, Json body) {
        body.set("decision_id", decision);
        body.set("tick_id", "t1");
        body.set("idempotency_key", "k" + std::to_string(++calls));
        const auto answer = world.send_later(
            {.as = as, .method = "POST", .path = "/api/demo/tools/" + name, .body = to_text(body)});
        world.plane_world().run_effects();
        EXPECT_TRUE(answer->has_value());
        return answer->value_or(HttpResponse{});
    }
    static Json intent(const std::string& side, const std::string& qty) {
        return Json::object(
            {{"symbol", "ABCUSDT"},
             {"side", side},
             {"order_type", "limit"},
             {"qty", qty},
             {"limit_price", side == "buy" ? "100.01" : "99.99"},
             {"time_in_force", "GTC"},
             {"strategy_id", "external"},
             {"expected_edge_bps", 100}});
    }
    HttpResponse validate(const std::string& as, const Json& one) {
        return tool(
            as,
            "py_validate_plan",
            Json::object(
                {{"plan", Json::object({{"intents", Json::array({one})}, {"reason", "a test"}})}}));
    }
    HttpResponse dry_run(const std::string& as, const Json& one) {
        return tool(
            as,
            "py_dry_run_plan",
            Json::object(
                {{"plan", Json::object({{"intents", Json::array({one})}, {"reason", "a test"}})},
                 {"assumptions", Json::object({{"slippage_bps", 25}, {"fee_bps", 20}})}}));
    }
    HttpResponse execute(const std::string& as, const Json& one, const HttpResponse& rehearsed) {
        Json approved = Json::object({{"intent_id", "i0"}});
        for (const char* key :
             {"symbol", "side", "order_type", "qty", "limit_price", "time_in_force"}) {
            approved.set(key, *one.find(key));
        }
        const Json dry = *parse_json(rehearsed.body);
        const Json& projected = dry.find("dry_run")->find("projected")->items().at(0);
        approved.set("order_client_id", *projected.find("order_client_id"));
        return tool(
            as,
            "py_execute_plan",
            Json::object(
                {{"execution_mode", "paper"}, {"approved_intents", Json::array({approved})}}));
    }
    static void expect_refused(const HttpResponse& answer) {
        EXPECT_EQ(answer.status, 403) << answer.body;
        EXPECT_TRUE(answer.body.contains("asset_not_allowed")) << answer.body;
        EXPECT_TRUE(answer.body.contains("ABCUSDT")) << answer.body;
    }

    ApiWorld world;
    std::string decision = "d1";
    int calls = 0;
};

TEST_F(AssetListContract, APlannerKeyOpensNothingBesideItsListAtAnyStep) {
    const Json buy = intent("buy", "1");
    allow("planner", "[]");
    expect_refused(validate("planner", buy));
    // What a colleague validated and rehearsed is not carried out by a key that may not.
    decision = "d2";
    ASSERT_EQ(validate("agent", buy).status, 200);
    expect_refused(dry_run("planner", buy));
    const HttpResponse rehearsed = dry_run("agent", buy);
    ASSERT_EQ(rehearsed.status, 200) << rehearsed.body;
    expect_refused(execute("planner", buy, rehearsed));
    // On its list it may.
    allow("planner", R"(["ABCUSDT"])");
    decision = "d3";
    ASSERT_EQ(validate("planner", buy).status, 200);
    EXPECT_TRUE(execute("planner", buy, dry_run("planner", buy)).body.contains("\"acked\""));
}

TEST_F(AssetListContract, WhatIsHeldMayBeSoldAndOrdersCancelledAllTheSame) {
    const Json buy = intent("buy", "1");
    ASSERT_EQ(validate("agent", buy).status, 200);
    ASSERT_TRUE(execute("agent", buy, dry_run("agent", buy)).body.contains("\"acked\""));
    allow("planner", "[]");
    decision = "d2";
    const Json sell = intent("sell", "0.5");
    const HttpResponse validated = validate("planner", sell);
    ASSERT_EQ(validated.status, 200) << validated.body;
    EXPECT_TRUE(execute("planner", sell, dry_run("planner", sell)).body.contains("\"acked\""));
    decision = "d3";
    expect_refused(validate("planner", intent("sell", "0.6")));
    const HttpResponse cancels = tool(
        "planner",
        "py_validate_plan",
        Json::object(
            {{"plan",
              Json::object(
                  {{"intents", Json::array()},
                   {"cancels", Json::array({"h" + std::string(31, 'a')})},
                   {"reason", "a test"}})}}));
    EXPECT_EQ(cancels.status, 200) << cancels.body;
}

TEST_F(AssetListContract, ASupervisorKeyStartsNothingBesideItsListAndMayStopIt) {
    const auto create = [&](const std::string& key) {
        const Json made = world.send_json(
            {.as = "human",
             .method = "POST",
             .path = "/api/demo/instances",
             .body = R"({"idempotency_key":")" + key +
                     R"(","strategy_type":"idle","market_symbol":"ABCUSDT"})"});
        return word(made, "id");
    };
    const std::string first = create("c1");
    const std::string second = create("c2");
    const auto decide = [&](const std::string& id, const std::string& action, const Json& more) {
        Json payload = Json::object(
            {{"decision_id", id},
             {"concern_id", "main:abcusdt"},
             {"account_id", "main"},
             {"market_symbol", "abcusdt"},
             {"action", action},
             {"reason", "a test"},
             {"confidence", Json::number("0.5")}});
        for (const auto& [key, value] : more.members()) {
            payload.set(key, value);
        }
        return world.send_json(
            {.as = "supervisor",
             .method = "POST",
             .path = "/api/demo/control_decisions",
             .body = to_text(payload)});
    };
    const auto first_error = [](const Json& answer) {
        const auto& errors = answer.find("errors")->items();
        return errors.empty() ? std::string() : word(errors.front(), "code");
    };
    ASSERT_EQ(
        word(decide("d1", "switch", Json::object({{"target_strategy_id", first}})), "status"),
        "applied");
    allow("supervisor", "[]");
    EXPECT_EQ(
        first_error(decide("d2", "switch", Json::object({{"target_strategy_id", second}}))),
        "asset_not_allowed");
    EXPECT_EQ(word(decide("d3", "pause", Json::object()), "status"), "applied");
    EXPECT_EQ(first_error(decide("d4", "resume", Json::object())), "asset_not_allowed");
    EXPECT_EQ(
        word(decide("d5", "set_risk_mode", Json::object({{"risk_mode", "halted"}})), "status"),
        "applied");
    EXPECT_EQ(
        first_error(decide("d6", "set_risk_mode", Json::object({{"risk_mode", "normal"}}))),
        "asset_not_allowed");
}

}  // namespace
}  // namespace interlock
