#include "venues/paper/paper_keys.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "host/rules/exchange_key_policy.h"
#include "testing/fake_clock.h"

namespace interlock {
namespace {

ExchangeKeys keys_with(const std::string& api_key) {
    ExchangeKeys keys;
    keys.exchange = "paper";
    keys.api_key = SecretString(api_key);
    keys.api_secret = SecretString("a secret");
    return keys;
}

class PaperKeysTest : public ::testing::Test {
protected:
    KeyVerdict verdict_on(const std::string& api_key) {
        const auto permissions = keys.permissions(keys_with(api_key));
        EXPECT_TRUE(permissions) << api_key;
        return judge_key(*permissions, clock.now());
    }

    FakeClock clock;
    PaperKeys keys{clock};
};

TEST_F(PaperKeysTest, AKeyNobodyRegisteredIsAGoodSpotKey) {
    EXPECT_EQ(*keys.permissions(keys_with("anything")), good_spot_permissions());
}

TEST_F(PaperKeysTest, EveryFaultHasAnExampleWithJustThatFault) {
    ASSERT_EQ(all_key_faults().size(), 10u);
    for (const KeyFault fault : all_key_faults()) {
        const std::string text = "paper_key_" + std::string(to_word(fault));
        EXPECT_EQ(verdict_on(text), (KeyVerdict{KeyStanding::refused, {fault}, {}})) << text;
    }
}

TEST_F(PaperKeysTest, EveryWarningHasAnExampleWithJustThatWarning) {
    for (const KeyWarning warning : {KeyWarning::no_ip_restriction, KeyWarning::expires_soon}) {
        const std::string text = "paper_key_" + std::string(to_word(warning));
        EXPECT_EQ(verdict_on(text), (KeyVerdict{KeyStanding::good, {}, {warning}})) << text;
    }
}

TEST_F(PaperKeysTest, AKeyHasThePermissionsItWasGivenLast) {
    KeyPermissions permissions = good_spot_permissions();
    permissions.can_margin = true;
    ASSERT_TRUE(keys.set(SecretString("mine"), permissions));
    EXPECT_EQ(*keys.permissions(keys_with("mine")), permissions);
    ASSERT_TRUE(keys.set(SecretString("mine"), good_spot_permissions()));
    EXPECT_EQ(*keys.permissions(keys_with("mine")), good_spot_permissions());
}

TEST_F(PaperKeysTest, AnUnreachableVenueAnswersNobody) {
    keys.set_reachable(false);
    const auto silent = keys.permissions(keys_with("anything"));
    ASSERT_FALSE(silent);
    EXPECT_EQ(silent.error(), errors::unavailable);
    keys.set_reachable(true);
    EXPECT_TRUE(keys.permissions(keys_with("anything")));
}

TEST_F(PaperKeysTest, OneKeyIsNeverAnsweredAbout) {
    EXPECT_FALSE(keys.permissions(keys_with("paper_key_unreachable")));
}

TEST_F(PaperKeysTest, KeysOfOtherExchangesAreRefused) {
    ExchangeKeys foreign = keys_with("anything");
    foreign.exchange = "binance";
    EXPECT_EQ(keys.permissions(foreign).error(), errors::unknown_exchange);
}

TEST_F(PaperKeysTest, TakesNoMoreKeysThanItsBound) {
    bool full = false;
    std::size_t taken = 0;
    while (!full && taken <= PaperKeys::kKeysMax) {
        full = !keys.set(SecretString("key " + std::to_string(taken)), good_spot_permissions());
        taken += full ? 0 : 1;
    }
    EXPECT_EQ(taken, PaperKeys::kKeysMax - 13);  // Thirteen examples were there.
    EXPECT_TRUE(keys.set(SecretString("key 0"), good_spot_permissions()));
}

}  // namespace
}  // namespace interlock
