#include "bots/wire/onboarding_row.h"

#include <gtest/gtest.h>

#include "bots/wire/account_view.h"
#include "bots/wire/bot_endpoints.h"

namespace interlock {
namespace {

OnboardingRow full_row() {
    SignupFacts signup;
    signup.email = "a@b.example";
    signup.human_id = HumanId::trusted("hum_1");
    signup.requested_plan = PlanName::pro;
    signup.agent_metadata = Json::object({{"model", "m"}});
    signup.at = {1'000'000};
    signup.peer = "203.0.113.7";
    signup.plan = PlanName::standard;
    signup.trial_expires = Timestamp{2'000'000};
    signup.is_active = false;
    signup.activated_at = Timestamp{3'000'000};
    signup.mail = {MailState::failed, 6, 9, Timestamp{4'000'000}, "mail_refused"};
    OnboardingRow row;
    row.signup = signup;
    row.key_id = KeyId::trusted("key_1");
    row.key_grant = KeyGrant{"kraken", "human:hum_1", {5'000'000}, {6'000'000}};
    row.asset_lists[KeyId::trusted("key_1")] = {*Symbol::parse("BTCUSDT")};
    row.asset_lists[KeyId::trusted("key_2")] = {};
    return row;
}

TEST(OnboardingRow, ComesBackAsItWasStored) {
    for (const OnboardingRow& row : {full_row(), OnboardingRow{}}) {
        const auto read = decode_onboarding_row(encode(row));
        ASSERT_TRUE(read) << read.error().message;
        EXPECT_EQ(to_text(encode(*read)), to_text(encode(row)));
    }
}

TEST(OnboardingRow, RefusesWhatItDoesNotKnow) {
    Json json = encode(full_row());
    json.set("more", 1);
    EXPECT_FALSE(decode_onboarding_row(json));
    json = encode(full_row());
    json.find("signup")->find("mail")->set("state", "lost");
    EXPECT_FALSE(decode_onboarding_row(json));
    json = encode(full_row());
    json.find("signup")->set("plan", "gold");
    EXPECT_FALSE(decode_onboarding_row(json));
}

TEST(BotAccountView, AnswersWhatTheDocumentAndTheSchemaSay) {
    BotAccountView view;
    view.tenant_id = TenantId::trusted("demo");
    view.key_grant = full_row().key_grant;
    const Json json = encode(view);
    for (const BotField& field : find_bot_endpoint("account_status")->response) {
        EXPECT_NE(json.find(field.name), nullptr) << field.name;
    }
    const Json schema = account_view_schema();
    EXPECT_EQ(json.members().size(), schema.find("properties")->members().size());
    for (const auto& [key, value] : json.members()) {
        EXPECT_NE(schema.find("properties")->find(key), nullptr) << key;
    }
}

TEST(BotAccountView, OfASignupIsPendingUntilTheOwnerHasAPassword) {
    BotAccountView view;
    EXPECT_EQ(to_word(view.standing()), "active");
    view.plan = PlanName::trial;
    EXPECT_EQ(to_word(view.standing()), "pending_activation");
    view.email_verified = true;
    EXPECT_EQ(to_word(view.standing()), "active");
    view.active = false;
    EXPECT_EQ(to_word(view.standing()), "inactive");
}

}  // namespace
}  // namespace interlock
