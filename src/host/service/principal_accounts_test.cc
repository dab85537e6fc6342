// What a logged-in human does with their account, through the service.
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "testing/principal_desk.h"

namespace interlock {
namespace {

using Service = PrincipalService;

const std::string kOwner = "owner@example.com";

class Accounts : public ::testing::Test {
protected:
    Accounts() {
        const LoggedIn logged_in = desk_.add_tenant_with_human("demo", kOwner);
        token_ = std::string(logged_in.token.reveal());
    }

    Principal me() { return *desk_.holder_of(token_); }
    bool logged_in() { return desk_.holder_of(token_).has_value(); }

    Result<LoggedIn> login(std::string_view password, std::optional<std::string> totp = {}) {
        return desk_.ask<LoggedIn>(
            &Service::login,
            LoginRequest{kOwner, SecretString(std::string(password)), std::move(totp), false});
    }
    Result<SessionInfo> prove(std::string_view password) {
        ReauthenticateRequest request;
        request.password = SecretString(std::string(password));
        return desk_.ask<SessionInfo>(&Service::reauthenticate, me(), std::move(request));
    }
    Result<SessionInfo> prove_by_code(std::string code) {
        ReauthenticateRequest request;
        request.totp = std::move(code);
        return desk_.ask<SessionInfo>(&Service::reauthenticate, me(), std::move(request));
    }
    Result<SessionInfo> change_password(std::string_view old_one, std::string_view new_one) {
        return desk_.ask<SessionInfo>(
            &Service::change_password,
            me(),
            ChangePasswordRequest{
                SecretString(std::string(old_one)), SecretString(std::string(new_one))});
    }
    Result<SessionInfo> confirm(std::string code) {
        return desk_.ask<SessionInfo>(
            &Service::confirm_totp, me(), ConfirmTotpRequest{std::move(code)});
    }
    // Sets the second factor up and gives its key.
    std::string enable_totp() {
        const auto enrolment = desk_.ask<TotpEnrolment>(&Service::enrol_totp, me());
        EXPECT_TRUE(enrolment);
        key_text_ = std::string(enrolment->key_text.reveal());
        EXPECT_TRUE(confirm(code_now()));
        return key_text_;
    }
    std::string code_now() {
        return totp_code(*from_base32(key_text_), desk_.clock.now().microseconds / 1'000'000);
    }
    std::string wrong_code() {
        std::string code = code_now();
        code[0] = code[0] == '9' ? '0' : static_cast<char>(code[0] + 1);
        return code;
    }
    void next_step() { desk_.clock.advance(Duration::of_seconds(60)); }

    PrincipalDesk desk_;
    std::string token_;
    std::string key_text_;
};

TEST_F(Accounts, ShowTheSession) {
    const auto info = desk_.ask<SessionInfo>(&Service::session, me());

    ASSERT_TRUE(info);
    EXPECT_EQ(info->email, kOwner);
    EXPECT_FALSE(info->two_factor);
}

TEST_F(Accounts, EndTheSessionOnLogout) {
    const Principal before = me();

    ASSERT_TRUE(desk_.ask<SessionInfo>(&Service::logout, before));

    EXPECT_FALSE(logged_in());
    const auto again = desk_.ask<SessionInfo>(&Service::session, before);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code(), "unauthenticated");
}

TEST_F(Accounts, RefreshTheProofWithThePassword) {
    desk_.clock.advance(Duration::of_hours(1));

    const auto info = prove(PrincipalDesk::kPassword);

    ASSERT_TRUE(info);
    EXPECT_EQ(info->authenticated_at, desk_.clock.now());
    EXPECT_EQ(me().authenticated_at, desk_.clock.now());
}

TEST_F(Accounts, DoNotRefreshTheProofWithAWrongPassword) {
    const Timestamp before = me().authenticated_at;
    desk_.clock.advance(Duration::of_hours(1));

    const auto refused = prove("wrong password");

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), "wrong_credential");
    EXPECT_EQ(me().authenticated_at, before);
}

TEST_F(Accounts, EndASessionAfterFiveWrongProofs) {
    for (int i = 0; i < 4; ++i) {
        ASSERT_FALSE(prove("wrong password"));
    }
    ASSERT_TRUE(logged_in());

    ASSERT_FALSE(prove("wrong password"));

    EXPECT_FALSE(logged_in());
}

TEST_F(Accounts, LetALoggedInHumanProveThemselvesWhileTheAccountIsShut) {
    // A stranger must not be able to keep the owner from approving.
    for (int i = 0; i < 5; ++i) {
        ASSERT_FALSE(login("wrong password"));
    }
    ASSERT_EQ(login(PrincipalDesk::kPassword).error().http_status(), 429);

    EXPECT_TRUE(prove(PrincipalDesk::kPassword));
}

TEST_F(Accounts, TakeANewPasswordInsteadOfTheOldOne) {
    ASSERT_TRUE(change_password(PrincipalDesk::kPassword, "an entirely new one"));

    EXPECT_FALSE(login(PrincipalDesk::kPassword));
    EXPECT_TRUE(login("an entirely new one"));
}

TEST_F(Accounts, EndOtherSessionsWhenThePasswordChanges) {
    const auto other = login(PrincipalDesk::kPassword);

    ASSERT_TRUE(change_password(PrincipalDesk::kPassword, "an entirely new one"));

    EXPECT_TRUE(logged_in());
    EXPECT_FALSE(desk_.holder_of(other->token.reveal()));
}

TEST_F(Accounts, KeepThePasswordWhenTheOldOneIsWrong) {
    const auto refused = change_password("wrong password", "an entirely new one");

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), "wrong_credential");
    EXPECT_TRUE(login(PrincipalDesk::kPassword));
}

TEST_F(Accounts, RefuseAWeakNewPassword) {
    const auto refused = change_password(PrincipalDesk::kPassword, "short");

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), "invalid_request");
}

TEST_F(Accounts, DoNotAskForACodeBeforeItWasConfirmed) {
    ASSERT_TRUE(desk_.ask<TotpEnrolment>(&Service::enrol_totp, me()));

    EXPECT_TRUE(login(PrincipalDesk::kPassword));
}

TEST_F(Accounts, AskForACodeOnceItWasConfirmed) {
    enable_totp();
    next_step();

    EXPECT_FALSE(login(PrincipalDesk::kPassword));
    EXPECT_FALSE(login(PrincipalDesk::kPassword, wrong_code()));
    EXPECT_TRUE(login(PrincipalDesk::kPassword, code_now()));
}

TEST_F(Accounts, TakeACodeOnce) {
    enable_totp();
    next_step();
    const std::string code = code_now();
    ASSERT_TRUE(login(PrincipalDesk::kPassword, code));

    EXPECT_FALSE(login(PrincipalDesk::kPassword, code));
    EXPECT_FALSE(prove_by_code(code));
}

TEST_F(Accounts, DoNotTakeTheConfirmingCodeForALogin) {
    enable_totp();

    EXPECT_FALSE(login(PrincipalDesk::kPassword, code_now()));
}

TEST_F(Accounts, RefreshTheProofWithACode) {
    enable_totp();
    desk_.clock.advance(Duration::of_hours(1));

    EXPECT_FALSE(prove_by_code(wrong_code()));
    const auto info = prove_by_code(code_now());

    ASSERT_TRUE(info);
    EXPECT_EQ(info->authenticated_at, desk_.clock.now());
}

TEST_F(Accounts, TakeACodeOnceForAProof) {
    enable_totp();
    next_step();
    const std::string code = code_now();
    ASSERT_TRUE(prove_by_code(code));

    EXPECT_FALSE(prove_by_code(code));
}

TEST_F(Accounts, TakeACodeOnceWhenTwoLoginsComeTogether) {
    enable_totp();
    next_step();
    int entered = 0;
    desk_.engine().hold();
    for (int i = 0; i < 2; ++i) {
        desk_.service().login(
            {kOwner, SecretString(std::string(PrincipalDesk::kPassword)), code_now(), false},
            [&](const Result<LoggedIn>& answer) { entered += answer ? 1 : 0; });
    }
    desk_.engine().release();

    EXPECT_EQ(entered, 1);
}

TEST_F(Accounts, TakeNoLoginByAPasswordThatWasChangedMeanwhile) {
    // Both look at the old password; the change is decided first.
    std::optional<bool> entered;
    std::optional<bool> changed;
    desk_.engine().hold();
    desk_.service().change_password(
        me(),
        {SecretString(std::string(PrincipalDesk::kPassword)), SecretString("an entirely new one")},
        [&](const Result<SessionInfo>& answer) { changed = answer.has_value(); });
    desk_.service().login(
        {kOwner, SecretString(std::string(PrincipalDesk::kPassword)), {}, false},
        [&](const Result<LoggedIn>& answer) { entered = answer.has_value(); });
    desk_.engine().release();

    EXPECT_EQ(changed, true);
    EXPECT_EQ(entered, false);
}

TEST_F(Accounts, TakeNoCodeWithoutASecondFactor) {
    EXPECT_FALSE(prove_by_code("000000"));
}

TEST_F(Accounts, OfferASecondFactorOnlyAfterAFreshLogin) {
    desk_.clock.advance(Duration::of_minutes(6));

    const auto refused = desk_.ask<TotpEnrolment>(&Service::enrol_totp, me());

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), "reauthentication_required");
}

TEST_F(Accounts, AClockThatStepsBackMakesNoProofFreshAgain) {
    desk_.clock.advance(Duration::of_minutes(6));
    me();  // Whoever asked saw the later time.
    desk_.clock.step_to(FakeClock::kNoon);

    const auto refused = desk_.ask<TotpEnrolment>(&Service::enrol_totp, me());

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), "reauthentication_required");
}

TEST_F(Accounts, RefuseToConfirmWhatWasNotOffered) {
    const auto refused = confirm("123456");

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), "totp_not_started");
}

TEST_F(Accounts, DisableTheSecondFactorWithThePasswordOnly) {
    enable_totp();
    const auto refused = desk_.ask<SessionInfo>(
        &Service::disable_totp, me(), DisableTotpRequest{SecretString("wrong password")});
    ASSERT_FALSE(refused);
    EXPECT_FALSE(login(PrincipalDesk::kPassword));

    const auto disabled = desk_.ask<SessionInfo>(
        &Service::disable_totp,
        me(),
        DisableTotpRequest{SecretString(std::string(PrincipalDesk::kPassword))});

    ASSERT_TRUE(disabled);
    EXPECT_FALSE(disabled->two_factor);
    EXPECT_TRUE(login(PrincipalDesk::kPassword));
}

TEST_F(Accounts, KeepTheSecondFactorOverARestart) {
    enable_totp();
    next_step();

    desk_.restart();

    EXPECT_FALSE(login(PrincipalDesk::kPassword));
    EXPECT_TRUE(login(PrincipalDesk::kPassword, code_now()));
}

}  // namespace
}  // namespace interlock
