// Tests of the door of secrets: what a caller's words and ids may carry into the server.
#include "host/face/call_arguments.h"

#include <gtest/gtest.h>

#include "base/redaction.h"

namespace interlock {
namespace {

// Built here, so that no file of ours holds anything that looks like a key.
std::string vendor_key() {
    return std::string("gh") + "p_" + "Zk3Qw9Lm2Xv7Tb5Rn8Yc4Hd6Jf1Gs0Pa3We5";
}

Operation operation(std::string id = "probe") {
    Operation made;
    made.id = std::move(id);
    made.request_schema = parse_json(R"({"type": "object", "properties": {
        "note": {"type": "string"}, "tick_id": {"type": "string"},
        "password": {"type": "string", "writeOnly": true}, "totp": {"type": "string"}}})")
                              .value();
    return made;
}

ApiCall call_with(Json body) {
    ApiCall call;
    call.body = std::move(body);
    return call;
}

TEST(SecretDoor, FreeTextIsMaskedAsDeepAsItGoes) {
    ApiCall call = call_with(Json::object(
        {{"note", "use " + vendor_key() + " now"},
         {"record", Json::object({{"list", Json::array({"password: hunter2xyz", 7})}})}}));
    ASSERT_TRUE(judge_secrets(operation(), call));
    EXPECT_EQ(
        to_text(call.body),
        R"({"note":"use [masked:github_token] now",)"
        R"("record":{"list":["password: [masked:secret]",7]}})");
}

TEST(SecretDoor, AnIdWithTheShapeOfAKeyIsRefusedAndNotRepeated) {
    for (const char* name : {"tick_id", "idempotency_key", "gatewayId", "wake_url"}) {
        ApiCall call = call_with(Json::object({{name, vendor_key()}}));
        const auto judged = judge_secrets(operation(), call);
        ASSERT_FALSE(judged) << name;
        EXPECT_EQ(judged.error().code(), "looks_like_secret");
        EXPECT_FALSE(judged.error().retryable());
        ASSERT_EQ(judged.error().problems.size(), 1u);
        EXPECT_EQ(judged.error().problems[0].path, name);
        EXPECT_EQ(judged.error().problems[0].problem.find("Zk3Qw9"), std::string::npos);
    }
}

TEST(SecretDoor, IdsInListsInObjectsAndAsNamesAreJudgedToo) {
    for (const Json& body :
         {Json::object({{"order_client_ids", Json::array({"a", vendor_key()})}}),
          Json::object({{"plan", Json::object({{"strategy_id", vendor_key()}})}}),
          Json::object({{"metadata", Json::object({{vendor_key(), 1}})}}),
          Json(vendor_key())}) {
        ApiCall call = call_with(body);
        EXPECT_FALSE(judge_secrets(operation(), call)) << to_text(body);
    }
    ApiCall in_path;
    in_path.path["decision_id"] = vendor_key();
    EXPECT_FALSE(judge_secrets(operation(), in_path));
}

TEST(SecretDoor, OrdinaryIdsAreLeftAlone) {
    Json body = Json::object(
        {{"tick_id", "Zk3Qw9Lm2Xv7Tb5Rn8Yc4Hd6Jf1Gs0Pa3We5"},
         {"decision_id", "123e4567-e89b-12d3-a456-426614174000"},
         {"subject_hash", std::string(64, 'a')},
         {"wake_url", "https://gateway.example.org/wake?x=1"}});
    ApiCall call = call_with(body);
    ASSERT_TRUE(judge_secrets(operation(), call));
    EXPECT_EQ(call.body, body);
}

TEST(SecretDoor, SecretsThatAreAskedForComeThrough) {
    Json body = Json::object({{"password", "hunter2hunter2"}, {"totp", "123456"}});
    ApiCall call = call_with(body);
    ASSERT_TRUE(judge_secrets(operation(), call));
    EXPECT_EQ(call.body, body);
    // The same names where nobody asked for them.
    ApiCall nested = call_with(Json::object({{"record", body}}));
    ASSERT_TRUE(judge_secrets(operation(), nested));
    EXPECT_EQ(
        to_text(nested.body),
        R"({"record":{"password":"[masked:secret]","totp":"[masked:secret]"}})");
}

TEST(SecretDoor, NobodyIsKeptFromStoppingByAnId) {
    ApiCall call = call_with(
        Json::object({{"active", true}, {"decision_id", vendor_key()}, {"reason", vendor_key()}}));
    ASSERT_TRUE(judge_secrets(operation("set_kill_switch"), call));
    const std::string text = to_text(call.body);
    EXPECT_EQ(text.find("Zk3Qw9"), std::string::npos) << text;
    EXPECT_TRUE(call.body.find("decision_id")->as_string().starts_with("hidden_"));
    EXPECT_EQ(call.body.find("reason")->as_string(), "[masked:github_token]");
}

}  // namespace
}  // namespace interlock
