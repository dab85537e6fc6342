// Getting back in through the service: what a code opens, what rests afterwards, who is told.
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "host/rules/recovery_policy.h"
#include "testing/principal_desk.h"

namespace interlock {
namespace {

using Service = PrincipalService;

const TenantId kDemo = TenantId::trusted("demo");
const std::string kOwner = "owner@example.com";
const std::string kSecond = "second@example.com";
constexpr std::string_view kNew = "a password that is new";
const AttemptPeer kPeer{"203.0.113.7", false};

class Recoveries : public ::testing::Test {
protected:
    Recoveries() : owner_(desk_.add_tenant_with_human("demo", kOwner)) {}

    Principal principal(const LoggedIn& who) { return *desk_.holder_of(who.token.reveal()); }
    LoggedIn add_second() {
        auto invitation = desk_.ask<Invitation>(
            &Service::invite_human,
            Service::Caller{principal(owner_), kDemo},
            InviteHuman{kSecond, false});
        auto second = desk_.ask<LoggedIn>(
            &Service::activate,
            ActivateRequest{
                std::move(*invitation->code),
                SecretString(std::string(PrincipalDesk::kPassword)),
                false});
        return *std::move(second);
    }
    Result<LoggedIn> recover(
        const std::string& email, std::string_view code, const AttemptPeer& peer = kPeer) {
        return desk_.ask<LoggedIn>(
            &Service::recover,
            peer,
            RecoverRequest{
                email, SecretString(std::string(code)), SecretString(std::string(kNew)), false});
    }
    Result<LoggedIn> login(const std::string& email, std::string_view password) {
        return desk_.ask<LoggedIn>(
            &Service::login, LoginRequest{email, SecretString(std::string(password)), {}, false});
    }
    Result<StartedRecovery> start(Principal by, const HumanId& whom, bool show_code = true) {
        return desk_.ask<StartedRecovery>(
            &Service::start_recovery,
            Service::Caller{std::move(by), kDemo},
            whom,
            StartRecovery{"lost everything", show_code});
    }
    Result<Answer> object(Principal by, const HumanId& whom) {
        return desk_.ask<Answer>(
            &Service::object_to_recovery, Service::Caller{std::move(by), kDemo}, whom);
    }
    std::string ledger(const TenantId& tenant_id) {
        std::string text;
        const auto entries = desk_.store().read_ledger(tenant_id, 0, 1000);
        for (const LedgerEntry& entry : *entries) {
            text += entry.canonical_json + "\n";
        }
        return text;
    }
    std::string everything_stored() {
        std::string text = ledger(kDemo) + ledger(system_tenant());
        const auto states = desk_.store().load_states("");
        for (const auto& [key, state] : *states) {
            text += key + " " + state.json + "\n";
        }
        return text;
    }

    PrincipalDesk desk_;
    LoggedIn owner_;
};

TEST_F(Recoveries, AnActivationShowsTenCodesThatAreKeptOnlyAsHashes) {
    ASSERT_EQ(owner_.codes.codes.size(), kRecoveryCodesMax);
    EXPECT_EQ(owner_.info.recovery_codes_left, 10);
    const std::string stored = everything_stored();
    for (const SecretString& code : owner_.codes.codes) {
        EXPECT_TRUE(code.reveal().starts_with("ilr-"));
        EXPECT_EQ(stored.find(code.reveal()), std::string::npos);
        EXPECT_EQ(stored.find(read_recovery_code(code.reveal())->reveal()), std::string::npos);
    }
}

TEST_F(Recoveries, ACodeSetsANewPasswordOnceAndEndsTheSessions) {
    const std::string code(owner_.codes.codes[3].reveal());

    const auto back = recover(kOwner, code);

    ASSERT_TRUE(back);
    EXPECT_EQ(back->codes.codes.size(), kRecoveryCodesMax);
    EXPECT_FALSE(desk_.holder_of(owner_.token.reveal())) << "sessions elsewhere end";
    EXPECT_TRUE(desk_.holder_of(back->token.reveal()));
    EXPECT_FALSE(login(kOwner, PrincipalDesk::kPassword));
    EXPECT_TRUE(login(kOwner, kNew));
    EXPECT_FALSE(recover(kOwner, code)) << "used up";
    EXPECT_FALSE(recover(kOwner, owner_.codes.codes[4].reveal())) << "the old set is void";
    EXPECT_TRUE(recover(kOwner, back->codes.codes[0].reveal()));
}

TEST_F(Recoveries, TheVoteRestsInTheDirectoryAcrossARestart) {
    const auto back = recover(kOwner, owner_.codes.codes[0].reveal());
    const HumanId id = back->info.human_id;
    EXPECT_EQ(desk_.directory.vote_rest_of(id).until, desk_.clock.now() + kVoteRest);
    EXPECT_EQ(back->info.vote_rests_until, desk_.clock.now() + kVoteRest);

    desk_.restart();

    EXPECT_TRUE(desk_.directory.vote_rest_of(id).rests_at(desk_.clock.now()));
    EXPECT_TRUE(recover(kOwner, back->codes.codes[0].reveal()));
}

TEST_F(Recoveries, DropTheSecondFactorAndWantANewOne) {
    const auto enrolled = desk_.ask<TotpEnrolment>(&Service::enrol_totp, principal(owner_));
    const auto code_now = [&](const TotpEnrolment& enrolment) {
        return totp_code(
            *from_base32(enrolment.key_text.reveal()), desk_.clock.now().microseconds / 1'000'000);
    };
    ASSERT_TRUE(desk_.ask<SessionInfo>(
        &Service::confirm_totp, principal(owner_), ConfirmTotpRequest{code_now(*enrolled)}));

    const auto back = recover(kOwner, owner_.codes.codes[0].reveal());

    ASSERT_TRUE(back);
    EXPECT_FALSE(back->info.two_factor);
    EXPECT_TRUE(back->info.second_factor_due);
    const HumanId id = back->info.human_id;
    desk_.clock.advance(kVoteRest);
    EXPECT_TRUE(desk_.directory.vote_rest_of(id).rests_at(desk_.clock.now()));
    const auto again = login(kOwner, kNew);
    const auto anew = desk_.ask<TotpEnrolment>(&Service::enrol_totp, principal(*again));
    ASSERT_TRUE(desk_.ask<SessionInfo>(
        &Service::confirm_totp, principal(*again), ConfirmTotpRequest{code_now(*anew)}));
    EXPECT_FALSE(desk_.directory.vote_rest_of(id).rests_at(desk_.clock.now()));
}

TEST_F(Recoveries, SayTheSameOfAWrongCodeAndAnUnknownAddress) {
    const auto wrong = recover(kOwner, "ilr-aaaa-aaaa-aaaa-aaaa-aaaa");
    const auto unknown = recover("nobody@example.com", owner_.codes.codes[0].reveal());
    const auto nonsense = recover(kOwner, "not a code!");

    ASSERT_FALSE(wrong || unknown || nonsense);
    for (const auto* answer : {&unknown, &nonsense}) {
        EXPECT_EQ(answer->error().code(), wrong.error().code());
        EXPECT_EQ(answer->error().message, wrong.error().message);
    }
}

TEST_F(Recoveries, BoundTheTriesOfAPeerButNeverKeepTheOwnerOut) {
    for (std::size_t i = 0; i < Service::kRecoveryTriesPerAccount; ++i) {
        EXPECT_EQ(recover(kOwner, "wrong").error().code(), "unauthenticated");
    }
    EXPECT_EQ(recover(kOwner, "wrong").error().code(), "rate_limited");
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(recover("x@example.com", "wrong").error().code(), "unauthenticated");
    }
    EXPECT_EQ(recover("y@example.com", "wrong").error().code(), "rate_limited");
    EXPECT_TRUE(recover(kOwner, owner_.codes.codes[0].reveal(), {"198.51.100.1", false}));
}

TEST_F(Recoveries, ANewSetNeedsAFreshLoginAndVoidsTheOldOne) {
    const auto made = desk_.ask<RecoveryCodes>(&Service::make_recovery_codes, principal(owner_));
    ASSERT_TRUE(made);
    EXPECT_FALSE(recover(kOwner, owner_.codes.codes[0].reveal()));
    EXPECT_NE(ledger(system_tenant()).find("HUMAN_RECOVERY_CODES_MADE"), std::string::npos);
    const Principal stale = principal(owner_);
    desk_.clock.advance(Duration::of_minutes(6));
    EXPECT_EQ(
        desk_.ask<RecoveryCodes>(&Service::make_recovery_codes, stale).error().code(),
        "reauthentication_required");
    EXPECT_TRUE(recover(kOwner, made->codes[0].reveal()));
}

TEST_F(Recoveries, ACodeDoesNotBringABadPassword) {
    const auto refused = desk_.ask<LoggedIn>(
        &Service::recover,
        kPeer,
        RecoverRequest{
            kOwner,
            SecretString(std::string(owner_.codes.codes[0].reveal())),
            SecretString("short"),
            false});
    EXPECT_EQ(refused.error().code(), "invalid_request");
    EXPECT_TRUE(recover(kOwner, owner_.codes.codes[0].reveal())) << "the code is not used up";
}

TEST_F(Recoveries, AColleagueHelpsByLetterAndCountsAsOnePersonFromThenOn) {
    const LoggedIn second = add_second();
    const HumanId id = second.info.human_id;

    const auto started = start(principal(owner_), id, false);
    ASSERT_TRUE(started);
    EXPECT_FALSE(started->code) << "the helper never sees it";
    desk_.pass({});

    std::string code;
    int told = 0;
    for (const Mail& mail : desk_.mailer.sent) {
        const std::size_t at = mail.text.find("ilr-");
        if (at != std::string::npos) {
            EXPECT_EQ(mail.to, kSecond);
            code = mail.text.substr(at, mail.text.find('\n', at) - at);
        } else {
            EXPECT_NE(mail.subject.find("object"), std::string::npos);
            ++told;
        }
    }
    EXPECT_EQ(told, 2);
    EXPECT_EQ(everything_stored().find(code), std::string::npos);
    ASSERT_TRUE(recover(kSecond, code));
    const HumanId owner_id = owner_.info.human_id;
    EXPECT_EQ(desk_.directory.voter(kDemo, id).one_with, std::set<HumanId>{owner_id});
    EXPECT_EQ(desk_.directory.voter(kDemo, owner_id).one_with, std::set<HumanId>{id});
    EXPECT_EQ(desk_.directory.voter(kDemo, owner_id).humans_of_tenant, 1);
    EXPECT_EQ(desk_.directory.humans_of(kDemo), 2);
    desk_.clock.advance(Duration::of_days(400));
    desk_.restart();
    EXPECT_EQ(desk_.directory.voter(kDemo, id).one_with.size(), 1U) << "for good";
}

TEST_F(Recoveries, TheOperatorsWaitsADayIsToldAndRecorded) {
    const auto started = start(PrincipalDesk::host_operator(), owner_.info.human_id);
    ASSERT_TRUE(started);
    ASSERT_TRUE(started->code);
    const std::string code(started->code->reveal());
    EXPECT_EQ(recover(kOwner, code).error().code(), "recovery_waits");
    const std::string chain = ledger(kDemo);
    EXPECT_NE(chain.find("HUMAN_RECOVERY_STARTED"), std::string::npos);
    EXPECT_NE(chain.find("\"severity\":\"critical\""), std::string::npos);
    EXPECT_NE(chain.find("operator:local"), std::string::npos);
    EXPECT_EQ(chain.find(code), std::string::npos);
    const auto session = desk_.ask<SessionInfo>(&Service::session, principal(owner_));
    ASSERT_EQ(session->recoveries.size(), 1U);
    EXPECT_EQ(session->recoveries[0].state, "waiting");
    desk_.pass(Duration{});
    EXPECT_EQ(desk_.mailer.sent.size(), 1U);

    desk_.clock.advance(kOperatorDelayMin);
    ASSERT_TRUE(recover(kOwner, code));
    EXPECT_NE(ledger(kDemo).find("HUMAN_RECOVERED"), std::string::npos);
}

TEST_F(Recoveries, AnObjectionEndsItAndSoDoesALogin) {
    const LoggedIn second = add_second();
    const HumanId id = owner_.info.human_id;
    const auto first = start(PrincipalDesk::host_operator(), id);
    ASSERT_TRUE(object(principal(second), id));
    EXPECT_EQ(object(principal(second), id).error().code(), "recovery_not_open");
    EXPECT_NE(ledger(kDemo).find("HUMAN_RECOVERY_ENDED"), std::string::npos);
    desk_.clock.advance(kOperatorDelayMin);
    EXPECT_EQ(recover(kOwner, first->code->reveal()).error().code(), "unauthenticated");

    const auto again = start(PrincipalDesk::host_operator(), id);
    ASSERT_TRUE(again);
    ASSERT_TRUE(login(kOwner, PrincipalDesk::kPassword));
    desk_.clock.advance(kOperatorDelayMin);
    EXPECT_FALSE(recover(kOwner, again->code->reveal()));
}

TEST_F(Recoveries, LettersThatFailAreTriedAgainAndARestartLosesNone) {
    desk_.mailer.failure = &errors::mail_unavailable;
    ASSERT_TRUE(start(PrincipalDesk::host_operator(), owner_.info.human_id, false));
    desk_.pass(Duration{});
    EXPECT_EQ(desk_.mailer.tries, 2);
    desk_.restart();
    desk_.mailer.failure = nullptr;

    desk_.pass(Duration::of_minutes(2));

    EXPECT_EQ(desk_.mailer.sent.size(), 2U);
    desk_.pass(Duration::of_days(1));
    EXPECT_EQ(desk_.mailer.sent.size(), 2U) << "sent once";
}

TEST_F(Recoveries, ALetterThatIsRefusedForGoodIsAnAlert) {
    desk_.mailer.failure = &errors::mail_refused;
    ASSERT_TRUE(start(PrincipalDesk::host_operator(), owner_.info.human_id));
    desk_.pass(Duration{});
    EXPECT_NE(ledger(system_tenant()).find("HUMAN_RECOVERY_LETTER_FAILED"), std::string::npos);
    desk_.pass(Duration::of_days(1));
    EXPECT_EQ(desk_.mailer.tries, 1);
}

TEST_F(Recoveries, AreNotForStrangersOfOtherTenants) {
    const LoggedIn other = desk_.add_tenant_with_human("other", "other@example.com");
    EXPECT_EQ(start(principal(owner_), other.info.human_id).error().code(), "not_found");
    EXPECT_EQ(object(principal(owner_), other.info.human_id).error().code(), "not_found");
    ASSERT_TRUE(start(PrincipalDesk::host_operator(), owner_.info.human_id));
    EXPECT_TRUE(desk_.ask<SessionInfo>(&Service::session, principal(other))->recoveries.empty());
}

}  // namespace
}  // namespace interlock
