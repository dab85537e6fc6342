// The activation letter: sent after the commit, again after a failure or a crash, never for ever.
#include <gtest/gtest.h>

#include "base/errors.h"
#include "host/rules/letter_retry.h"
#include "testing/onboarding_desk.h"

namespace interlock {
namespace {

using Service = OnboardingService;

std::string code_of(const auto& result) {
    return result ? std::string("ok") : std::string(result.error().code());
}

Result<BotAccountView> resend(OnboardingDesk& desk, const TenantId& tenant_id) {
    return desk.ask<BotAccountView>(
        desk.service(),
        &Service::resend_activation,
        Service::Caller{OnboardingDesk::host_operator(), tenant_id});
}

TEST(ActivationMail, LeadsTheOwnerToAPassword) {
    OnboardingDesk desk;
    const auto account = desk.signup();
    EXPECT_TRUE(desk.mailer.sent.empty());
    desk.fire();
    ASSERT_EQ(desk.mailer.sent.size(), 1u);
    EXPECT_EQ(desk.mailer.sent[0].to, OnboardingDesk::kEmail);
    EXPECT_TRUE(check_mail(desk.mailer.sent[0]));
    const std::string link = "https://bots.example/activate?code=" + desk.mailed_code() + "\n";
    EXPECT_NE(desk.mailer.sent[0].text.find(link), std::string::npos);
    EXPECT_EQ(desk.service().view(account->tenant_id).activation_mail, MailState::sent);

    ASSERT_TRUE(desk.activate(desk.mailed_code()));

    const BotAccountView view = desk.service().view(account->tenant_id);
    EXPECT_TRUE(view.email_verified);
    EXPECT_EQ(view.standing(), AccountStanding::active);
    EXPECT_EQ(desk.directory.humans_of(account->tenant_id), 1);
}

TEST(ActivationMail, TellsWhoAskedUntilWhenAndWhatToDoOtherwise) {
    OnboardingDesk desk;
    const auto account = desk.signup();
    desk.fire();
    const std::string& text = desk.mailer.sent[0].text;
    for (const std::string& part :
         {std::string("203.0.113.7"),
          account->tenant_id.text(),
          to_text(desk.clock.now() + Duration::of_hours(24)),
          std::string("If it was not you"),
          std::string("revoke it under Access keys")}) {  // What the page calls it.
        EXPECT_NE(text.find(part), std::string::npos) << part;
    }
}

TEST(ActivationMail, CarriesNoWordsOfWhoeverSignedUp) {
    OnboardingDesk desk;
    ASSERT_TRUE(desk.ask<NewAccount>(
        desk.service(),
        &Service::signup,
        OnboardingDesk::peer(),
        SignupRequest{
            "victim@example.com",
            PlanName::trial,
            Json::object({{"name", "visit evil.example"}})}));
    desk.fire();
    EXPECT_EQ(desk.mailer.sent.at(0).text.find("evil.example"), std::string::npos);
}

TEST(ActivationMail, LostInACrashGoesOutAfterTheStartWithAnotherCode) {
    OnboardingDesk desk;
    const auto account = desk.signup();
    desk.mailer.failure = &errors::mail_unavailable;
    desk.mailer.while_sending = [&] { desk.crash(); };  // The commit is there, its outcome is not.
    desk.fire();
    ASSERT_EQ(desk.mailer.tries, 1);
    EXPECT_EQ(desk.row(account->tenant_id).signup->mail.state, MailState::due);

    desk.mailer.failure = nullptr;
    desk.mailer.while_sending = nullptr;
    desk.restart();
    desk.fire();

    ASSERT_EQ(desk.mailer.sent.size(), 1u);
    EXPECT_EQ(desk.row(account->tenant_id).signup->mail.state, MailState::sent);
    EXPECT_TRUE(desk.activate(desk.mailed_code()));
}

TEST(ActivationMail, OfASignupCutOffBeforeItsFirstAttemptGoesOutAfterTheStart) {
    OnboardingDesk desk;
    ASSERT_TRUE(desk.signup());
    desk.restart();
    desk.fire();
    EXPECT_EQ(desk.mailer.sent.size(), 1u);
}

TEST(ActivationMail, SentBeforeTheCrashIsNotSentAgain) {
    OnboardingDesk desk;
    ASSERT_TRUE(desk.signup());
    desk.fire();
    desk.restart();
    desk.pass(Duration::of_days(2));
    EXPECT_EQ(desk.mailer.sent.size(), 1u);
}

TEST(ActivationMail, IsTriedAgainLaterAndLaterThenGivenUp) {
    OnboardingDesk desk;
    const auto account = desk.signup();
    desk.mailer.failure = &errors::mail_unavailable;
    desk.fire();
    EXPECT_EQ(desk.mailer.tries, 1);
    desk.pass(Duration::of_seconds(59));
    EXPECT_EQ(desk.mailer.tries, 1);
    desk.pass(Duration::of_seconds(1));
    EXPECT_EQ(desk.mailer.tries, 2);
    for (int i = 0; i < 20; ++i) {
        desk.pass(Duration::of_hours(6));
    }
    EXPECT_EQ(desk.mailer.tries, kMailAttemptsMax);
    const ActivationMail mail = desk.row(account->tenant_id).signup->mail;
    EXPECT_EQ(mail.state, MailState::failed);
    EXPECT_EQ(mail.last_error, "mail_unavailable");
    EXPECT_EQ(desk.count_in_ledger(account->tenant_id, "ACTIVATION_MAIL_FAILED"), 1);
}

TEST(ActivationMail, ANewAttemptVoidsTheCodeBefore) {
    OnboardingDesk desk;
    const auto account = desk.signup();
    desk.fire();
    const std::string first = desk.mailed_code();
    desk.clock.advance(kResendGap);
    ASSERT_TRUE(resend(desk, account->tenant_id));
    desk.fire();
    ASSERT_NE(desk.mailed_code(), first);
    EXPECT_EQ(code_of(desk.activate(first)), "unauthenticated");
    EXPECT_TRUE(desk.activate(desk.mailed_code()));
}

TEST(ActivationMail, ThatIsRefusedForGoodFailsAtOnce) {
    OnboardingDesk desk;
    const auto account = desk.signup();
    desk.mailer.failure = &errors::mail_refused;
    desk.fire();
    EXPECT_EQ(desk.service().view(account->tenant_id).activation_mail, MailState::failed);
    desk.pass(Duration::of_days(2));
    EXPECT_EQ(desk.mailer.tries, 1);
}

TEST(ActivationMail, ThatNoWorkerTakesCostsNoAttempt) {
    OnboardingDesk desk;
    const auto account = desk.signup();
    desk.workers().stop();
    for (int i = 0; i < 20; ++i) {
        desk.pass(Duration::of_minutes(1));
    }
    EXPECT_EQ(desk.row(account->tenant_id).signup->mail.state, MailState::due);
    EXPECT_EQ(desk.row(account->tenant_id).signup->mail.attempts, 0);
    desk.restart();
    desk.fire();
    EXPECT_EQ(desk.mailer.sent.size(), 1u);
}

TEST(ActivationMail, ThatWaitsWhileTheServerStopsGoesOutAfterTheStart) {
    OnboardingDesk desk;
    const auto account = desk.signup();
    desk.service().stop();
    desk.fire();
    EXPECT_EQ(desk.mailer.tries, 0);
    EXPECT_EQ(desk.row(account->tenant_id).signup->mail.state, MailState::due);
    desk.restart();
    desk.fire();
    EXPECT_EQ(desk.mailer.sent.size(), 1u);
}

TEST(ActivationMail, ThatFailedIsBegunAnewByPeople) {
    OnboardingDesk desk;
    const auto account = desk.signup();
    desk.mailer.failure = &errors::mail_refused;
    desk.fire();
    EXPECT_EQ(code_of(resend(desk, account->tenant_id)), "rate_limited");
    desk.clock.advance(kResendGap);
    desk.mailer.failure = nullptr;
    EXPECT_EQ(resend(desk, account->tenant_id)->activation_mail, MailState::due);
    desk.fire();
    EXPECT_EQ(desk.mailer.sent.size(), 1u);
    EXPECT_EQ(desk.service().view(account->tenant_id).activation_mail, MailState::sent);
}

TEST(ActivationMail, AnOutcomeOfAnEarlierRoundChangesNothing) {
    OnboardingDesk desk;
    const auto account = desk.signup();
    desk.mailer.failure = &errors::mail_refused;
    desk.mailer.while_sending = [&] {
        // While the first letter is on its way, somebody has another one sent.
        desk.mailer.while_sending = nullptr;
        desk.clock.advance(kResendGap);
        desk.service().resend_activation(
            {OnboardingDesk::host_operator(), account->tenant_id}, [](Result<BotAccountView>) {});
    };
    desk.fire();
    desk.mailer.failure = nullptr;
    desk.fire();
    EXPECT_EQ(desk.service().view(account->tenant_id).activation_mail, MailState::sent);
}

TEST(ActivationMail, IsNotSentToAnOwnerWhoHasAPassword) {
    OnboardingDesk desk;
    const auto owner = desk.add_owner();
    desk.clock.advance(kResendGap);
    EXPECT_EQ(code_of(resend(desk, owner.tenant_id)), "already_activated");
    desk.restart();
    desk.pass(Duration::of_days(1));
    EXPECT_EQ(desk.mailer.tries, 1);
}

TEST(ActivationMail, IsNotNeededOnceTheOperatorsCodeWasUsed) {
    OnboardingDesk desk;
    const auto account = desk.signup();
    desk.mailer.failure = &errors::mail_unavailable;
    desk.fire();
    const auto invitation = desk.ask<Invitation>(
        desk.principals(),
        &PrincipalService::invite_human,
        PrincipalService::Caller{OnboardingDesk::host_operator(), account->tenant_id},
        InviteHuman{std::string(OnboardingDesk::kEmail), false});
    ASSERT_TRUE(invitation);
    ASSERT_TRUE(desk.activate(std::string(invitation->code->reveal())));
    desk.pass(Duration::of_days(1));
    EXPECT_EQ(desk.mailer.tries, 1);
    EXPECT_EQ(desk.service().view(account->tenant_id).activation_mail, MailState::not_needed);
}

TEST(ActivationMail, GoesToNobodyWhomTheOperatorHasReplaced) {
    OnboardingDesk desk;
    const auto account = desk.signup();
    ASSERT_TRUE(desk.ask<Invitation>(
        desk.principals(),
        &PrincipalService::invite_human,
        PrincipalService::Caller{OnboardingDesk::host_operator(), account->tenant_id},
        InviteHuman{"another@example.com", false}));
    desk.fire();
    EXPECT_EQ(desk.mailer.tries, 0);
    EXPECT_EQ(desk.row(account->tenant_id).signup->mail.last_error, "withdrawn");
}

TEST(ActivationMail, OfTheOperatorsTenantsDoesNotExist) {
    OnboardingDesk desk;
    EXPECT_EQ(code_of(resend(desk, TenantId::trusted("demo"))), "no_signup");
}

Result<std::monostate> ask_letter(
    OnboardingDesk& desk, const std::string& email, const std::string& peer = "198.51.100.1") {
    std::optional<Result<std::monostate>> answer;
    desk.service().ask_letter(
        {peer, false}, email, [&](Result<std::monostate> taken) { answer = std::move(taken); });
    return *std::move(answer);
}

// An owner who lost the letter has nobody else to ask.
TEST(ActivationMail, IsSentAgainToWhoeverOwnsTheAddressAndNobodyIsToldMore) {
    OnboardingDesk desk;
    const auto account = desk.signup();
    desk.fire();
    ASSERT_EQ(desk.mailer.sent.size(), 1U);
    desk.pass(kResendGap);

    EXPECT_TRUE(ask_letter(desk, std::string(OnboardingDesk::kEmail)));
    EXPECT_TRUE(ask_letter(desk, "nobody@example.com"));
    desk.fire();

    ASSERT_EQ(desk.mailer.sent.size(), 2U);
    EXPECT_TRUE(desk.activate(desk.mailed_code()));
    desk.pass(kResendGap);
    EXPECT_TRUE(ask_letter(desk, std::string(OnboardingDesk::kEmail))) << "nor told of that";
    desk.fire();
    EXPECT_EQ(desk.mailer.sent.size(), 2U);
}

TEST(ActivationMail, IsAskedForThreeTimesAnHourForOneAddressAndTenTimesByOnePeer) {
    OnboardingDesk desk;
    for (std::size_t i = 0; i < OnboardingService::kLettersPerAddress; ++i) {
        EXPECT_TRUE(ask_letter(desk, "a@example.com", "203.0.113." + std::to_string(i)));
    }
    EXPECT_EQ(code_of(ask_letter(desk, "a@example.com", "203.0.113.99")), "rate_limited");
    for (std::size_t i = 0; i < OnboardingService::kLettersPerPeer; ++i) {
        EXPECT_TRUE(ask_letter(desk, "b" + std::to_string(i) + "@example.com"));
    }
    EXPECT_EQ(code_of(ask_letter(desk, "c@example.com")), "rate_limited");
    EXPECT_TRUE(ask_letter(desk, "c@example.com", "203.0.113.7"));
}

}  // namespace
}  // namespace interlock
