#include "app/face/agent_operations.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "bots/wire/bot_endpoints.h"

namespace interlock {
namespace {

const std::string kBase = "https://bots.example.com";

Operation operation_of(std::string id) {
    Operation operation;
    operation.method = "POST";
    operation.path = "/api/{tenant_id}/" + id;
    operation.id = std::move(id);
    operation.summary = "Does it.";
    operation.description = "Once.";
    operation.access = {.agent = Scope::bot};
    operation.request_schema = Json::object({{"type", "object"}, {"additionalProperties", false}});
    operation.tool = ToolHints{.idempotent = true};
    return operation;
}

class AgentOperations : public ::testing::Test {
protected:
    ApiReply get(std::string_view id) {
        const Operation* operation = table_.find(id);
        CHECK(operation != nullptr && operation->access.anyone);
        std::optional<ApiReply> got;
        operation->handle({}, [&](Result<ApiReply> reply) { got = reply.value(); });
        return got.value();
    }
    // The row of a tool in the catalogue; null when there is none.
    Json row(std::string_view id) const {
        const Json catalog = tool_catalog(table_);
        for (const Json& tool : catalog.find("tools")->items()) {
            if (tool.find("id")->as_string() == id) {
                return tool;
            }
        }
        return {};
    }

    OperationTable table_;
};

TEST_F(AgentOperations, ServesTheAgentSchemaWithItsOwnAddress) {
    register_agent_operations(table_, kBase);
    const ApiReply reply = get("agent_schema");
    EXPECT_EQ(reply.content_type, "application/json");
    EXPECT_EQ(reply.body, to_text(agent_schema(kBase)));
    EXPECT_NE(reply.body.find(kBase + "/{access_key}"), std::string::npos);
}

TEST_F(AgentOperations, TellsModelsWhereTheDocumentsAre) {
    register_agent_operations(table_, kBase);
    const ApiReply reply = get("llms_text");
    EXPECT_TRUE(reply.content_type.starts_with("text/plain"));
    EXPECT_TRUE(reply.body.starts_with("# Interlock"));
    for (const char* part : {"## Planner", "## Supervisor", "## Bot", "## Gateway", "## Reads"}) {
        EXPECT_NE(reply.body.find(part), std::string::npos) << part;
    }
    // The words without which a planner cannot begin.
    for (const char* word : {"strategy_ids", "external", "allowed_envelope", "hints"}) {
        EXPECT_NE(reply.body.find(word), std::string::npos) << word;
    }
    for (const Operation& operation : table_.all()) {
        if (operation.path.starts_with("/ai/")) {
            EXPECT_NE(reply.body.find(kBase + operation.path), std::string::npos) << operation.path;
        }
    }
}

TEST_F(AgentOperations, AToolIsListedWithWhatAnAgentNeedsToCallIt) {
    table_.add(operation_of("do_it"));
    const Json tool = row("do_it");
    ASSERT_FALSE(tool.is_null());
    EXPECT_EQ(*tool.find("agent_usable"), Json(true));
    EXPECT_EQ(*tool.find("approval"), Json("none"));
    EXPECT_EQ(*tool.find("scope"), Json("bot"));
    EXPECT_EQ(*tool.find("mcp"), Json(true));
    EXPECT_EQ(*tool.find("input_schema")->find("type"), Json("object"));
    EXPECT_EQ(*tool.find("annotations")->find("idempotentHint"), Json(true));
}

TEST_F(AgentOperations, WhatNoAgentMayCallIsNotListed) {
    Operation page = operation_of("page");
    page.tool.reset();
    page.access = {.human = true};
    table_.add(std::move(page));
    register_agent_operations(table_, kBase);
    EXPECT_EQ(get("tool_catalog").body, R"({"tools":[]})");
}

TEST_F(AgentOperations, ACallThatMayBecomeAProposalSaysSo) {
    Operation change = operation_of("change_limits");
    change.tool.reset();
    change.statuses = {200, 202};
    table_.add(std::move(change));
    EXPECT_EQ(*row("change_limits").find("approval"), Json("may_be_required"));
    EXPECT_EQ(*row("change_limits").find("mcp"), Json(false));
}

TEST_F(AgentOperations, TheBotPlatformsCallsSayWhatTheSchemaSays) {
    for (const char* id : {"status", "regenerate_key", "update_pnl", "update_exchange_keys"}) {
        Operation operation = operation_of(id);
        operation.tool.reset();  // Listed even so: an agent is to know that it may not.
        table_.add(std::move(operation));
    }
    EXPECT_EQ(*row("status").find("agent_usable"), Json(true));
    EXPECT_EQ(*row("status").find("approval"), Json("none"));
    EXPECT_EQ(*row("regenerate_key").find("agent_usable"), Json(false));
    EXPECT_EQ(*row("regenerate_key").find("approval"), Json("required"));
    EXPECT_EQ(*row("update_pnl").find("agent_usable"), Json("proposal_only"));
    EXPECT_EQ(*row("update_pnl").find("approval_reason"), Json("Risk parameter change"));
    EXPECT_EQ(*row("update_exchange_keys").find("agent_usable"), Json("conditional"));
}

TEST_F(AgentOperations, TheDocumentsAreNoToolsThemselves) {
    register_agent_operations(table_, kBase);
    for (const Operation& operation : table_.all()) {
        EXPECT_FALSE(operation.tool) << operation.id;
    }
}

}  // namespace
}  // namespace interlock
