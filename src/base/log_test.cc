// Tests of log lines in both formats, and of what redaction hides and lets through.
#include "base/log.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace interlock {
namespace {

constexpr std::string_view kAt = "2026-11-15T07:37:48.123Z";

std::string human(std::string_view event, LogFields fields = {}) {
    return format_log_line({LogLevel::info, event, fields, kAt}, LogFormat::human);
}

std::string json(std::string_view event, LogFields fields = {}) {
    return format_log_line({LogLevel::info, event, fields, kAt}, LogFormat::json);
}

TEST(Log, AHumanLineIsTimeLevelEventAndFields) {
    EXPECT_EQ(
        human("server_ready", {{"address", "127.0.0.1:8420"}, {"tenants", 3}, {"tls", false}}),
        "2026-11-15T07:37:48.123Z info  server_ready address=127.0.0.1:8420 tenants=3 tls=false");
    EXPECT_EQ(
        format_log_line({LogLevel::error, "x", {}, kAt}, LogFormat::human),
        "2026-11-15T07:37:48.123Z error x");
}

TEST(Log, AJsonLineIsOneObject) {
    EXPECT_EQ(
        json("server_ready", {{"address", "127.0.0.1:8420"}, {"tenants", 3}}),
        R"({"at":"2026-11-15T07:37:48.123Z","level":"info","event":"server_ready",)"
        R"("fields":{"address":"127.0.0.1:8420","tenants":3}})");
}

TEST(Log, AFieldCannotPassForThePartsOfALine) {
    const auto line = parse_json(json("x", {{"level", "error"}, {"at", "never"}}));
    ASSERT_TRUE(line.has_value());
    EXPECT_EQ(line->find("level")->as_string(), "info");
    EXPECT_EQ(line->find("at")->as_string(), kAt);
}

TEST(Log, ValuesThatAreNotOneWordAreQuoted) {
    EXPECT_EQ(
        human("x", {{"reason", "two words"}, {"empty", ""}, {"pair", "a=b"}, {"q", "\""}}),
        R"(2026-11-15T07:37:48.123Z info  x reason="two words" empty="" pair="a=b" q="\"")");
    EXPECT_EQ(
        human("x", {{"list", Json::array({1, "a"})}, {"none", Json()}}),
        R"(2026-11-15T07:37:48.123Z info  x list=[1,"a"] none=null)");
}

TEST(Log, NoValueCanForgeALineOrReachTheTerminal) {
    EXPECT_TRUE(rc::check([](const std::string& text) {
        for (const std::string& line : {human(text, {{text, text}}), json(text, {{text, text}})}) {
            for (const char c : line) {
                RC_ASSERT(static_cast<unsigned char>(c) >= 0x20);
            }
            RC_ASSERT(is_valid_utf8(line));
        }
    }));
}

TEST(Log, LongTextsAreCutAtTheirBound) {
    const std::string line = human("x", {{"text", std::string(10'000, 'a')}});
    EXPECT_TRUE(line.ends_with("aaa..."));
    EXPECT_LT(line.size(), 4200u);
    // The cut falls between characters, and a document that was cut is still valid as text.
    const std::string euros = "a" + [] {
        std::string text;
        for (int i = 0; i < 3000; ++i) {
            text += "\xE2\x82\xAC";
        }
        return text;
    }();
    const std::string cut = json("x", {{"text", euros}, {"list", Json::array({euros, euros})}});
    const auto parsed = parse_json(cut);
    ASSERT_TRUE(parsed.has_value());
    EXPECT_EQ(cut.find("\xEF\xBF\xBD"), std::string::npos);
    EXPECT_TRUE(parsed->find("fields")->find("list")->is_string());
    EXPECT_LT(cut.size(), 9000u);
}

TEST(Log, MasksOurCredentialsWhereverTheyStand) {
    EXPECT_EQ(redact("ilk_abc123"), "[masked:interlock_key]");
    EXPECT_EQ(
        redact("key=ilo_A-b_9, again ils_x."),
        "key=[masked:interlock_key], again [masked:interlock_key].");
    EXPECT_EQ(redact("Bearer ilc_0123456789abcdef0123456789"), "Bearer [masked:interlock_key]");
    EXPECT_EQ(redact("{\"k\":\"ilk_abc\"}"), "{\"k\":\"[masked:interlock_key]\"}");
    EXPECT_EQ(redact("q%3Dilk_abcdefghijklmnopqrstuvwx"), "q%3D[masked:interlock_key]");
    EXPECT_EQ(redact("ILK_ABCDEF"), "[masked:interlock_key]");
    EXPECT_EQ(redact("ilk_aailk_bb"), "[masked:interlock_key]");
}

TEST(Log, LeavesOtherTextAlone) {
    for (const char* text :
         {"",
          "il",
          "ilk",
          "ilk_",
          "ilx_abc",
          "details_of_plan",
          "milk_price",
          "silk_road",
          "emails_sent"}) {
        EXPECT_EQ(redact(text), text);
    }
}

TEST(Log, NoTextLeavesWithACredentialInIt) {
    EXPECT_TRUE(rc::check([](const std::string& before, const std::string& after) {
        const std::string secret = "ilk_7q2mzk5v3n4p6r8s9t1w2x3y4z";
        RC_ASSERT(redact(before + secret + after).find("7q2mzk5v") == std::string::npos);
    }));
}

TEST(Log, KnowsTheNamesOfSecrets) {
    for (const char* name :
         {"password",
          "Password",
          "new_password",
          "passwordHash",
          "secret",
          "client_secret",
          "clientSecret",
          "token",
          "interaction_token",
          "upgradeToken",
          "authorization",
          "Authorization",
          "Proxy-Authorization",
          "cookie",
          "Set-Cookie",
          "access_key",
          "accessKey",
          "X-Api-Key",
          "api_key",
          "apikey",
          "private_key",
          "privateKey",
          "secret_key",
          "totp",
          "totp_code",
          "code",
          "one_time_code",
          "recovery_code",
          "credential",
          "seed"}) {
        EXPECT_TRUE(is_secret_name(name)) << name;
    }
}

TEST(Log, KnowsTheNamesThatAreNone) {
    for (const char* name :
         {"",
          "_",
          "address",
          "status_code",
          "error_code",
          "token_id",
          "secret_name",
          "key",
          "public_key",
          "idempotency_key",
          "tenant_id",
          "secretary",
          "encoded",
          "keyboard",
          "access_key_id",
          "token_count"}) {
        EXPECT_FALSE(is_secret_name(name)) << name;
    }
}

TEST(Log, RedactsDocumentsDeeply) {
    const Json document = Json::object({
        {"user", "a"},
        {"password", "hunter2"},
        {"list", Json::array({Json::object({{"token", Json::array({1, 2})}}), "ilk_abc"})},
        {"totp", Json()},
        {"ilk_abcdefghijklmnop", 1},
    });
    EXPECT_EQ(
        to_text(redact(document)),
        R"({"user":"a","password":"[masked:secret]","list":[{"token":"[masked:secret]"},)"
        R"("[masked:interlock_key]"],"totp":null,"[masked:interlock_key]":1})");
}

TEST(Log, FieldsAndEventsAreRedacted) {
    EXPECT_EQ(
        human("login ilk_abc", {{"password", "hunter2"}, {"url", "/x?k=ilk_abcdefghijklmnop"}}),
        R"(2026-11-15T07:37:48.123Z info  "login [masked:interlock_key]" password=[masked:secret] )"
        R"(url="/x?k=[masked:interlock_key]")");
    EXPECT_EQ(
        json("x", {{"headers", Json::object({{"Authorization", "Bearer abc"}})}}).find("abc"),
        std::string::npos);
}

TEST(Log, AnErrorsCodeIsShown) {
    EXPECT_EQ(
        human("relay_notice_not_sent", {{"code", "rate_limited"}}),
        "2026-11-15T07:37:48.123Z info  relay_notice_not_sent code=rate_limited");
    EXPECT_EQ(
        human("x", {{"code", "493817"}}), "2026-11-15T07:37:48.123Z info  x code=[masked:secret]");
}

TEST(Log, WorksBeforeItIsConfiguredAndThenObeys) {
    testing::internal::CaptureStderr();
    log_info("first", {{"n", 1}});
    log_debug("not_shown");
    configure_log({.level = LogLevel::warn, .format = LogFormat::json});
    log_info("not_shown");
    log_error("second", {{"braces", "{}"}});
    configure_log({});
    const std::string written = testing::internal::GetCapturedStderr();

    const std::size_t end = written.find('\n');
    ASSERT_NE(end, std::string::npos);
    EXPECT_EQ(written.substr(24, end - 24), " info  first n=1");
    const auto second = parse_json(written.substr(end + 1));
    ASSERT_TRUE(second.has_value()) << written;
    EXPECT_EQ(second->find("event")->as_string(), "second");
    EXPECT_EQ(second->find("fields")->find("braces")->as_string(), "{}");
    EXPECT_EQ(written.find("not_shown"), std::string::npos);
}

}  // namespace
}  // namespace interlock
