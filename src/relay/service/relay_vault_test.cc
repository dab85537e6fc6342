#include "relay/service/relay_vault.h"

#include <gtest/gtest.h>

#include "testing/outbound_desk.h"

namespace interlock {
namespace {

constexpr const char* kKind = "discord.interaction_token";

class RelayVaultTest : public testing::Test {
protected:
    void bind(const std::string& token, std::vector<std::string> keys = {"k1", "k2"}) {
        desk_.change([&](RelayTurn& turn) {
            CapabilityBinding binding;
            binding.tenant_id = TenantId::trusted("acme");
            binding.instance_id = "i1";
            binding.bot = {"discord", "b1"};
            binding.session_keys = std::move(keys);
            binding.kind = kKind;
            binding.value = SecretString(token);
            binding.chat_id = "c1";
            binding.expires_at = turn.now() + Duration::of_minutes(15);
            ASSERT_TRUE(vault().bind(turn, binding));
        });
    }
    std::optional<std::string> find(
        const std::string& key,
        const std::string& tenant = "acme",
        const std::string& instance = "i1") {
        const auto held = vault().find(
            {.tenant_id = TenantId::trusted(tenant),
             .instance_id = instance,
             .bot = {"discord", "b1"},
             .session_key = key,
             .kind = kKind},
            desk_.clock.now());
        return held ? std::optional(std::string(held->value.reveal())) : std::nullopt;
    }
    std::optional<HeldCapability> deferred() {
        return vault().open_deferred(kChat, desk_.clock.now());
    }
    void close(const std::string& group) {
        desk_.change([&](RelayTurn& turn) { vault().close_deferred(turn, kChat, group); });
    }
    RelayVault& vault() { return desk_.process->vault; }

    const DeferredChat kChat{"i1", {"discord", "b1"}, "c1"};
    OutboundDesk desk_;
};

// relay-connector.md#capabilities
TEST_F(RelayVaultTest, GivesACapabilityUnderEveryKeyOfItsSession) {
    bind("tok");
    EXPECT_EQ(find("k1"), "tok");
    EXPECT_EQ(find("k2"), "tok");
    EXPECT_EQ(find("k3"), std::nullopt);
}

TEST_F(RelayVaultTest, KeepsItFromOtherTenantsAndInstances) {  // relay-connector.md#capabilities
    bind("tok");
    EXPECT_EQ(find("k1", "rival"), std::nullopt);
    EXPECT_EQ(find("k1", "acme", "i2"), std::nullopt);
}

TEST_F(RelayVaultTest, ForgetsItWhenItsTimeIsOver) {
    bind("tok");
    desk_.clock.advance(Duration::of_minutes(15));
    EXPECT_EQ(find("k1"), std::nullopt);
    EXPECT_FALSE(deferred());
    vault().sweep(desk_.clock.now());
    EXPECT_EQ(vault().chats_with_deferred(), 0u);
}

TEST_F(RelayVaultTest, StoresOnlySealedText) {
    bind("canary-token-value");
    const auto contents = desk_.store->take_contents();
    for (const auto& [key, row] : contents.rows) {
        EXPECT_EQ(row.json.find("canary"), std::string::npos) << key.first;
    }
}

// relay-connector.md#capabilities
TEST_F(RelayVaultTest, OpensTheOldestDeferredAnswerOnceAndThenTheNext) {
    bind("first", {"k1"});
    desk_.clock.advance(Duration::of_seconds(1));
    bind("second", {"k9"});
    auto oldest = deferred();
    ASSERT_TRUE(oldest);
    EXPECT_EQ(oldest->value.reveal(), "first");
    close(oldest->group);
    auto next = deferred();
    ASSERT_TRUE(next);
    EXPECT_EQ(next->value.reveal(), "second");
    close(next->group);
    EXPECT_FALSE(deferred());
    EXPECT_EQ(find("k1"), "first");  // It can still be followed up.
}

TEST_F(RelayVaultTest, KnowsAfterARestartWhichAnswersHang) {
    bind("tok");
    desk_.restart();
    auto held = deferred();
    ASSERT_TRUE(held);
    EXPECT_EQ(held->value.reveal(), "tok");
    close(held->group);
    desk_.restart();
    EXPECT_FALSE(deferred());
    EXPECT_EQ(find("k2"), "tok");
}

// Two commands of one session, bound in one moment: each "thinking…" gets the answer to it, also
// after a restart.
// relay-connector.md#capabilities
TEST_F(RelayVaultTest, KeepsEveryInteractionOfASessionAndUsesTheOldestFirst) {
    bind("first");
    bind("second");
    bind("third");
    for (const std::string expected : {"first", "second", "third"}) {
        EXPECT_EQ(find("k1"), expected);
        EXPECT_EQ(find("k2"), expected);
        auto held = deferred();
        ASSERT_TRUE(held);
        EXPECT_EQ(held->value.reveal(), expected);
        close(held->group);
        desk_.restart();
    }
    EXPECT_FALSE(deferred());
    EXPECT_EQ(find("k1"), "third");  // What is said further belongs to the last.
}

TEST_F(RelayVaultTest, ForgetsTheOldestOfASessionBeyondTheBound) {
    for (std::size_t i = 0; i <= kCapabilitiesPerSessionMax; ++i) {
        bind("tok" + std::to_string(i));
    }
    EXPECT_EQ(find("k1"), "tok1");
    desk_.restart();
    EXPECT_EQ(find("k1"), "tok1");
}

TEST_F(RelayVaultTest, ForgetsTheOldestDeferredAnswerBeyondTheBound) {
    for (std::size_t i = 0; i <= kDeferredPerChatMax; ++i) {
        bind("tok" + std::to_string(i), {"k" + std::to_string(i)});
    }
    std::vector<std::string> opened;
    while (auto held = deferred()) {
        opened.emplace_back(held->value.reveal());
        close(held->group);
    }
    EXPECT_EQ(opened.size(), kDeferredPerChatMax);
    EXPECT_EQ(opened.front(), "tok1");
}

TEST_F(RelayVaultTest, RefusesWhatHasNoValueSessionOrTime) {
    desk_.change([&](RelayTurn& turn) {
        CapabilityBinding binding;
        binding.session_keys = {"k"};
        binding.expires_at = turn.now() + Duration::of_minutes(1);
        EXPECT_FALSE(vault().bind(turn, binding));
        binding.value = SecretString("tok");
        binding.expires_at = turn.now();
        EXPECT_FALSE(vault().bind(turn, binding));
        binding.expires_at = turn.now() + Duration::of_minutes(1);
        binding.session_keys.clear();
        EXPECT_FALSE(vault().bind(turn, binding));
    });
}

}  // namespace
}  // namespace interlock
