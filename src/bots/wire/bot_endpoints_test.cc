#include "bots/wire/bot_endpoints.h"

#include <gtest/gtest.h>

#include <set>

namespace interlock {
namespace {

TEST(BotEndpoints, IdsAndRoutesAreThereOnce) {
    std::set<std::string_view> ids;
    std::set<std::string> routes;
    for (const BotEndpoint& endpoint : bot_endpoints()) {
        EXPECT_TRUE(ids.insert(endpoint.id).second) << endpoint.id;
        EXPECT_TRUE(
            routes.insert(std::string(endpoint.method) + " " + std::string(endpoint.path)).second)
            << endpoint.id;
        EXPECT_EQ(find_bot_endpoint(endpoint.id), &endpoint);
        EXPECT_FALSE(endpoint.description.empty());
    }
    EXPECT_EQ(find_bot_endpoint("withdraw"), nullptr);
}

// Every endpoint of bot.md#1-where, planned ones included, by id, method and path.
TEST(BotEndpoints, CoverTheWholeDocument) {
    const std::set<std::string> document{
        "signup POST /signup",
        "account_login POST /account/login",
        "account_status GET /account/status",
        "regenerate_key POST /account/regenerate-key",
        "initialize_bot POST /initialize_bot",
        "start POST /start",
        "stop POST /stop",
        "restart POST /restart",
        "status GET /status",
        "exchange_status GET /exchange_status",
        "logs GET /logs",
        "pnl_status GET /pnl_status",
        "pnl_last_update GET /pnl_last_update",
        "balances GET /balances",
        "positions GET /positions",
        "health GET /health",
        "config GET /config",
        "update_pnl POST /update_pnl",
        "update_symbol POST /update_symbol",
        "update_all_symbols POST /update_all_symbols",
        "update_bot_settings POST /update_bot_settings",
        "reload_from_config POST /reload_from_config",
        "update_exchange_keys POST /update_exchange_keys",
        "connect_exchange POST /connect-exchange",
        "disconnect_exchange POST /disconnect-exchange",
        "run_pnl POST /run_pnl",
        "stop_pnl POST /stop_pnl",
        "pnl_snapshot GET /pnl_snapshot",
    };
    std::set<std::string> ours;
    for (const BotEndpoint& endpoint : bot_endpoints()) {
        ours.insert(
            std::string(endpoint.id) + " " + std::string(endpoint.method) + " " +
            std::string(endpoint.path));
    }
    EXPECT_EQ(ours, document);
}

TEST(BotEndpoints, AnythingThatChangesRiskNeedsAHuman) {
    for (const BotEndpoint& endpoint : bot_endpoints()) {
        const bool guarded =
            endpoint.agent == AgentUse::proposal_only || endpoint.agent == AgentUse::conditional;
        if (guarded) {
            EXPECT_TRUE(endpoint.human_approval) << endpoint.id;
            EXPECT_FALSE(endpoint.approval_reason.empty()) << endpoint.id;
        }
    }
}

TEST(BotEndpoints, TheSchemaListsEveryEndpointInItsGroup) {
    const Json schema = agent_schema("https://here");
    std::size_t listed = 0;
    for (const auto& [name, group] : schema.find("endpoints")->members()) {
        for (const Json& endpoint : group.find("endpoints")->items()) {
            const BotEndpoint* known = find_bot_endpoint(endpoint.find("id")->as_string());
            ASSERT_NE(known, nullptr);
            EXPECT_EQ(known->group, name);
            ++listed;
        }
    }
    EXPECT_EQ(listed, bot_endpoints().size());
    EXPECT_EQ(schema.find("tenant_base_url_pattern")->as_string(), "https://here/api/{tenant_id}");
}

TEST(BotEndpoints, RequestSchemasAreStrictAndKnowWhatMayBeLeftOut) {
    const Json schema = request_schema_of(*find_bot_endpoint("update_exchange_keys"));
    EXPECT_EQ(*schema.find("additionalProperties"), Json(false));
    EXPECT_EQ(to_text(*schema.find("required")), R"(["exchange","api_key","api_secret"])");
    EXPECT_TRUE(request_schema_of(*find_bot_endpoint("status")).is_null());
    const Json run = request_schema_of(*find_bot_endpoint("run_pnl"));
    const Json& days = *run.find("properties")->find("lookback_days");
    EXPECT_EQ(*days.find("default"), Json(30));
    EXPECT_EQ(*days.find("maximum"), Json(365));
    EXPECT_TRUE(run.find("required")->items().empty());
}

// It may be left out everywhere (bot.md#1-where).
TEST(BotEndpoints, FourteenCallsOfAgentsTakeAKey) {
    int keyed = 0;
    for (const BotEndpoint& endpoint : bot_endpoints()) {
        const Json schema = request_schema_of(endpoint);
        const Json* properties = schema.find("properties");
        const bool declares =
            properties != nullptr && properties->find("idempotency_key") != nullptr;
        EXPECT_EQ(declares, takes_idempotency_key(endpoint)) << endpoint.id;
        keyed += declares ? 1 : 0;
    }
    EXPECT_EQ(keyed, 14);
}

// The words of the document stand for the schema; neither says another type than the other.
TEST(BotEndpoints, TheDocumentsWordsAndTheSchemasAgree) {
    for (const BotEndpoint& endpoint : bot_endpoints()) {
        const Json answer = response_schema_of(endpoint);
        for (const BotField& field : endpoint.response) {
            const Json* declared = answer.find("properties")->find(field.name);
            ASSERT_NE(declared, nullptr) << endpoint.id << "." << field.name;
            const std::string types = to_text(*declared->find("type"));
            const std::string_view word = field.type.substr(0, field.type.find(" |"));
            const std::string wanted = word == "float" ? "number" : std::string(word);
            EXPECT_NE(types.find(wanted), std::string::npos) << endpoint.id << "." << field.name;
        }
    }
}

TEST(BotEndpoints, ToolsCarryTheirServersName) {
    EXPECT_EQ(bot_tool_name(*find_bot_endpoint("start")), "bot_start");
    EXPECT_EQ(bot_tool_name(*find_bot_endpoint("initialize_bot")), "bot_initialize");
    EXPECT_EQ(bot_tool_name(*find_bot_endpoint("update_bot_settings")), "bot_update_settings");
}

TEST(BotEndpoints, TheTextForModelsNamesEveryPath) {
    const std::string text = bot_llms_text("https://here");
    for (const BotEndpoint& endpoint : bot_endpoints()) {
        EXPECT_NE(text.find(std::string(endpoint.path) + ": "), std::string::npos) << endpoint.id;
    }
}

}  // namespace
}  // namespace interlock
