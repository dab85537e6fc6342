// Signing up and accounts as operations: what they take, what they answer, who may call them.
#include "bots/face/onboarding_operations.h"

#include <gtest/gtest.h>

#include "bots/wire/bot_endpoints.h"
#include "host/rules/letter_retry.h"
#include "testing/onboarding_desk.h"

namespace interlock {
namespace {

class OnboardingOperations : public ::testing::Test {
protected:
    OnboardingOperations() { register_onboarding_operations(table_, desk_.service()); }

    struct Given {
        std::string body = "{}";
        std::optional<Principal> as = std::nullopt;
        const HttpRequest* http = nullptr;
    };
    Result<ApiReply> call(std::string_view id, Given given) {
        const Operation* operation = table_.find(id);
        EXPECT_NE(operation, nullptr) << id;
        ApiCall call;
        call.principal = given.as.value_or(internal_principal("anyone"));
        if (operation->access.place == Access::Place::tenant) {
            call.tenant_id = tenant_id_;
        }
        call.body = *parse_json(given.body);
        call.http = given.http;
        std::optional<Result<ApiReply>> answer;
        operation->handle(
            std::move(call), [&](Result<ApiReply> reply) { answer = std::move(reply); });
        EXPECT_TRUE(answer);
        return *std::move(answer);
    }
    Json body_of(const Result<ApiReply>& reply) {
        EXPECT_TRUE(reply);
        return reply ? *parse_json(reply->body) : Json::object();
    }
    void own() {
        owner_ = desk_.add_owner();
        tenant_id_ = owner_.tenant_id;
    }

    OnboardingDesk desk_;
    OperationTable table_;
    TenantId tenant_id_ = TenantId::trusted("demo");
    OnboardingDesk::Owner owner_;
};

TEST_F(OnboardingOperations, SignUpAndShowTheKeyOnce) {
    const auto reply = call("signup", {.body = R"({"email":"a@b.example","plan":"trial"})"});
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 201);
    const Json body = body_of(reply);
    EXPECT_EQ(body.find("status")->as_string(), "pending_activation");
    EXPECT_TRUE(desk_.directory.by_access_key(body.find("access_key")->as_string()));
}

TEST_F(OnboardingOperations, NameEveryProblemOfASignup) {
    const auto reply = call("signup", {.body = R"({"email":"a","plan":"b","c":1})"});
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().http_status(), 422);
    EXPECT_EQ(reply.error().problems.size(), 3u);
}

TEST_F(OnboardingOperations, CountSignupsByTheAddressTheyComeFrom) {
    HttpRequest request;
    request.peer_address = "203.0.113.9";
    std::map<int, int> statuses;
    for (int i = 0; i < kSignupsPerPeer + 3; ++i) {
        const std::string body =
            R"({"plan":"trial","email":"a)" + std::to_string(i) + "@b.example\"}";
        const auto reply = call("signup", {.body = body, .http = &request});
        ++statuses[reply ? reply->status : reply.error().http_status()];
    }
    EXPECT_EQ(statuses, (std::map<int, int>{{201, kSignupsPerPeer}, {429, 3}}));
}

TEST_F(OnboardingOperations, TellTheStatusOfAnAccount) {
    own();
    const Json body = body_of(call("account_status", {.as = owner_.human}));
    EXPECT_EQ(body.find("tenant_id")->as_string(), tenant_id_.text());
    EXPECT_EQ(body.find("plan")->as_string(), "standard");
    EXPECT_TRUE(body.find("active")->as_bool());
    EXPECT_TRUE(body.find("trial_expires")->is_string());
}

TEST_F(OnboardingOperations, ReplaceTheKey) {
    own();
    const Json body = body_of(call("regenerate_key", {.as = owner_.human}));
    EXPECT_FALSE(desk_.directory.by_access_key(owner_.access_key));
    EXPECT_TRUE(desk_.directory.by_access_key(body.find("access_key")->as_string()));
    EXPECT_EQ(body.find("replaced_key_id")->as_string(), owner_.key_id.text());
}

TEST_F(OnboardingOperations, GrantAndTakeBack) {
    own();
    const Json given =
        body_of(call("grant_key_provisioning", {.body = R"({"hours":1})", .as = owner_.human}));
    EXPECT_TRUE(given.find("key_grant")->is_object());
    const Json taken = body_of(call("revoke_key_provisioning", {.as = owner_.human}));
    EXPECT_TRUE(taken.find("key_grant")->is_null());
}

TEST_F(OnboardingOperations, SetPlansAndSendLettersAgain) {
    tenant_id_ = desk_.signup()->tenant_id;
    const Principal host = OnboardingDesk::host_operator();
    const Json plan = body_of(call("set_plan", {.body = R"({"plan":"pro"})", .as = host}));
    EXPECT_TRUE(plan.find("trial_expires")->is_null());
    desk_.fire();
    desk_.clock.advance(kResendGap);
    const Json again = body_of(call("resend_activation", {.as = host}));
    EXPECT_EQ(again.find("activation_mail")->as_string(), "due");
}

TEST_F(OnboardingOperations, SetAndListWhichMarketsAKeyMayName) {
    own();
    const std::string body = R"({"assets":["BTCUSDT"],"key_id":")" + owner_.key_id.text() + "\"}";
    const Json set = body_of(call("set_asset_list", {.body = body, .as = owner_.human}));
    EXPECT_EQ(set.find("asset_lists")->items().size(), 1u);
    EXPECT_EQ(body_of(call("list_asset_lists", {.as = owner_.human})), set);
}

// Every field that an answer has is in its schema, and every required one is in the answer.
TEST_F(OnboardingOperations, AnswerWhatTheirSchemasSay) {
    own();
    const Principal host = OnboardingDesk::host_operator();
    const std::map<std::string, Result<ApiReply>> answers{
        {"signup", call("signup", {.body = R"({"email":"c@d.example","plan":"pro"})"})},
        {"account_status", call("account_status", {.as = owner_.human})},
        {"set_plan", call("set_plan", {.body = R"({"plan":null})", .as = host})},
        {"regenerate_key", call("regenerate_key", {.as = owner_.human})},
        {"grant_key_provisioning", call("grant_key_provisioning", {.as = owner_.human})},
        {"revoke_key_provisioning", call("revoke_key_provisioning", {.as = owner_.human})},
        {"list_asset_lists", call("list_asset_lists", {.as = host})},
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

// Ids, methods, paths and who may call are those of bot.md#1-where.
TEST_F(OnboardingOperations, AreThoseOfTheDocument) {
    for (const char* id : {"signup", "account_status", "regenerate_key"}) {
        const BotEndpoint* endpoint = find_bot_endpoint(id);
        const Operation* operation = table_.find(id);
        ASSERT_NE(endpoint, nullptr) << id;
        ASSERT_NE(operation, nullptr) << id;
        EXPECT_EQ(operation->method, endpoint->method);
        const std::string base = endpoint->platform_level ? "" : "/api/{tenant_id}";
        EXPECT_EQ(operation->path, base + std::string(endpoint->path));
        const bool agents = operation->access.anyone || operation->access.agent == Scope::bot;
        EXPECT_EQ(agents, endpoint->agent == AgentUse::yes) << id;
    }
}

TEST_F(OnboardingOperations, LeaveWhatLoosensToPeople) {
    for (const char* id :
         {"regenerate_key",
          "grant_key_provisioning",
          "revoke_key_provisioning",
          "set_asset_list"}) {
        const Operation* operation = table_.find(id);
        EXPECT_TRUE(operation->access.human) << id;
        EXPECT_FALSE(operation->access.host_operator || operation->access.agent) << id;
        EXPECT_FALSE(operation->tool) << id;
    }
    EXPECT_FALSE(table_.find("set_plan")->access.human);
}

}  // namespace
}  // namespace interlock
