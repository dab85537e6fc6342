#include "host/wire/account.h"

#include <gtest/gtest.h>

#include "base/crypto.h"

namespace interlock {
namespace {

TEST(LoginRequest, LowerCasesTheEmail) {
    const auto read = decode_login(Json::object({{"email", "A@B"}, {"password", "pw"}}));

    ASSERT_TRUE(read);
    EXPECT_EQ(read->email, "a@b");
    EXPECT_EQ(read->password.reveal(), "pw");
    EXPECT_FALSE(read->want_token);
}

TEST(LoginRequest, RefusesUnknownFieldsAndOverlongPasswords) {
    EXPECT_FALSE(
        decode_login(Json::object({{"email", "a@b"}, {"password", "pw"}, {"remember", true}})));
    EXPECT_TRUE(decode_login(
        Json::object({{"email", "a@b"}, {"password", std::string(kPasswordBytesMax, 'x')}})));
    EXPECT_FALSE(decode_login(
        Json::object({{"email", "a@b"}, {"password", std::string(kPasswordBytesMax + 1, 'x')}})));
}

TEST(LoginRequest, NeverRepeatsThePasswordInAProblem) {
    const auto read = decode_login(Json::object({{"email", 7}, {"password", "hunter2hunter2"}}));

    ASSERT_FALSE(read);
    for (const FieldProblem& problem : read.error().problems) {
        EXPECT_EQ(problem.problem.find("hunter2"), std::string::npos);
    }
}

TEST(ReauthenticateRequest, TakesExactlyOneProof) {
    EXPECT_TRUE(decode_reauthenticate(Json::object({{"password", "pw"}})));
    EXPECT_TRUE(decode_reauthenticate(Json::object({{"totp", "123456"}})));
    EXPECT_FALSE(decode_reauthenticate(Json::object()));
    EXPECT_FALSE(decode_reauthenticate(Json::object({{"password", "pw"}, {"totp", "123456"}})));
}

TEST(LoggedIn, ShowsTheTokenOnlyWhenAsked) {
    const LoggedIn logged_in{{}, SecretString("ils_token")};

    EXPECT_EQ(to_text(encode(logged_in, false)).find("ils_token"), std::string::npos);
    EXPECT_EQ(encode(logged_in, true).find("token")->as_string(), "ils_token");
}

TEST(TotpEnrolment, GivesAUriForAuthenticatorApps) {
    const auto enrolment = enrolment_of("owner@example.com", SecretString("GEZDGNBV"));

    EXPECT_EQ(
        enrolment.uri.reveal(),
        "otpauth://totp/Interlock:owner%40example.com?secret=GEZDGNBV&issuer=Interlock"
        "&algorithm=SHA1&digits=6&period=30");
}

TEST(AccountSchemas, RefuseUnknownFieldsInRequests) {
    for (const Json& schema :
         {login_schema(),
          activate_schema(),
          reauthenticate_schema(),
          change_password_schema(),
          confirm_totp_schema(),
          disable_totp_schema()}) {
        ASSERT_NE(schema.find("additionalProperties"), nullptr);
        EXPECT_FALSE(schema.find("additionalProperties")->as_bool());
    }
}

TEST(AccountSchemas, DescribeTheAnswers) {
    for (const Json& schema :
         {session_info_schema(), logged_in_schema(), totp_enrolment_schema()}) {
        EXPECT_EQ(schema.find("type")->as_string(), "object");
    }
}

}  // namespace
}  // namespace interlock
