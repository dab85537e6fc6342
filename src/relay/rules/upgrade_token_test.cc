#include "relay/rules/upgrade_token.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/bytes.h"

namespace interlock {
namespace {

constexpr std::int64_t kNow = 1750000000;

TokenVerdict judge(
    const std::string& text, const std::vector<std::string>& secrets, std::int64_t now = kNow) {
    const auto token = read_upgrade_token(text);
    return token ? verify_upgrade_token(*token, secrets, {.now_seconds = now, .skew_seconds = 0})
                 : TokenVerdict::rejected;
}

TEST(UpgradeToken, IsAcceptedUnderAnySecretOfTheList) {
    EXPECT_TRUE(rc::check([] {
        const auto gateway = *rc::gen::element<std::string>("gw", "a:b:c", "", "gw-é", ":");
        const std::string token = mint_upgrade_token(gateway, "current", kNow + 300);
        const auto read = read_upgrade_token(token);
        RC_ASSERT(read.has_value());
        RC_ASSERT(read->gateway_id == gateway);
        RC_ASSERT((judge(token, {"old", "current", "older"}) == TokenVerdict::accepted));
        RC_ASSERT((judge(token, {"old"}) == TokenVerdict::rejected));
        RC_ASSERT((judge(token, {}) == TokenVerdict::rejected));
    }));
}

TEST(UpgradeToken, OutlivesItsExpiryByTheSkewOnly) {
    const auto token = read_upgrade_token(mint_upgrade_token("gw", "s", kNow));
    ASSERT_TRUE(token.has_value());
    const auto at = [&token](std::int64_t now, std::int64_t skew) {
        return verify_upgrade_token(*token, {"s"}, {.now_seconds = now, .skew_seconds = skew});
    };
    EXPECT_EQ(at(kNow, 0), TokenVerdict::accepted);
    EXPECT_EQ(at(kNow + 1, 0), TokenVerdict::expired);
    EXPECT_EQ(at(kNow + 30, 30), TokenVerdict::accepted);
    EXPECT_EQ(at(kNow + 31, 30), TokenVerdict::expired);
}

TEST(UpgradeToken, IsExpiredOnlyWhenItsSignatureIsGood) {
    EXPECT_EQ(judge(mint_upgrade_token("gw", "s", kNow - 1), {"s"}), TokenVerdict::expired);
    EXPECT_EQ(judge(mint_upgrade_token("gw", "s", kNow - 1), {"t"}), TokenVerdict::rejected);
}

TEST(UpgradeToken, IsNeverGoodUnderAnEmptySecret) {
    EXPECT_EQ(judge(mint_upgrade_token("gw", "", kNow + 1), {""}), TokenVerdict::rejected);
}

TEST(UpgradeToken, IsRefusedWithAnyCharacterChanged) {
    EXPECT_TRUE(rc::check([] {
        std::string token = mint_upgrade_token("gateway", "secret", kNow + 300);
        const auto at = *rc::gen::inRange<std::size_t>(0, token.size());
        const char was = token[at];
        token[at] = *rc::gen::elementOf(std::string("Aa0_-b9Z"));
        RC_PRE(token[at] != was);
        const auto read = read_upgrade_token(token);
        // Upper-case digits of the same signature are the same signature.
        RC_PRE(
            !(read && read->gateway_id == "gateway" && read->expires_at == kNow + 300 &&
              judge(token, {"secret"}) == TokenVerdict::accepted));
        RC_ASSERT((judge(token, {"secret"}) == TokenVerdict::rejected));
    }));
}

TEST(UpgradeToken, IsNotReadFromAnythingElse) {
    for (const std::string_view text : {"", "=", "e30", "OjE", "!!!!", "Og", "Ojo"}) {
        EXPECT_FALSE(read_upgrade_token(text).has_value()) << text;
    }
    EXPECT_FALSE(read_upgrade_token(std::string(kUpgradeTokenBytesMax + 1, 'A')).has_value());
    const std::string negative = to_base64url("gw:-5:" + std::string(64, 'a'));
    EXPECT_FALSE(read_upgrade_token(negative).has_value());
    EXPECT_FALSE(read_upgrade_token(to_base64url("gw:99999999999999999999:" + std::string(64, 'a')))
                     .has_value());
}

TEST(UpgradeToken, NeverFailsOnAnyBytes) {
    EXPECT_TRUE(rc::check([](const std::string& bytes) {
        (void)read_upgrade_token(bytes);
        const auto token = read_upgrade_token(to_base64url(bytes));
        RC_ASSERT((!token || token->signature.size() == 32u));
    }));
}

}  // namespace
}  // namespace interlock
