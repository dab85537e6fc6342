// 004 explicit_exclusions: what no agent can do whatever its key may do. The operation table and
// the tools are walked for any way to ask for it, and then it is asked for.
#include <gtest/gtest.h>

#include <iostream>
#include <set>

#include "app/mcp/operation_catalog.h"
#include "base/text.h"
#include "bot_api.h"

namespace interlock {
namespace {

bool is_open_to_agents(const Operation& operation) {
    const Access& access = operation.access;
    return access.anyone || access.agent.has_value() || access.agent_with_any_scope;
}

// Names and fixed words of a schema, at any depth: all that a caller can say without free text.
void collect(const Json& schema, std::set<std::string>& words) {
    if (schema.is_array()) {
        for (const Json& item : schema.items()) {
            if (item.is_string()) {
                words.insert(to_lower(item.as_string()));
            }
            collect(item, words);
        }
    }
    if (!schema.is_object()) {
        return;
    }
    for (const auto& [name, value] : schema.members()) {
        if (name == "properties") {
            for (const auto& [field, inner] : value.members()) {
                words.insert(to_lower(field));
                collect(inner, words);
            }
        } else if (name != "description") {
            collect(value, words);
        }
    }
}

class BotExclusions : public ::testing::Test {
protected:
    // What an agent with every scope can reach: ids, last parts of paths, fields, words.
    std::set<std::string> vocabulary() {
        std::set<std::string> words;
        for (const Operation& operation : api.world.table().all()) {
            if (!is_open_to_agents(operation)) {
                continue;
            }
            ++operations;
            words.insert(operation.id);
            for (const std::string_view segment : split(operation.path, '/')) {
                words.insert(to_lower(segment));
            }
            collect(operation.request_schema, words);
        }
        return words;
    }
    void expect_no_word(const std::vector<std::string>& roots, const std::set<std::string>& but) {
        for (const std::string& word : vocabulary()) {
            for (const std::string& root : roots) {
                EXPECT_TRUE(word.find(root) == std::string::npos || but.contains(word)) << word;
            }
        }
        EXPECT_GT(operations, 50);
    }
    HttpResponse agent(
        const std::string& method, const std::string& path, std::string body = "{}") {
        return api.world.send(
            {.as = "agent", .method = method, .path = path, .body = std::move(body)});
    }
    // Refused as something that is not there, or not an agent's.
    void expect_impossible(const HttpResponse& response, const std::string& what) {
        const std::set<int> refusals{401, 403, 404, 405};
        EXPECT_TRUE(refusals.contains(response.status)) << what << " " << response.body;
    }

    BotApi api;
    int operations = 0;
};

TEST_F(BotExclusions, NoAgentCanWithdrawOrMoveFunds) {
    expect_no_word({"withdraw", "transfer", "deposit", "payout", "destination", "wallet"}, {});
    for (const std::string path :
         {"/api/demo/withdraw",
          "/api/demo/withdrawals",
          "/api/demo/transfer",
          "/api/demo/treasury/transfer",
          "/api/demo/people/transfer_treasury"}) {
        expect_impossible(agent("POST", path), path);
    }
    for (const Operation& operation : api.world.table().all()) {
        if (operation.id == "transfer_treasury") {
            EXPECT_FALSE(is_open_to_agents(operation));
            EXPECT_FALSE(operation.tool.has_value());
            std::string path = operation.path;
            path.replace(path.find("{tenant_id}"), 11, "demo");
            EXPECT_EQ(agent(operation.method, path).status, 403);
        }
    }
}

// max_leverage is a limit, not a way to borrow: spot accounts cannot sell what they do not have.
TEST_F(BotExclusions, NoAgentCanTradeDerivativesOrOnMargin) {
    expect_no_word(
        {"margin", "futur", "deriv", "perpet", "borrow", "option", "leverage", "short", "swap"},
        {"max_leverage"});
    const std::string ids = R"("decision_id":"d1","tick_id":"t1","idempotency_key":"k)";
    int number = 0;
    const auto validate = [&](const std::string& field, const std::string& value) {
        Json intent =
            *parse_json(R"({"symbol":"BTCUSDT","side":"buy","order_type":"limit","qty":"0.001",)"
                        R"("limit_price":"1","time_in_force":"GTC","strategy_id":"external",)"
                        R"("expected_edge_bps":50})");
        intent.set(field, value);
        return agent(
            "POST",
            "/api/demo/tools/py_validate_plan",
            "{" + ids + std::to_string(++number) + R"(","plan":{"intents":[)" + to_text(intent) +
                R"(],"reason":"r"}})");
    };
    for (const std::string type : {"stop", "futures", "margin", "option", "oco", "trailing"}) {
        EXPECT_EQ(validate("order_type", type).status, 422) << type;
    }
    for (const std::string side : {"short", "cover", "borrow"}) {
        EXPECT_EQ(validate("side", side).status, 422) << side;
    }
    for (const std::string field : {"leverage", "margin_mode", "reduce_only", "position_side"}) {
        EXPECT_EQ(validate(field, "1").status, 422) << field;
    }
    for (const std::string symbol : {"BTCUSDTPERP", "BTCUSD250328", "BTCUSDT_PERP"}) {
        const HttpResponse response = validate("symbol", symbol);
        EXPECT_NE(response.body.find("not_in_universe"), std::string::npos) << response.body;
    }
}

TEST_F(BotExclusions, NoAgentCanReplaceItsKeyOrMakeOne) {
    expect_impossible(agent("POST", "/api/demo/account/regenerate-key"), "regenerate");
    expect_impossible(
        agent("POST", "/api/demo/keys", R"({"label":"mine","scopes":["bot"]})"), "create");
    for (const char* id : {"regenerate_key", "create_access_key", "revoke_access_key"}) {
        const Operation* operation = api.world.table().find(id);
        ASSERT_NE(operation, nullptr) << id;
        EXPECT_FALSE(is_open_to_agents(*operation)) << id;
        EXPECT_FALSE(operation->tool.has_value()) << id;
    }
}

// Nothing that an agent may send deletes anything; accounts and tenants cannot be deleted at all.
TEST_F(BotExclusions, NoAgentCanDeleteAnAccount) {
    for (const Operation& operation : api.world.table().all()) {
        const bool deletes = operation.method == "DELETE" || operation.id.starts_with("delete");
        EXPECT_FALSE(deletes && is_open_to_agents(operation)) << operation.id;
        EXPECT_FALSE(operation.method == "DELETE" && operation.path.ends_with("/account"));
        EXPECT_FALSE(operation.method == "DELETE" && operation.path.ends_with("{tenant_id}"));
    }
    for (const std::string path :
         {"/api/demo", "/api/demo/account", "/tenants/demo", "/account", "/account/status"}) {
        expect_impossible(agent("DELETE", path, ""), path);
    }
    expect_impossible(agent("POST", "/api/demo/account/delete"), "delete");
    expect_impossible(agent("POST", "/api/demo/account/plan", R"({"plan":null})"), "end plan");
}

// There is no field in which a host, a path or a signed request of an exchange could stand.
TEST_F(BotExclusions, NoAgentCanCallAnExchangeDirectly) {
    expect_no_word({"url", "host", "endpoint", "proxy", "signature", "recv_window", "webhook"}, {});
    for (const std::string path :
         {"/api/demo/exchange", "/api/demo/proxy", "/api/demo/exchange/api/v3/order"}) {
        expect_impossible(agent("POST", path), path);
    }
}

// Over MCP: the document's names, and of the bot's tools none that is a human's.
TEST_F(BotExclusions, ToolsAreTheEndpointsAndAgentsHaveNoOthers) {
    OperationCatalog catalog(
        {.table = api.world.table(), .tenant_exists = [](const TenantId&) { return true; }});
    Principal key;
    key.kind = PrincipalKind::agent;
    key.id = "key_1";
    key.tenants = {TenantId::trusted("demo")};
    key.scopes = {Scope::bot};
    std::set<std::string> offered;
    for (const McpTool& tool : catalog.tools(key)) {
        offered.insert(tool.name);
    }
    std::set<std::string> wanted{"py_set_kill_switch"};  // Every key can stop its tenant.
    for (const Json& endpoint : BotApi::endpoints_of(api.document())) {
        const std::string id = BotApi::word_at(endpoint, "id");
        if (*endpoint.find("agent_usable") != Json(false) && id != "signup") {
            wanted.insert(BotApi::word_at(endpoint, "mcp_tool"));
        }
    }
    EXPECT_EQ(offered, wanted);
    std::cout << "tools: " << offered.size() << " for a key with the scope bot\n";
}

}  // namespace
}  // namespace interlock
