#include "app/command/approval_call.h"

#include <gtest/gtest.h>

#include "app/wiring/test_server.h"
#include "host/wire/approval.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

Json approval_with(Json payload, std::string_view state = "pending") {
    const std::string hash = *subject_hash_of(payload);
    return Json::object({
        {"approval_id", "apr_1"},
        {"tenant_id", "demo"},
        {"kind", "kill_release"},
        {"state", state},
        {"summary", "Release the kill switch"},
        {"payload", std::move(payload)},
        {"subject_hash", hash},
        {"requested_by", "agent:key_1"},
        {"required", 2},
        {"approvals", Json::array()},
        {"created_at", "2026-11-15T12:00:00.000Z"},
        {"expires_at", "2026-11-15T12:15:00.000Z"},
    });
}

TEST(ApprovalCall, LetsAPendingApprovalBeDecided) {
    EXPECT_TRUE(require_decidable(approval_with(Json::object({{"a", 1}}))).has_value());
}

TEST(ApprovalCall, RefusesToDecideWhatIsDecided) {
    const auto refused = require_decidable(approval_with(Json::object(), "consumed"));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code(), "approval_not_pending");
}

TEST(ApprovalCall, RefusesAPayloadThatIsNotTheOneThatWasHashed) {
    Json approval = approval_with(Json::object({{"limit", "10"}}));
    approval.set("payload", Json::object({{"limit", "1000"}}));
    const auto refused = require_decidable(approval);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code(), "approval_payload_mismatch");
}

TEST(ApprovalCall, ShowsAPayloadThatCannotHideAnything) {
    const std::string text = describe_approval(approval_with(Json::object(
        {{"note",
          "1\xe2\x80\xae"
          "0001"}})));
    EXPECT_TRUE(text.contains("1\\u{202e}0001")) << text;
}

TEST(ApprovalCall, SaysThatAnotherHumanIsNeeded) {
    const Json before = approval_with(Json::object());
    Json after = before;
    after.set("approvals", Json::array({Json::object({{"human_id", "hum_1"}})}));
    EXPECT_TRUE(describe_decision(before, after).contains("1 of 2"));
}

TEST(ApprovalCall, FindsAnApprovalInWhateverTenantItIs) {
    const TempFolder folder;
    const TestServer server(folder.path().string(), [](const HttpRequest& request) {
        if (request.path() == "/tenants") {
            return json_answer(
                200, R"({"tenants":[{"tenant_id":"a"},{"tenant_id":"demo"}],"next_after":null})");
        }
        return request.path() == "/api/demo/approvals/apr_1"
                   ? json_answer(200, to_text(approval_with(Json::object())))
                   : json_answer(404, R"({"error":{"code":"not_found"}})");
    });
    ServerClient client(folder.path().string());
    const auto found = find_approval(client, "apr_1", "");
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(approval_path(*found), "/api/demo/approvals/apr_1");
    const auto missing = find_approval(client, "apr_2", "");
    ASSERT_FALSE(missing.has_value());
    EXPECT_EQ(missing.error().code(), "not_found");
}

}  // namespace
}  // namespace interlock
