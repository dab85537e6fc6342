#include "host/face/account_operations.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "host/face/authenticate.h"
#include "testing/principal_desk.h"

namespace interlock {
namespace {

const std::string kOwner = "owner@example.com";

class AccountOperations : public ::testing::Test {
protected:
    AccountOperations() {
        const LoggedIn logged_in = desk_.add_tenant_with_human("demo", kOwner);
        human_ = *desk_.holder_of(logged_in.token.reveal());
        register_account_operations(table_, desk_.service());
        http_.method = "POST";
        http_.headers = {{"Host", "localhost:8420"}};
    }

    Result<ApiReply> call(std::string_view id, Json body = {}) {
        const Operation* operation = table_.find(id);
        EXPECT_NE(operation, nullptr) << id;
        ApiCall call;
        call.principal = operation->access.anyone ? internal_principal("anyone") : human_;
        call.body = std::move(body);
        call.http = &http_;
        call.is_own_page = own_.is_same_origin(http_);
        call.is_secure = own_.is_secure(http_);
        std::optional<Result<ApiReply>> answer;
        operation->handle(std::move(call), [&](Result<ApiReply> reply) {
            EXPECT_FALSE(answer);
            answer = std::move(reply);
        });
        EXPECT_TRUE(answer);
        return *std::move(answer);
    }
    static Json login_body() {
        return Json::object({{"email", kOwner}, {"password", PrincipalDesk::kPassword}});
    }
    static std::string cookie_of(const Result<ApiReply>& reply) {
        EXPECT_TRUE(reply);
        for (const auto& [name, value] : reply->headers) {
            if (name == "Set-Cookie") {
                return value;
            }
        }
        return "";
    }
    static std::string token_in(const std::string& cookie) {
        const std::size_t start = cookie.find('=') + 1;
        return cookie.substr(start, cookie.find(';') - start);
    }

    PrincipalDesk desk_;
    OperationTable table_;
    Principal human_;
    HttpRequest http_;
    OwnOrigin own_;
};

TEST_F(AccountOperations, SetACookieThatScriptsAndForeignPagesCannotUse) {
    const auto reply = call("login", login_body());

    const std::string cookie = cookie_of(reply);
    EXPECT_TRUE(cookie.starts_with("interlock_session=ils_"));
    EXPECT_TRUE(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200")) << cookie;
    EXPECT_TRUE(desk_.holder_of(token_in(cookie)));
}

TEST_F(AccountOperations, GiveABrowserACookieThatItIsKnownByAndAProgramNone) {
    const auto device_of = [](const Result<ApiReply>& reply) {
        for (const auto& [name, value] : reply->headers) {
            if (name == "Set-Cookie" && value.starts_with("interlock_device=")) {
                return value;
            }
        }
        return std::string();
    };
    const std::string cookie = device_of(call("login", login_body()));
    EXPECT_TRUE(cookie.starts_with("interlock_device=ild_"));
    EXPECT_TRUE(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/account; Max-Age=31536000"))
        << cookie;
    http_.headers.emplace_back("Cookie", "interlock_device=" + token_in(cookie));
    EXPECT_EQ(device_of(call("login", login_body())), "");  // It has one.
    http_.headers.pop_back();
    Json body = login_body();
    body.set("want_token", true);
    EXPECT_EQ(device_of(call("login", std::move(body))), "");
}

TEST_F(AccountOperations, LetAKnownBrowserInWhileStrangersKeepTheAccountShut) {
    const std::string device = [&] {
        const auto reply = call("login", login_body());
        for (const auto& [name, value] : reply->headers) {
            if (value.starts_with("interlock_device=")) {
                return token_in(value);
            }
        }
        return std::string();
    }();
    Json wrong = login_body();
    wrong.set("password", "a wrong password");
    for (int i = 0; i < 5; ++i) {
        EXPECT_FALSE(call("login", wrong));
    }
    EXPECT_EQ(call("login", login_body()).error().http_status(), 429);

    http_.headers.emplace_back("Cookie", "a=b; interlock_device=" + device);
    EXPECT_TRUE(call("login", login_body()));
}

TEST_F(AccountOperations, MarkTheCookieSecureUnderTls) {
    http_.tls = true;

    EXPECT_TRUE(cookie_of(call("login", login_body())).ends_with("; Secure"));
}

TEST_F(AccountOperations, WorkBehindAProxyThatEndsTls) {
    own_ = OwnOrigin("https://desk.example");
    http_.headers = {{"Host", "desk.example"}, {"Origin", "https://desk.example"}};
    EXPECT_TRUE(cookie_of(call("login", login_body())).ends_with("; Secure"));
    http_.headers[1].second = "https://evil.example";
    EXPECT_EQ(call("login", login_body()).error().code(), "cross_origin");
}

TEST_F(AccountOperations, MakeACookieThatAuthenticates) {
    HttpRequest next;
    next.method = "GET";
    next.headers = {
        {"Cookie", "interlock_session=" + token_in(cookie_of(call("login", login_body())))}};

    const auto caller = authenticate(next, desk_.directory, desk_.clock.now());

    ASSERT_TRUE(caller.principal);
    EXPECT_EQ(caller.principal->id, human_.id);
}

TEST_F(AccountOperations, KeepTheTokenOutOfTheBodyUnlessAskedFor) {
    const auto reply = call("login", login_body());
    EXPECT_EQ(reply->body.find("ils_"), std::string::npos);

    Json body = login_body();
    body.set("want_token", true);
    const auto with_token = call("login", std::move(body));

    EXPECT_EQ(
        parse_json(with_token->body)->find("token")->as_string(), token_in(cookie_of(with_token)));
}

TEST_F(AccountOperations, RefuseALoginThatAForeignPageMade) {
    http_.headers.emplace_back("Origin", "https://evil.example");

    for (const char* id : {"login", "activate"}) {
        const auto reply = call(id, login_body());
        ASSERT_FALSE(reply);
        EXPECT_EQ(reply.error().code(), "cross_origin");
    }
}

TEST_F(AccountOperations, TakeALoginFromTheirOwnPage) {
    http_.headers.emplace_back("Origin", "http://localhost:8420");

    EXPECT_TRUE(call("login", login_body()));
}

TEST_F(AccountOperations, RefuseUnknownFields) {
    Json body = login_body();
    body.set("remember_me", true);

    const auto reply = call("login", std::move(body));

    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code(), "invalid_request");
}

TEST_F(AccountOperations, ActivateAnInvitation) {
    auto invitation = desk_.ask<Invitation>(
        &PrincipalService::invite_human,
        PrincipalService::Caller{human_, TenantId::trusted("demo")},
        InviteHuman{"second@example.com", false});
    ASSERT_TRUE(invitation);

    const auto reply = call(
        "activate",
        Json::object(
            {{"code", invitation->code->reveal()}, {"password", "another long password"}}));

    EXPECT_TRUE(desk_.holder_of(token_in(cookie_of(reply))));
}

TEST_F(AccountOperations, ClearTheCookieOnLogout) {
    const auto reply = call("logout");

    EXPECT_TRUE(cookie_of(reply).starts_with("interlock_session=; "));
    EXPECT_NE(cookie_of(reply).find("Max-Age=0"), std::string::npos);
    EXPECT_FALSE(call("get_session"));
}

TEST_F(AccountOperations, ShowTheSession) {
    const auto reply = call("get_session");

    ASSERT_TRUE(reply);
    EXPECT_EQ(parse_json(reply->body)->find("email")->as_string(), kOwner);
}

TEST_F(AccountOperations, ProveAgainAndChangeThePassword) {
    EXPECT_TRUE(call("reauthenticate", Json::object({{"password", PrincipalDesk::kPassword}})));
    EXPECT_TRUE(call(
        "change_password",
        Json::object(
            {{"old_password", PrincipalDesk::kPassword},
             {"new_password", "an entirely new password"}})));
    EXPECT_FALSE(call("login", login_body()));
}

TEST_F(AccountOperations, SetUpAndDropASecondFactor) {
    const auto enrolment = call("enrol_totp");
    ASSERT_TRUE(enrolment);
    const Json shown = *parse_json(enrolment->body);
    const std::string code = totp_code(
        *from_base32(shown.find("key")->as_string()), desk_.clock.now().microseconds / 1'000'000);

    EXPECT_TRUE(call("confirm_totp", Json::object({{"totp", code}})));
    EXPECT_FALSE(call("login", login_body()));
    EXPECT_TRUE(call("disable_totp", Json::object({{"password", PrincipalDesk::kPassword}})));
    EXPECT_TRUE(call("login", login_body()));
}

TEST_F(AccountOperations, AreForHumansOnlyButTheThreeEntrances) {
    for (const Operation& operation : table_.all()) {
        const bool entrance = operation.id == "login" || operation.id == "activate" ||
                              operation.id == "recover_login";
        EXPECT_EQ(operation.access.anyone, entrance) << operation.id;
        EXPECT_EQ(operation.access.human, !entrance) << operation.id;
        EXPECT_FALSE(operation.access.host_operator) << operation.id;
        EXPECT_FALSE(operation.access.agent_with_any_scope || operation.access.agent)
            << operation.id;
        EXPECT_FALSE(operation.tool) << operation.id;
    }
    EXPECT_EQ(table_.all().size(), 11u);
}

}  // namespace
}  // namespace interlock
