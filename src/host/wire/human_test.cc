#include "host/wire/human.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

Human sample() {
    Human human;
    human.human_id = HumanId::trusted("hum_1");
    human.email = "owner@example.com";
    human.memberships = {TenantId::trusted("_system"), TenantId::trusted("demo")};
    human.password_hash = "$argon2id$secret-hash";
    human.totp_key = "TOTPSECRET";
    human.totp_key_offered = "OFFEREDSECRET";
    human.totp_last_step = 59'824'800;
    human.one_time_code = {std::string(64, 'c'), {1'794'830'400'000'000}};
    human.logins = {.failed = 3, .locked_until = {1'794'744'060'000'000}};
    human.sessions.push_back({
        .session_id = SessionId::trusted("ses_1"),
        .token_hash = std::string(64, 'd'),
        .created_at = {1'794'744'000'000'000},
        .authenticated_at = {1'794'744'001'000'000},
        .expires_at = {1'794'787'200'000'000},
        .failed_proofs = 2,
    });
    human.devices.push_back({
        .token_hash = std::string(64, 'd'),
        .used_at = {1'794'743'500'000'000},
        .logins = {.failed = 2, .locked_until = {1'794'744'070'000'000}},
    });
    human.created_at = {1'794'743'000'000'000};
    return human;
}

TEST(HumanState, ComesBackAsItWasStored) {
    const Json stored = encode_state(sample());

    const auto read = decode_human_state(stored);

    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(encode_state(*read), stored);
    EXPECT_EQ(read->logins, sample().logins);
    EXPECT_EQ(read->sessions.at(0).failed_proofs, 2);
}

TEST(HumanState, KeepsWhatIsAbsentAbsent) {
    Human bare;
    bare.human_id = HumanId::trusted("hum_2");
    bare.email = "a@b";

    const auto read = decode_human_state(encode_state(bare));

    ASSERT_TRUE(read) << read.error().message;
    EXPECT_FALSE(read->is_activated());
    EXPECT_FALSE(read->totp_key);
    EXPECT_FALSE(read->one_time_code);
}

TEST(HumanState, RefusesAnUnknownField) {
    Json stored = encode_state(sample());
    stored.set("colour", "red");

    EXPECT_FALSE(decode_human_state(stored));
}

TEST(Human, ShowsNoSecretAndNoOtherTenant) {
    const std::string shown = to_text(encode(sample()));

    for (const char* hidden : {"argon2id", "SECRET", "cccc", "dddd", "_system", "demo"}) {
        EXPECT_EQ(shown.find(hidden), std::string::npos) << hidden;
    }
}

TEST(Email, IsLowerCased) {
    const auto email = parse_email("Owner@Example.COM");

    ASSERT_TRUE(email);
    EXPECT_EQ(*email, "owner@example.com");
}

TEST(Email, RefusesWhatCannotBeAnAddress) {
    for (const char* text :
         {"", "@", "a@", "@b", "a@b@c", "a b@c", "a@b\n", "a@.b", "a@b.", "<a@b>", "ä@b", "a"}) {
        EXPECT_FALSE(parse_email(text)) << text;
    }
    EXPECT_TRUE(parse_email("owner@localhost"));
}

TEST(Email, HasABound) {
    const std::string domain = "@example.com";
    const std::string longest = std::string(kEmailLengthMax - domain.size(), 'a') + domain;

    EXPECT_TRUE(parse_email(longest));
    EXPECT_FALSE(parse_email("a" + longest));
}

TEST(InviteHuman, RefusesUnknownFields) {
    EXPECT_TRUE(decode_invite_human(Json::object({{"email", "a@b"}})));
    EXPECT_FALSE(decode_invite_human(Json::object({{"email", "a@b"}, {"admin", true}})));
}

TEST(Invitation, ShowsTheCodeAndWhereToUseIt) {
    Invitation invitation{sample(), SecretString("ilc_abc"), "1:0"};

    const Json shown = encode(invitation);

    EXPECT_EQ(shown.find("one_time_code")->as_string(), "ilc_abc");
    EXPECT_EQ(shown.find("activation_path")->as_string(), "/activate?code=ilc_abc");
}

TEST(HumanSchemas, AreObjects) {
    for (const Json& schema :
         {human_schema(), humans_schema(), invite_human_schema(), invitation_schema()}) {
        EXPECT_EQ(schema.find("type")->as_string(), "object");
    }
}

}  // namespace
}  // namespace interlock
