#include "relay/service/relay_prompts.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "testing/outbound_desk.h"

namespace interlock {
namespace {

const BotKey kBot{"discord", "b1"};

class RelayPromptsTest : public testing::Test {
protected:
    static PromptAction prompt(std::optional<std::int64_t> timeout = std::nullopt) {
        PromptAction action;
        action.chat_id = "c1";
        action.content = "Go?";
        action.prompt_kind = "approval";
        action.prompt_id = "p1";
        action.options = {{"y", "Yes", ""}, {"n", "No", ""}};
        action.timeout_seconds = timeout;
        return action;
    }
    Result<void> open(const PromptAction& action = prompt()) {
        Result<void> opened;
        desk_.change([&](RelayTurn& turn) {
            opened = prompts().open(turn, kBot, OutboundDesk::caller(), action);
        });
        return opened;
    }
    std::optional<PromptPress> press(
        const std::string& user,
        const std::string& option = "y",
        const std::string& message_id = "",
        const std::vector<std::string>& allowed = {"i1"}) {
        std::optional<PromptPress> pressed;
        desk_.change([&](RelayTurn& turn) {
            pressed =
                prompts().press(turn, {kBot, "c1", user, allowed}, {"p1", option, "", message_id});
        });
        return pressed;
    }
    RelayPrompts& prompts() { return desk_.process->prompts; }

    OutboundDesk desk_;
};

TEST_F(RelayPromptsTest, TheFirstPressCountsAndLaterOnesAreLate) {
    ASSERT_TRUE(open());
    const auto first = press("ann");
    ASSERT_TRUE(first);
    EXPECT_EQ(first->verdict, PromptPress::Verdict::first);
    EXPECT_EQ(first->instance_id, "i1");
    EXPECT_EQ(first->response.label, "Yes");
    const auto second = press("bob", "n");
    ASSERT_TRUE(second);
    EXPECT_EQ(second->verdict, PromptPress::Verdict::late);
    EXPECT_EQ(second->answered_by, "ann");
}

TEST_F(RelayPromptsTest, RemembersThePressAcrossARestart) {
    ASSERT_TRUE(open());
    ASSERT_TRUE(press("ann"));
    desk_.restart();
    EXPECT_EQ(press("bob")->verdict, PromptPress::Verdict::late);
}

TEST_F(RelayPromptsTest, KnowsNoUnknownPromptOptionOrStranger) {
    EXPECT_FALSE(press("ann"));
    ASSERT_TRUE(open());
    EXPECT_FALSE(press("ann", "maybe"));
    EXPECT_FALSE(press("ann", "y", "", {"i2"}));
    EXPECT_EQ(press("ann")->verdict, PromptPress::Verdict::first);
}

TEST_F(RelayPromptsTest, AButtonOfAnotherMessageCountsForNothing) {
    ASSERT_TRUE(open());
    desk_.change([&](RelayTurn& turn) { prompts().set_message(turn, {kBot, "c1", "p1"}, "m7"); });
    EXPECT_FALSE(press("ann", "y", "m3"));
    EXPECT_TRUE(press("ann", "y", "m7"));
}

TEST_F(RelayPromptsTest, EndsAfterAnHourUnlessTold) {
    ASSERT_TRUE(open());
    desk_.clock.advance(Duration::of_minutes(59));
    desk_.change([&](RelayTurn& turn) { prompts().set_message(turn, {kBot, "c1", "p1"}, "m7"); });
    desk_.clock.advance(Duration::of_minutes(1));
    EXPECT_FALSE(press("ann"));
    ASSERT_TRUE(open(prompt(24 * 3600)));
    desk_.clock.advance(Duration::of_hours(23));
    EXPECT_TRUE(press("ann"));
}

TEST_F(RelayPromptsTest, RefusesTimesOutOfRange) {
    EXPECT_EQ(open(prompt(0)).error().code(), errors::out_of_range.code);
    EXPECT_EQ(open(prompt(24 * 3600 + 1)).error().code(), errors::out_of_range.code);
}

TEST_F(RelayPromptsTest, RefusesAnIdThatWaitsAndTakesItAgainAfterAPress) {
    ASSERT_TRUE(open());
    EXPECT_EQ(open().error().code(), errors::conflict.code);
    ASSERT_TRUE(press("ann"));
    EXPECT_TRUE(open());
}

TEST_F(RelayPromptsTest, AskedHookMayKeepItOpenForSomebodyElse) {  // relay-connector.md#prompts
    ASSERT_TRUE(open());
    prompts().set_hook(
        "approval", [](const PromptRow&, const std::string& user) { return user == "boss"; });
    EXPECT_EQ(press("ann")->verdict, PromptPress::Verdict::not_allowed);
    EXPECT_EQ(press("boss")->verdict, PromptPress::Verdict::first);
}

TEST_F(RelayPromptsTest, AWithdrawnPromptIsGone) {
    ASSERT_TRUE(open());
    desk_.change([&](RelayTurn& turn) { prompts().withdraw(turn, {kBot, "c1", "p1"}); });
    EXPECT_FALSE(press("ann"));
}

}  // namespace
}  // namespace interlock
