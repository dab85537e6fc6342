// Getting back in through the face, as a browser or a command meets it (principals.md 8).
#include <gtest/gtest.h>

#include "host/face/account_operations.h"
#include "host/face/http_face.h"
#include "host/face/human_operations.h"
#include "host/face/key_operations.h"
#include "host/rules/recovery_policy.h"
#include "testing/fake_http.h"
#include "testing/principal_desk.h"

namespace interlock {
namespace {

const std::string kOwner = "owner@example.com";
const std::string kNew = "a password that is new";

class RecoveryOperations : public ::testing::Test {
protected:
    RecoveryOperations() : owner_(desk_.add_tenant_with_human("demo", kOwner)) {
        register_account_operations(table_, desk_.service());
        register_human_operations(table_, desk_.service());
        register_key_operations(table_, desk_.service());
    }

    struct Sent {
        std::string call;  // "POST /path"
        Json body = {};
        std::string token = {};
        std::string origin = {};
    };
    HttpResponse send(const Sent& sent) {
        HttpFace face(
            {.table = table_,
             .directory = desk_.directory,
             .clock = desk_.clock,
             .metrics = metrics_,
             .mcp = {}},
            {});
        HttpRequest request;
        const std::size_t space = sent.call.find(' ');
        request.method = sent.call.substr(0, space);
        request.target = sent.call.substr(space + 1);
        request.headers = {{"Host", "localhost:8420"}};
        request.peer_address = "203.0.113.7";
        if (!sent.token.empty()) {
            request.headers.emplace_back("Authorization", "Bearer " + sent.token);
        }
        if (!sent.origin.empty()) {
            request.headers.emplace_back("Origin", sent.origin);
        }
        request.body = sent.body.is_null() ? "" : to_text(sent.body);
        const auto responder = std::make_shared<FakeResponder>();
        face.handle(std::move(request), responder);
        EXPECT_TRUE(responder->response) << sent.call;
        return responder->response.value_or(HttpResponse{});
    }
    HttpResponse recover(const std::string& email, std::string_view code, std::string origin = {}) {
        return send(
            {.call = "POST /account/recover",
             .body = Json::object(
                 {{"email", email}, {"code", code}, {"password", kNew}, {"want_token", true}}),
             .origin = std::move(origin)});
    }
    std::string recovered_token() {
        const HttpResponse back = recover(kOwner, owner_.codes.codes[0].reveal());
        EXPECT_EQ(back.status, 200) << back.body;
        return parse_json(back.body)->find("token")->as_string();
    }
    static std::string code_of(const HttpResponse& response) {
        const auto json = parse_json(response.body);
        const Json* error = json ? json->find("error") : nullptr;
        return error == nullptr ? "" : error->find("code")->as_string();
    }
    std::string recovery_path() const {
        return "/api/demo/humans/" + owner_.info.human_id.text() + "/recovery";
    }

    PrincipalDesk desk_;
    LoggedIn owner_;
    OperationTable table_;
    Metrics metrics_;
};

TEST_F(RecoveryOperations, ACodeSetsTheCookieAndShowsANewSet) {
    const HttpResponse back = recover(kOwner, owner_.codes.codes[0].reveal());

    EXPECT_EQ(back.status, 200);
    EXPECT_TRUE(back.header("Set-Cookie")->starts_with("interlock_session=ils_"));
    const Json body = *parse_json(back.body);
    EXPECT_EQ(body.find("recovery_codes")->items().size(), kRecoveryCodesMax);
    EXPECT_TRUE(body.find("vote_rests_until")->is_string());
}

TEST_F(RecoveryOperations, RefusalsAreTheSameBytesForKnownAndUnknown) {
    const HttpResponse wrong = recover(kOwner, "ilr-aaaa-aaaa-aaaa-aaaa-aaaa");
    const HttpResponse unknown = recover("nobody@example.com", "ilr-aaaa-aaaa-aaaa-aaaa-aaaa");

    EXPECT_EQ(wrong.status, 401);
    EXPECT_EQ(unknown.body, wrong.body);
    EXPECT_EQ(unknown.status, wrong.status);
}

TEST_F(RecoveryOperations, AForeignPageCannotRecover) {
    const HttpResponse refused =
        recover(kOwner, owner_.codes.codes[0].reveal(), "https://evil.example");

    EXPECT_EQ(code_of(refused), "cross_origin");
    EXPECT_TRUE(desk_.holder_of(owner_.token.reveal()));
}

TEST_F(RecoveryOperations, AVoteThatRestsGivesNothingAndStillLooksAndTakesBack) {
    const HttpResponse key = send(
        {.call = "POST /api/demo/keys",
         .body = Json::object({{"label", "x"}, {"scopes", Json::array({"read"})}}),
         .token = std::string(owner_.token.reveal())});
    const std::string key_id = parse_json(key.body)->find("key_id")->as_string();
    const std::string token = recovered_token();
    const Json friend_of_a_thief = Json::object({{"email", "friend@example.com"}});

    const HttpResponse invite =
        send({.call = "POST /api/demo/humans", .body = friend_of_a_thief, .token = token});
    EXPECT_EQ(invite.status, 403);
    EXPECT_EQ(code_of(invite), "vote_rests");
    EXPECT_NE(invite.body.find(to_text(desk_.clock.now() + kVoteRest)), std::string::npos)
        << "it says until when";
    EXPECT_EQ(
        code_of(send(
            {.call = "POST /api/demo/keys",
             .body = Json::object({{"label", "y"}, {"scopes", Json::array({"read"})}}),
             .token = token})),
        "vote_rests");
    EXPECT_EQ(send({.call = "GET /api/demo/humans", .token = token}).status, 200);
    EXPECT_EQ(send({.call = "DELETE /api/demo/keys/" + key_id, .token = token}).status, 200);
    EXPECT_EQ(send({.call = "POST /account/recovery-codes", .token = token}).status, 200);

    desk_.clock.advance(kVoteRest);
    const HttpResponse login = send(
        {.call = "POST /account/login",
         .body = Json::object({{"email", kOwner}, {"password", kNew}, {"want_token", true}})});
    const std::string later = parse_json(login.body)->find("token")->as_string();
    EXPECT_EQ(
        send({.call = "POST /api/demo/humans", .body = friend_of_a_thief, .token = later}).status,
        201);
}

TEST_F(RecoveryOperations, AnObjectionIsOneCallOfAnybodyLoggedIn) {
    const std::string host(PrincipalDesk::kOperatorToken);
    const HttpResponse started = send(
        {.call = "POST " + recovery_path(),
         .body = Json::object({{"show_code", true}, {"reason", "lost it"}}),
         .token = host});
    EXPECT_EQ(started.status, 201) << started.body;
    const Json notice = *parse_json(started.body);
    EXPECT_EQ(notice.find("state")->as_string(), "waiting");
    const std::string code = notice.find("code")->as_string();
    EXPECT_EQ(code_of(recover(kOwner, code)), "recovery_waits");
    const std::string token(owner_.token.reveal());
    const HttpResponse session = send({.call = "GET /account/session", .token = token});
    EXPECT_NE(session.body.find("\"reason\":\"lost it\""), std::string::npos);

    EXPECT_EQ(send({.call = "DELETE " + recovery_path(), .token = token}).status, 200);

    EXPECT_EQ(
        code_of(send({.call = "DELETE " + recovery_path(), .token = token})), "recovery_not_open");
    EXPECT_EQ(code_of(recover(kOwner, code)), "unauthenticated");
}

TEST_F(RecoveryOperations, RefuseAHumanIdThatIsNoneAndFieldsThatAreUnknown) {
    const std::string host(PrincipalDesk::kOperatorToken);
    EXPECT_EQ(
        send({.call = "POST /api/demo/humans/hum_none/recovery",
              .body = Json::object(),
              .token = host})
            .status,
        404);
    EXPECT_EQ(
        code_of(send(
            {.call = "POST " + recovery_path(),
             .body = Json::object({{"delay", 0}}),
             .token = host})),
        "invalid_request");
}

}  // namespace
}  // namespace interlock
