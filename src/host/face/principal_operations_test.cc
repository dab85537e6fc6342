// Tenants, keys and humans as operations: what they take, what they answer, who may call them.
#include <gtest/gtest.h>

#include "host/face/human_operations.h"
#include "host/face/key_operations.h"
#include "host/face/tenant_operations.h"
#include "testing/principal_desk.h"

namespace interlock {
namespace {

class PrincipalOperations : public ::testing::Test {
protected:
    PrincipalOperations() {
        register_tenant_operations(table_, desk_.service());
        register_key_operations(table_, desk_.service());
        register_human_operations(table_, desk_.service());
    }

    struct Given {
        Json body;
        std::map<std::string, std::string> path;
        std::map<std::string, std::string> query;
    };
    Result<ApiReply> call(std::string_view id, Given given = {}) {
        const Operation* operation = table_.find(id);
        EXPECT_NE(operation, nullptr) << id;
        ApiCall call;
        call.principal = PrincipalDesk::host_operator();
        if (operation->access.place == Access::Place::tenant) {
            call.tenant_id = TenantId::trusted("demo");
        }
        call.body = std::move(given.body);
        call.path = std::move(given.path);
        call.query = std::move(given.query);
        std::optional<Result<ApiReply>> answer;
        operation->handle(
            std::move(call), [&](Result<ApiReply> reply) { answer = std::move(reply); });
        EXPECT_TRUE(answer);
        return *std::move(answer);
    }
    Result<ApiReply> create_tenant() {
        return call(
            "create_tenant",
            {.body = Json::object({{"tenant_id", "demo"}, {"name", "Demo"}}),
             .path = {},
             .query = {}});
    }
    Result<ApiReply> create_key() {
        return call(
            "create_access_key",
            {.body = Json::object({{"label", "bot"}, {"scopes", Json::array({"read"})}}),
             .path = {},
             .query = {}});
    }
    static Json body_of(const Result<ApiReply>& reply) {
        EXPECT_TRUE(reply);
        return *parse_json(reply->body);
    }

    PrincipalDesk desk_;
    OperationTable table_;
};

TEST_F(PrincipalOperations, MakeAndListTenants) {
    EXPECT_EQ(create_tenant()->status, 201);
    EXPECT_EQ(create_tenant()->status, 200);

    const Json listed = body_of(call("list_tenants", {{}, {}, {{"limit", "5"}}}));

    EXPECT_EQ(listed.find("tenants")->items().size(), 1u);
    const Json after = body_of(call("list_tenants", {{}, {}, {{"after", "demo"}}}));
    EXPECT_TRUE(after.find("tenants")->items().empty());
}

TEST_F(PrincipalOperations, RefuseATenantIdThatIsNone) {
    const auto reply = call(
        "create_tenant",
        {.body = Json::object({{"tenant_id", "_system"}, {"name", "x"}}), .path = {}, .query = {}});

    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code(), "invalid_request");
}

TEST_F(PrincipalOperations, MakeListAndRevokeAKey) {
    create_tenant();
    const auto made = create_key();
    EXPECT_EQ(made->status, 201);
    const Json key = body_of(made);
    EXPECT_TRUE(desk_.directory.by_access_key(key.find("access_key")->as_string()));
    EXPECT_EQ(body_of(call("list_access_keys")).find("keys")->items().size(), 1u);

    const auto revoked =
        call("revoke_access_key", {{}, {{"key_id", key.find("key_id")->as_string()}}, {}});

    EXPECT_TRUE(body_of(revoked).find("revoked_at")->is_string());
    EXPECT_FALSE(desk_.directory.by_access_key(key.find("access_key")->as_string()));
}

TEST_F(PrincipalOperations, AnswerNotFoundForAKeyThatIsNone) {
    create_tenant();

    const auto reply = call("revoke_access_key", {{}, {{"key_id", "key_none"}}, {}});

    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().http_status(), 404);
}

TEST_F(PrincipalOperations, InviteAndListHumans) {
    create_tenant();

    const auto invited = call(
        "invite_human",
        {.body = Json::object({{"email", "Owner@Example.com"}}), .path = {}, .query = {}});

    EXPECT_EQ(invited->status, 201);
    const Json invitation = body_of(invited);
    EXPECT_EQ(
        invitation.find("activation_path")->as_string(),
        "/activate?code=" + invitation.find("one_time_code")->as_string());
    const Json humans = body_of(call("list_humans"));
    ASSERT_EQ(humans.find("humans")->items().size(), 1u);
    EXPECT_EQ(humans.find("humans")->items()[0].find("email")->as_string(), "owner@example.com");
}

// Every field that an answer has is in its schema, and every required one is in the answer.
TEST_F(PrincipalOperations, AnswerWhatTheirSchemasSay) {
    create_tenant();
    const std::map<std::string, Result<ApiReply>> answers{
        {"create_tenant", create_tenant()},
        {"list_tenants", call("list_tenants")},
        {"create_access_key", create_key()},
        {"list_access_keys", call("list_access_keys")},
        {"invite_human",
         call(
             "invite_human",
             {.body = Json::object({{"email", "a@b.example"}}), .path = {}, .query = {}})},
        {"list_humans", call("list_humans")},
    };
    for (const auto& [id, answer] : answers) {
        const Json body = body_of(answer);
        const Json& schema = table_.find(id)->answer_schema;
        for (const auto& [key, value] : body.members()) {
            EXPECT_NE(schema.find("properties")->find(key), nullptr) << id << " " << key;
        }
        for (const Json& key : schema.find("required")->items()) {
            EXPECT_NE(body.find(key.as_string()), nullptr) << id << " " << key.as_string();
        }
    }
}

TEST_F(PrincipalOperations, AreNeverForAgents) {
    EXPECT_EQ(table_.all().size(), 9u);
    for (const Operation& operation : table_.all()) {
        EXPECT_FALSE(operation.tool) << operation.id;
        EXPECT_FALSE(operation.access.anyone) << operation.id;
        EXPECT_FALSE(operation.access.agent || operation.access.agent_with_any_scope)
            << operation.id;
    }
}

TEST_F(PrincipalOperations, LeaveTenantsToTheOperator) {
    for (const char* id : {"create_tenant", "list_tenants"}) {
        EXPECT_TRUE(table_.find(id)->access.host_operator);
        EXPECT_FALSE(table_.find(id)->access.human);
    }
}

}  // namespace
}  // namespace interlock
