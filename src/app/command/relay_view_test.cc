#include "app/command/relay_view.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/command/chat_command.h"
#include "app/command/command_tree.h"
#include "app/command/relay_command.h"
#include "app/command/relay_echo_command.h"

namespace interlock {
namespace {

Json parsed(const char* text) {
    return parse_json(text).value();
}

TEST(RelayView, ANewGatewayTellsTheLinesOfItsEnvironmentAndTheNextStep) {
    const std::string text = describe_new_gateway(
        parsed(R"({"gateway_id":"gw1","tenant_id":"demo","instance_id":"i1","secret":"s3"})"),
        "ws://127.0.0.1:8420/relay",
        Json::object());
    EXPECT_TRUE(text.contains("\nGATEWAY_RELAY_URL=ws://127.0.0.1:8420/relay\n"));
    EXPECT_TRUE(text.contains("\nGATEWAY_RELAY_ID=gw1\n"));
    EXPECT_TRUE(text.contains("\nGATEWAY_RELAY_SECRET=s3\n"));
    EXPECT_TRUE(text.contains("interlock relay bind --platform P --user U --instance i1"));
}

TEST(RelayView, ANewGatewayIsToldAsWhomItSpeaks) {
    const std::string text = describe_new_gateway(
        parsed(R"({"gateway_id":"gw1","tenant_id":"demo","instance_id":"i1","secret":"s3"})"),
        "",
        parsed(R"({"bots":[{"platform":"local","bot_id":"console"},
                           {"platform":"discord","bot_id":"9"},
                           {"platform":"discord","bot_id":"8"}]})"));
    EXPECT_TRUE(text.contains("\nGATEWAY_RELAY_PLATFORMS=local,discord\n")) << text;
    EXPECT_TRUE(text.contains(
        R"(GATEWAY_RELAY_BOT_IDS='{"local":{"botId":"console"},"discord":{"botId":"9"}}')"));
    EXPECT_TRUE(text.contains("\nGATEWAY_RELAY_PLATFORM=local\nGATEWAY_RELAY_BOT_ID=console\n"));
}

TEST(RelayView, AnEnrollmentTellsItsTokenForTheGatewaysEnvironment) {
    const std::string text = describe_enrollment(
        parsed(R"({"enrollment_token":"ilr_x","tenant_id":"demo","expires_at":"t"})"), "");
    EXPECT_TRUE(text.contains("\nGATEWAY_RELAY_ENROLL_TOKEN=ilr_x\n"));
}

TEST(RelayView, WhyNamesEveryStepOfEveryInstance) {
    const std::string text = describe_relay_why(parsed(
        R"({"event":"local/console/m1","tenant_id":"demo","at":"t","digest":"d","decisions":[
            {"instance_id":"i1","delivers":true,"outcome":"delivered",
             "steps":[{"code":"owner","reason":"he owns it"}]},
            {"instance_id":"i2","delivers":false,"outcome":"not_delivered",
             "steps":[{"code":"not_the_owner","reason":"he does not"}]}]})"));
    EXPECT_TRUE(text.contains("i1: delivered"));
    EXPECT_TRUE(text.contains("i2: not delivered"));
    EXPECT_TRUE(text.contains("not_the_owner"));
    EXPECT_TRUE(text.contains("he owns it"));
}

TEST(RelayView, AnEventNamesWhomItWentTo) {
    EXPECT_EQ(receivers_of(parsed(R"({"decisions":[]})")), "-");
    EXPECT_EQ(
        receivers_of(parsed(
            R"({"decisions":[{"instance_id":"a","delivers":true},
                {"instance_id":"b","delivers":false},{"instance_id":"c","delivers":true}]})")),
        "a, c");
}

TEST(RelayView, AnEventTellsWhatHappenedAndNotWhatTheGateSaid) {
    const Json event = parsed(
        R"({"event":"e","decisions":[
            {"instance_id":"a","delivers":true,"outcome":"delivered","steps":[]},
            {"instance_id":"b","delivers":true,"outcome":"laid_aside","steps":[]},
            {"instance_id":"c","delivers":true,"outcome":"not_delivered","steps":[]}],
            "delivered":["a"],"laid_aside":["b"],"user_id":"4242","chat_id":"-1001",
            "note":"prompt_closed","because":"It was answered already."})");
    EXPECT_EQ(receivers_of(event), "a, b (laid aside)");
    const std::string why = describe_relay_why(event);
    EXPECT_TRUE(why.contains("a: delivered")) << why;
    EXPECT_TRUE(why.contains("b: laid aside, because its buffer was full")) << why;
    EXPECT_TRUE(why.contains("c: not delivered")) << why;
    EXPECT_TRUE(why.contains("4242") && why.contains("-1001")) << why;
    EXPECT_TRUE(why.contains("It was answered already.")) << why;
}

TEST(RelayView, TheStatusNamesDeafBotsAndFullBuffers) {
    const std::string text = describe_relay_status(parsed(
        R"({"bots":[{"platform":"discord","bot_id":"9","state":"deaf","detail":"no route to host",
                     "deaf_since":"noon"}],
            "shedding":[{"instance_id":"i1","tenant_id":"demo","since":"noon","laid_aside":7,
                         "dropped":2}]})"));
    EXPECT_TRUE(text.contains("discord 9 has not heard its platform since noon")) << text;
    EXPECT_TRUE(text.contains("i1 of demo has a full buffer since noon: 7 laid aside, 2 dead"))
        << text;
}

TEST(RelayView, TheLogMarksWhatCanBeReplayed) {
    const std::string text = describe_relay_log(parsed(
        R"({"next":"","outbounds":[
            {"outbound_id":"out_1","state":"unknown","can_replay":true}]})"));
    EXPECT_TRUE(text.contains("unknown *"));
    EXPECT_TRUE(text.contains("interlock relay replay ID"));
}

TEST(RelayView, AStrangerIsShownWithTheNumberThatLetsHimIn) {
    const Json answer = parsed(
        R"({"is_cut":false,"strangers":[
            {"number":3,"tenant_id":null,"platform":"telegram","bot_id":"123","user_id":"4242",
             "user_name":"Zoe","chat_id":"4242","chat_name":"","discriminator":"",
             "last_seen":"t1"},
            {"number":4,"tenant_id":null,"platform":"telegram","bot_id":"123","user_id":"7",
             "user_name":"Bob","chat_id":"-1001","chat_name":"Crew","discriminator":"-1001",
             "last_seen":"t2"}]})");
    const std::string text = describe_relay_strangers(answer);
    EXPECT_TRUE(text.contains("user 4242")) << text;
    EXPECT_TRUE(text.contains("chat -1001")) << text;
    EXPECT_FALSE(text.contains("user 7")) << text;
    EXPECT_TRUE(text.contains("relay bind --stranger NO")) << text;
    EXPECT_TRUE(text.contains("relay route add --stranger NO")) << text;
    EXPECT_TRUE(describe_relay_strangers(parsed(R"({"strangers":[]})")).contains("Nobody"));
    EXPECT_TRUE(describe_relay_link(parsed(R"({"code":"ABCD-EFGH-IJKL","expires_at":"t"})"))
                    .contains("/link ABCD-EFGH-IJKL"));
}

TEST(RelayView, EmptyListsSayWhatComesFirst) {
    EXPECT_TRUE(describe_relay_instances(parsed(R"({"instances":[]})")).contains("gateway add"));
    EXPECT_TRUE(describe_relay_routes(parsed(R"({"routes":[]})")).contains("route add"));
    EXPECT_TRUE(describe_relay_status(parsed(R"({"bots":[]})")).contains("[[relay.bot]]"));
}

TEST(RelayView, WhatStrangersWroteCannotSteerTheTerminal) {
    const Json answer = Json::object(
        {{"gateways",
          Json::array({Json::object({{"gateway_id", "a\x1b[2J"}, {"tenant_id", "t"}})})}});
    EXPECT_FALSE(describe_relay_gateways(answer).contains('\x1b'));
}

TEST(ChatScreen, ShowsTheBotAndNotWhatWasSaid) {
    ChatScreen screen;
    EXPECT_EQ(screen.show(parsed(R"({"user":"ann","text":"hello","edits":0})")), "");
    EXPECT_EQ(screen.show(parsed(R"({"user":"","text":"hi","edits":0})")), "bot: hi\n");
    EXPECT_EQ(screen.show(parsed(R"({"user":"","text":"hi!","edits":1})")), "bot (edited): hi!\n");
}

TEST(ChatScreen, NumbersTheButtonsOfTheLatestQuestion) {
    ChatScreen screen;
    EXPECT_FALSE(screen.button(1).has_value());
    const std::string text = screen.show(parsed(
        R"({"user":"","message_id":"m7","text":"Go on?","edits":0,
            "options":[{"id":"y","label":"Yes"},{"id":"n","label":"No"}]})"));
    EXPECT_EQ(text, "bot: Go on?\n  [1] Yes\n  [2] No\n");
    ASSERT_TRUE(screen.button(2).has_value());
    EXPECT_EQ(screen.button(2)->message_id, "m7");
    EXPECT_EQ(screen.button(2)->option_id, "n");
    EXPECT_FALSE(screen.button(3).has_value());
    EXPECT_FALSE(screen.button(0).has_value());
}

TEST(ChatScreen, APressIsANumberAndNothingElse) {
    EXPECT_EQ(press_number("/press 2"), 2U);
    EXPECT_EQ(press_number("/press two"), 0U);
    EXPECT_EQ(press_number("press 2"), 0U);
    EXPECT_EQ(press_number("/pressed 2"), 0U);
}

TEST(RelayEcho, WaitsLongerAfterEachFailureUpToHalfAMinute) {
    RedialPause pause;
    std::vector<std::int64_t> waits;
    for (int i = 0; i < 7; ++i) {
        waits.push_back(pause.next_seconds());
    }
    EXPECT_EQ(waits, (std::vector<std::int64_t>{1, 2, 4, 8, 16, 30, 30}));
    pause.reset();
    EXPECT_EQ(pause.next_seconds(), 1);
}

class RelayWords : public ::testing::Test {
protected:
    RelayWords() {
        line.app.require_subcommand(1);
        line.app.fallthrough();
        line.app.add_flag("--json", line.global.json, "Print JSON.");
        add_relay_command(line);
        add_chat_command(line);
    }
    bool parses(std::vector<std::string> words) {
        std::ranges::reverse(words);
        try {
            line.app.parse(words);
        } catch (const CLI::ParseError&) {
            return false;
        }
        return static_cast<bool>(line.run);
    }
    CommandLine line;
};

TEST_F(RelayWords, EveryWordAndOptionSaysWhatItIsFor) {
    const auto tree = command_tree(line.app);
    EXPECT_GT(tree.size(), 30U);
    for (const CommandEntry& entry : tree) {
        EXPECT_TRUE(entry.path.empty() || !entry.description.empty()) << entry.path_text();
        for (const OptionEntry& option : entry.options) {
            EXPECT_NE(option.description, "") << entry.path_text();
        }
    }
}

TEST_F(RelayWords, TakesWhatTheDocumentsWrite) {
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"relay",
              "gateway",
              "add",
              "--gateway-id",
              "G",
              "--tenant",
              "T",
              "--instance",
              "I",
              "--secret",
              "S",
              "--wake-url",
              "U"},
             {"relay", "enrollment", "create", "--tenant", "T"},
             {"relay",
              "route",
              "add",
              "--platform",
              "P",
              "--bot-id",
              "B",
              "--discriminator",
              "D",
              "--tenant",
              "T"},
             {"relay", "bind", "--platform", "P", "--user", "U", "--instance", "I"},
             {"relay", "bind", "--stranger", "3", "--instance", "I"},
             {"relay", "route", "add", "--stranger", "4", "--tenant", "T"},
             {"relay", "strangers", "--tenant", "T"},
             {"relay", "link", "create", "--instance", "I", "--platform", "P", "--bot-id", "B"},
             {"relay",
              "scope",
              "claim",
              "--instance",
              "I",
              "--platform",
              "P",
              "--guild",
              "G",
              "--channel",
              "C"},
             {"relay",
              "principal",
              "--instance",
              "I",
              "--policy",
              "allow-list",
              "--allow",
              "a,b",
              "--platform",
              "P"},
             {"relay", "dead-letters"},
             {"relay", "dead-letters", "requeue", "--instance", "I", "--buffer-id", "7"},
             {"relay", "why", "local/console/m1"},
             {"relay", "revoke", "--gateway-id", "G"},
             {"relay", "session-key"},
             {"chat", "--tenant", "T", "--as", "U", "--say", "hello", "--wait", "5"}}) {
        line.run = nullptr;
        EXPECT_TRUE(parses(words)) << words[0] << " " << words[1];
    }
}

TEST_F(RelayWords, RefusesAPolicyThatNobodyKnowsAndARouteWithoutItsTenant) {
    EXPECT_FALSE(parses({"relay", "principal", "--instance", "I", "--policy", "all"}));
    EXPECT_FALSE(parses(
        {"relay", "route", "add", "--platform", "P", "--bot-id", "B", "--discriminator", "D"}));
}

}  // namespace
}  // namespace interlock
