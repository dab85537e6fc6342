#include "host/rules/login_policy.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/bytes.h"
#include "base/crypto.h"

namespace interlock {
namespace {

constexpr Timestamp kNow{1'794'744'000'000'000};

TEST(LoginPolicy, DoesNotLockBeforeTheFifthFailure) {
    EXPECT_EQ(lock_after(0), Duration{});
    EXPECT_EQ(lock_after(4), Duration{});
}

TEST(LoginPolicy, LocksForAMinuteThenDoublesUpToAQuarterOfAnHour) {
    EXPECT_EQ(lock_after(5), Duration::of_minutes(1));
    EXPECT_EQ(lock_after(6), Duration::of_minutes(2));
    EXPECT_EQ(lock_after(7), Duration::of_minutes(4));
    EXPECT_EQ(lock_after(8), Duration::of_minutes(8));
    EXPECT_EQ(lock_after(9), Duration::of_minutes(15));
    EXPECT_EQ(lock_after(INT64_MAX), Duration::of_minutes(15));
}

TEST(LoginPolicy, NeverShortensALockAsFailuresGrow) {
    EXPECT_TRUE(rc::check("lock_after is monotonic", [] {
        const auto failures = *rc::gen::inRange<std::int64_t>(0, 1000);
        RC_ASSERT(lock_after(failures) <= lock_after(failures + 1));
        RC_ASSERT(lock_after(failures) <= kLockLongest);
    }));
}

TEST(LoginPolicy, BoundsTheGuessesOfADay) {
    // A guesser who tries again the moment each lock ends.
    LoginCounter counter;
    Timestamp at = kNow;
    std::int64_t guesses = 0;
    while (at < kNow + Duration::of_days(1)) {
        ASSERT_TRUE(check_not_locked(counter, at));
        counter = after_failure(counter, at);
        ++guesses;
        at = std::max(at, counter.locked_until);
    }

    EXPECT_GT(guesses, 90);
    EXPECT_LT(guesses, 110);
}

TEST(LoginPolicy, TellsTheSecondsToWaitRoundedUp) {
    const LoginCounter counter{.failed = 5, .locked_until = kNow + Duration{1'500'000}};

    const auto checked = check_not_locked(counter, kNow);

    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code(), "rate_limited");
    EXPECT_EQ(checked.error().retry_after_seconds, 2);
}

TEST(LoginPolicy, OpensTheAccountTheMomentTheLockEnds) {
    EXPECT_TRUE(check_not_locked({.failed = 5, .locked_until = kNow}, kNow));
}

Human invited(std::string_view code) {
    Human human;
    human.one_time_code = {sha256_hex(code), kNow + kOneTimeCodeLife};
    return human;
}

TEST(OneTimeCode, IsGoodUntilItExpires) {
    const Human human = invited("ilc_a");

    EXPECT_TRUE(check_one_time_code(human, sha256_hex("ilc_a"), kNow));
    EXPECT_TRUE(
        check_one_time_code(human, sha256_hex("ilc_a"), kNow + kOneTimeCodeLife - Duration{1}));
    EXPECT_FALSE(check_one_time_code(human, sha256_hex("ilc_a"), kNow + kOneTimeCodeLife));
}

TEST(OneTimeCode, IsRefusedWhenItIsAnotherOne) {
    EXPECT_FALSE(check_one_time_code(invited("ilc_a"), sha256_hex("ilc_b"), kNow));
    EXPECT_FALSE(check_one_time_code(Human{}, sha256_hex("ilc_b"), kNow));
    EXPECT_FALSE(check_one_time_code(Human{}, "", kNow));
}

TEST(OneTimeCode, NeverResetsThePasswordOfAnActivatedHuman) {
    Human human = invited("ilc_a");
    human.password_hash = "$argon2id$";

    EXPECT_FALSE(check_one_time_code(human, sha256_hex("ilc_a"), kNow));
}

const std::string kKeyBytes = "12345678901234567890";

TEST(TotpStep, IsAcceptedOnce) {
    const std::string key_text = to_base32(kKeyBytes);
    const std::string code = totp_code(kKeyBytes, kNow.microseconds / 1'000'000);

    const auto step = accepted_totp_step({key_text, code, 0}, kNow);

    ASSERT_TRUE(step);
    EXPECT_FALSE(accepted_totp_step({key_text, code, *step}, kNow));
    EXPECT_TRUE(accepted_totp_step({key_text, code, *step - 1}, kNow));
}

TEST(TotpStep, IsRefusedForAnotherCodeOrABrokenKey) {
    const std::string code = totp_code(kKeyBytes, kNow.microseconds / 1'000'000);
    const std::string other = code == "000000" ? "000001" : "000000";

    EXPECT_FALSE(accepted_totp_step({to_base32("09876543210987654321"), code, 0}, kNow));
    EXPECT_FALSE(accepted_totp_step({to_base32(kKeyBytes), other, 0}, kNow));
    EXPECT_FALSE(accepted_totp_step({"not base32!", code, 0}, kNow));
    EXPECT_FALSE(accepted_totp_step({to_base32(kKeyBytes), "", 0}, kNow));
}

}  // namespace
}  // namespace interlock
