#include "host/wire/recovery.h"

#include <gtest/gtest.h>

#include "host/wire/human.h"

namespace interlock {
namespace {

constexpr Timestamp kNow{1'794'744'000'000'000};
const HumanId kHuman = HumanId::trusted("hum_1");

Human human() {
    Human human;
    human.human_id = kHuman;
    human.email = "one@example.com";
    human.memberships = {TenantId::trusted("demo")};
    human.created_at = kNow;
    return human;
}

TEST(RecoveryCode, HasTwentyCharactersInGroupsThatPeopleCanCopy) {
    const SecretString code =
        recovery_code_from(SecretString("ilr_abcdefghijklmnopqrstuvwxyz234567"));

    EXPECT_EQ(code.reveal(), "ilr-abcd-efgh-ijkl-mnop-qrst");
    EXPECT_EQ(read_recovery_code(code.reveal())->reveal(), "abcdefghijklmnopqrst");
}

TEST(RecoveryCode, IsReadHoweverItIsTyped) {
    for (const char* typed :
         {"ABCD EFGH IJKL MNOP QRST", "abcdefghijklmnopqrst", " ilr-abcd-efgh-ijkl-mnop-qrst "}) {
        ASSERT_TRUE(read_recovery_code(typed)) << typed;
        EXPECT_EQ(read_recovery_code(typed)->reveal(), "abcdefghijklmnopqrst");
    }
    for (const char* typed : {"", "ilr", "abcdefghijklmnopqrs", "abcdefghijklmnopqrst2", "a.b"}) {
        EXPECT_FALSE(read_recovery_code(typed)) << typed;
    }
}

TEST(RecoveryCode, IsHashedForOneHumanOnly) {
    const SecretString code("abcdefghijklmnopqrst");

    EXPECT_NE(
        recovery_code_hash(kHuman, code), recovery_code_hash(HumanId::trusted("hum_2"), code));
}

TEST(HumanRow, KeepsEverythingAboutARecovery) {
    Human known = human();
    LoginRecovery& state = known.recovery;
    state.code_hashes = {"a", "b"};
    state.open = RecoveryCase{"operator:local", "lost", kNow, kNow, kNow, "hash"};
    state.last_started_at = kNow;
    state.recovered_at = kNow;
    state.vote_rests_until = kNow;
    state.second_factor_due = true;
    state.helpers = {"operator", "human:hum_2"};
    state.tries = {3, kNow};

    const auto again = decode_human_state(encode_state(known));

    ASSERT_TRUE(again);
    EXPECT_EQ(encode_state(*again), encode_state(known));
}

TEST(HumanRow, FromBeforeRecoveriesExistedIsStillRead) {
    Json stored = Json::object();
    const Json whole = encode_state(human());
    for (const auto& [key, value] : whole.members()) {
        if (key != "recovery") {
            stored.set(key, value);
        }
    }

    const auto read = decode_human_state(stored);

    ASSERT_TRUE(read);
    EXPECT_TRUE(read->recovery.code_hashes.empty());
    EXPECT_FALSE(read->recovery.open);
}

TEST(HumanRow, WithMoreCodesThanThereMayBeIsRefused) {
    Human known = human();
    known.recovery.code_hashes.assign(kRecoveryCodesMax + 1, "x");

    EXPECT_FALSE(decode_human_state(encode_state(known)));
}

TEST(RecoveryRequests, RefuseUnknownFieldsAndBounds) {
    EXPECT_FALSE(decode_recover(
        Json::object({{"email", "a@b"}, {"code", "c"}, {"password", "p"}, {"totp", "123456"}})));
    EXPECT_FALSE(decode_recover(
        Json::object({{"email", "a@b"}, {"code", std::string(65, 'c')}, {"password", "p"}})));
    EXPECT_FALSE(decode_start_recovery(Json::object({{"reason", std::string(201, 'r')}})));
    EXPECT_TRUE(decode_start_recovery(Json::object()));
    EXPECT_EQ(
        decode_activation_letter(Json::object({{"email", "Owner@Example.com"}}))->email,
        "owner@example.com");
}

}  // namespace
}  // namespace interlock
