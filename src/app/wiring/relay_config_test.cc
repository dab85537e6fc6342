#include "app/wiring/relay_config.h"

#include <gtest/gtest.h>
#include <toml++/toml.h>
#include <fstream>

#include "base/errors.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

Result<RelayConfig> read(const std::string& text, const std::string& path = "relay.toml") {
    toml::table document = toml::parse(text);
    RelayConfig config;
    TRY(take_relay_config(document, path, config));
    return config;
}

TEST(RelayConfig, ReadsBotsWithTheirSecrets) {
    const auto config = read(R"(
        [[relay.bot]]
        platform = "telegram"
        bot_id = 123
        public_url = "https://chat.example/"
        token = "123:abc"
        [[relay.bot]]
        platform = "console"
    )");
    ASSERT_TRUE(config);
    ASSERT_EQ(config->bots.size(), 2u);
    EXPECT_EQ(config->bots[0].bot_id, "123");
    EXPECT_EQ(config->bots[0].public_url, "https://chat.example");
    EXPECT_EQ(config->bots[0].secret("token").reveal(), "123:abc");
    EXPECT_EQ(config->bots[1].platform, "local");
    EXPECT_EQ(config->bots[1].bot_id, "console");
}

TEST(RelayConfig, ReadsASecretFromAFileBesideTheConfiguration) {
    const TempFolder folder;
    std::ofstream(folder.path() / "t.token") << "123:abc\n";
    const auto config = read(
        "[[relay.bot]]\nplatform = \"telegram\"\nbot_id = \"1\"\ntoken_file = \"t.token\"\n",
        (folder.path() / "relay.toml").string());
    ASSERT_TRUE(config);
    EXPECT_EQ(config->bots[0].value("token"), "123:abc");
}

TEST(RelayConfig, SaysPerBotWhetherStrangersAreAnswered) {
    const auto config = read(R"(
        [[relay.bot]]
        platform = "local"
        [[relay.bot]]
        platform = "local"
        bot_id = "quiet"
        answer_strangers = false
        [[relay.bot]]
        platform = "sms"
        bot_id = "+1"
        account_sid = "AC1"
        auth_token = "x"
        [[relay.bot]]
        platform = "sms"
        bot_id = "+2"
        account_sid = "AC1"
        auth_token = "x"
        answer_strangers = true
    )");
    ASSERT_TRUE(config);
    EXPECT_TRUE(config->bots[0].answers_strangers);
    EXPECT_FALSE(config->bots[1].answers_strangers);
    EXPECT_FALSE(config->bots[2].answers_strangers);  // Each answer would cost money.
    EXPECT_TRUE(config->bots[3].answers_strangers);
    EXPECT_FALSE(read("[[relay.bot]]\nplatform = \"local\"\nanswer_strangers = \"no\"\n"));
}

TEST(RelayConfig, NeverShowsASecret) {
    const auto config = read(
        "[[relay.bot]]\nplatform = \"sms\"\nbot_id = \"+1\"\naccount_sid = \"AC1\"\n"
        "auth_token = \"canary\"\n");
    ASSERT_TRUE(config);
    const std::string text = shown(config->bots[0]);
    EXPECT_EQ(text.find("canary"), std::string::npos);
    EXPECT_NE(text.find("AC1"), std::string::npos);
}

TEST(RelayConfig, RefusesWhatNoBotHas) {
    for (const char* text : {
             "[[relay.bot]]\nbot_id = \"1\"\n",
             "[[relay.bot]]\nplatform = \"irc\"\nbot_id = \"1\"\n",
             "[[relay.bot]]\nplatform = \"telegram\"\nbot_id = \"1\"\n",
             "[[relay.bot]]\nplatform = \"telegram\"\ntoken = \"x\"\n",
             "[[relay.bot]]\nplatform = \"telegram\"\nbot_id = \"1\"\ntoken = \"x\"\ntokn = \"\"\n",
             "[[relay.bot]]\nplatform = \"telegram\"\nbot_id = \"1\"\ntoken_file = \"/none\"\n",
             "[[relay.bot]]\nplatform = \"local\"\nname_file = \"x\"\n",
             "[[relay.bot]]\nplatform = \"local\"\n[[relay.bot]]\nplatform = \"local\"\n",
             "[relay]\nbot = 5\n",
             "[[relay.issuer]]\nissuer = \"https://id.example\"\n",
         }) {
        const auto config = read(text);
        ASSERT_FALSE(config) << text;
        EXPECT_EQ(config.error(), errors::invalid_config);
    }
}

TEST(RelayConfig, LeavesOtherKeysToTheirOwners) {
    toml::table document =
        toml::parse("[relay.wake]\nallow_cidrs = [\"10.0.0.0/8\"]\n[http]\nport = 1\n");
    RelayConfig config;
    ASSERT_TRUE(take_relay_config(document, "x", config));
    EXPECT_TRUE(document["relay"]["wake"]["allow_cidrs"].is_array());
    EXPECT_TRUE(document["http"]["port"].is_integer());
}

}  // namespace
}  // namespace interlock
