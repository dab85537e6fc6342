// One life of an account, and then a search for each of its secrets in everything that stays: the
// ledger, the states, the stored answers, the log. The letter alone holds the code.
#include <gtest/gtest.h>

#include "base/log.h"
#include "testing/onboarding_desk.h"

namespace interlock {
namespace {

TEST(OnboardingSecrets, AreNowhereButInTheOneReplyAndTheLetter) {
    configure_log({.level = LogLevel::debug, .format = LogFormat::json});
    testing::internal::CaptureStderr();
    OnboardingDesk desk;
    std::vector<std::string> secrets{std::string(OnboardingDesk::kPassword)};
    const auto account = desk.signup();
    secrets.emplace_back(account->access_key.reveal());
    desk.mailer.failure = &errors::mail_unavailable;
    desk.fire();
    desk.mailer.failure = nullptr;
    desk.pass(Duration::of_minutes(1));
    secrets.push_back(desk.mailed_code());
    const auto logged_in = desk.activate(secrets.back());
    ASSERT_TRUE(logged_in);
    secrets.emplace_back(logged_in->token.reveal());
    const Principal owner =
        *desk.directory.by_session_token(logged_in->token.reveal(), desk.clock.now());
    const auto key = desk.ask<RegeneratedKey>(
        desk.service(),
        &OnboardingService::regenerate_key,
        OnboardingService::Caller{owner, account->tenant_id});
    ASSERT_TRUE(key);
    secrets.emplace_back(key->access_key.reveal());
    const std::string letter = desk.mailer.sent.at(0).text;
    const MemoryLedgerContents kept = desk.store().take_contents();
    std::string everything = testing::internal::GetCapturedStderr();
    EXPECT_NE(everything.find("activation_mail_failed"), std::string::npos);
    for (const auto& [name, state] : kept.states) {
        everything += name + state.json;
    }
    for (const auto& [place, entry] : kept.ledger) {
        everything += entry.canonical_json;
    }
    for (const auto& [name, answer] : kept.answers) {
        everything += answer.body.value_or("");
    }
    for (const auto& [id, timer] : kept.timers) {
        everything += timer.json;
    }
    ASSERT_EQ(secrets.size(), 5u);
    for (const std::string& secret : secrets) {
        EXPECT_EQ(everything.find(secret), std::string::npos) << secret;
    }
    EXPECT_NE(letter.find(secrets[2]), std::string::npos);
    for (const std::size_t i : {0u, 1u, 3u, 4u}) {
        EXPECT_EQ(letter.find(secrets[i]), std::string::npos) << secrets[i];
    }
    // The hash of the key is where it must be, so the search has looked at the right things.
    EXPECT_NE(everything.find(sha256_hex(secrets[1])), std::string::npos);
}

}  // namespace
}  // namespace interlock
