// One life of every kind of secret, and then a search for each of them in everything that stays:
// the ledger, the states, the stored answers, the log.
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/log.h"
#include "testing/principal_desk.h"

namespace interlock {
namespace {

using Service = PrincipalService;

const TenantId kDemo = TenantId::trusted("demo");
constexpr std::string_view kNewPassword = "an entirely new password";

struct Secrets {
    std::vector<std::string> never_kept;  // Nowhere at all.
    std::string totp_key;                 // In the human's state only.
};

std::string remember(std::vector<std::string>& secrets, const SecretString& secret) {
    secrets.emplace_back(secret.reveal());
    return secrets.back();
}

void add_key(PrincipalDesk& desk, const Principal& human, Secrets& secrets) {
    const auto made = desk.ask<Answer>(
        &Service::create_access_key,
        Service::Caller{human, kDemo},
        CreateAccessKey{"planner", {Scope::planner}, IdempotencyKey::trusted("once")});
    const Json body = *parse_json(made->body);
    secrets.never_kept.push_back(body.find("access_key")->as_string());
    ASSERT_TRUE(desk.ask<Answer>(
        &Service::revoke_access_key,
        Service::Caller{human, kDemo},
        KeyId::trusted(body.find("key_id")->as_string())));
}

void enable_totp(PrincipalDesk& desk, const Principal& human, Secrets& secrets) {
    const auto enrolment = desk.ask<TotpEnrolment>(&Service::enrol_totp, human);
    ASSERT_TRUE(enrolment);
    secrets.totp_key = std::string(enrolment->key_text.reveal());
    const std::string code =
        totp_code(*from_base32(secrets.totp_key), desk.clock.now().microseconds / 1'000'000);
    ASSERT_TRUE(desk.ask<SessionInfo>(&Service::confirm_totp, human, ConfirmTotpRequest{code}));
}

// Invites, activates, fails, logs in, makes a key, sets a second factor up, changes the password.
Secrets live(PrincipalDesk& desk) {
    Secrets secrets;
    secrets.never_kept = {std::string(PrincipalDesk::kPassword), std::string(kNewPassword)};
    const LoggedIn owner = desk.add_tenant_with_human("demo", "owner@example.com");
    const Principal human = *desk.holder_of(remember(secrets.never_kept, owner.token));
    const auto invitation = desk.ask<Invitation>(
        &Service::invite_human,
        Service::Caller{human, kDemo},
        InviteHuman{"second@example.com", false});
    remember(secrets.never_kept, *invitation->code);
    for (const char* email : {"owner@example.com", "nobody@example.com"}) {
        EXPECT_FALSE(desk.ask<LoggedIn>(
            &Service::login,
            LoginRequest{email, SecretString("guessed password"), "123456", false}));
    }
    secrets.never_kept.emplace_back("guessed password");
    const auto again = desk.ask<LoggedIn>(
        &Service::login,
        LoginRequest{
            "owner@example.com", SecretString(std::string(PrincipalDesk::kPassword)), {}, true});
    remember(secrets.never_kept, again->token);
    add_key(desk, human, secrets);
    enable_totp(desk, human, secrets);
    EXPECT_TRUE(desk.ask<SessionInfo>(
        &Service::change_password,
        human,
        ChangePasswordRequest{
            SecretString(std::string(PrincipalDesk::kPassword)),
            SecretString(std::string(kNewPassword))}));
    return secrets;
}

std::string ledger_text(const MemoryLedgerContents& contents) {
    std::string text;
    for (const auto& [key, entry] : contents.ledger) {
        text += entry.canonical_json + "\n";
    }
    return text;
}

std::string answers_text(const MemoryLedgerContents& contents) {
    std::string text;
    for (const auto& [key, answer] : contents.answers) {
        text += answer.body.value_or("") + "\n";
    }
    return text;
}

std::string states_text(const MemoryLedgerContents& contents) {
    std::string text;
    for (const auto& [key, state] : contents.states) {
        text += key + " " + state.json + "\n";
    }
    return text;
}

TEST(PrincipalSecrets, StandNowhereInWhatStays) {
    PrincipalDesk desk;
    ::testing::internal::CaptureStderr();
    const Secrets secrets = live(desk);
    const std::string log = ::testing::internal::GetCapturedStderr();
    const MemoryLedgerContents contents = desk.store().take_contents();
    const std::string ledger = ledger_text(contents);
    const std::string answers = answers_text(contents);
    const std::string states = states_text(contents);

    // What is searched is really there.
    ASSERT_EQ(secrets.never_kept.size(), 7u);
    ASSERT_NE(ledger.find("HUMAN_PASSWORD_CHANGED"), std::string::npos);
    ASSERT_NE(ledger.find("ACCESS_KEY_REVOKED"), std::string::npos);
    ASSERT_NE(answers.find("access_key"), std::string::npos);
    ASSERT_NE(states.find("owner@example.com"), std::string::npos);
    ASSERT_NE(log.find("login_of_unknown_address"), std::string::npos);

    for (const std::string& secret : secrets.never_kept) {
        for (const std::string* place : {&ledger, &answers, &states, &log}) {
            EXPECT_EQ(place->find(secret), std::string::npos) << secret;
        }
    }
    EXPECT_NE(states.find(secrets.totp_key), std::string::npos);
    for (const std::string* place : {&ledger, &answers, &log}) {
        EXPECT_EQ(place->find(secrets.totp_key), std::string::npos);
    }
}

TEST(PrincipalSecrets, LeaveNoPasswordHashInTheLedger) {
    PrincipalDesk desk;
    live(desk);

    EXPECT_EQ(ledger_text(desk.store().take_contents()).find("argon2id"), std::string::npos);
}

}  // namespace
}  // namespace interlock
