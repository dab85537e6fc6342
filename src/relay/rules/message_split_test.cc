#include "relay/rules/message_split.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace interlock {
namespace {

std::string draw_message() {
    static const std::vector<std::string> kPieces = {
        "word",
        " ",
        "\n",
        "😀",
        "é",
        "```",
        "```py\n",
        "\n```\n",
        "averyveryverylongwordindeed",
        "中"};
    std::string text;
    const int count = *rc::gen::inRange(0, 60);
    for (int i = 0; i < count; ++i) {
        text += *rc::gen::elementOf(kPieces);
    }
    return text;
}

std::string without_blanks(std::string_view text) {
    std::string kept;
    for (const char c : text) {
        if (c != ' ' && c != '\n') {
            kept += c;
        }
    }
    return kept;
}

SplitRule draw_rule(bool keeps_fences) {
    return {
        .limit = *rc::gen::inRange<std::size_t>(kSplitLimitMin, 80),
        .unit = *rc::gen::element(LengthUnit::code_points, LengthUnit::utf16, LengthUnit::bytes),
        .keeps_fences = keeps_fences};
}

TEST(MessageSplit, FitsEveryPartAndLosesNothing) {
    EXPECT_TRUE(rc::check([] {
        const std::string text = draw_message();
        const SplitRule rule = draw_rule(false);
        std::string joined;
        for (const std::string& part : split_message(text, rule)) {
            RC_ASSERT(length_in(part, rule.unit) <= rule.limit);
            joined += part;
        }
        RC_ASSERT(without_blanks(joined) == without_blanks(text));
    }));
}

TEST(MessageSplit, FitsEveryPartWithItsFences) {
    EXPECT_TRUE(rc::check([] {
        const SplitRule rule = draw_rule(true);
        for (const std::string& part : split_message(draw_message(), rule)) {
            RC_ASSERT(length_in(part, rule.unit) <= rule.limit);
        }
    }));
}

TEST(MessageSplit, PrefersLinesThenSpacesThenCharacters) {
    const SplitRule rule{.limit = 32, .unit = LengthUnit::code_points, .keeps_fences = false};
    EXPECT_EQ(
        split_message("first line here\nsecond line of it\nthird", rule),
        (std::vector<std::string>{"first line here", "second line of it\nthird"}));
    EXPECT_EQ(
        split_message("one two three four five six seven eight", rule),
        (std::vector<std::string>{"one two three four five six", "seven eight"}));
    EXPECT_EQ(
        split_message(std::string(40, 'a'), rule),
        (std::vector<std::string>{std::string(32, 'a'), std::string(8, 'a')}));
}

TEST(MessageSplit, ClosesAndReopensACodeBlock) {
    const SplitRule rule{.limit = 32, .unit = LengthUnit::code_points, .keeps_fences = true};
    EXPECT_EQ(
        split_message("```py\nx = 1\nx = 2\nx = 3\nx = 4\nx = 5\n```\nend", rule),
        (std::vector<std::string>{
            "```py\nx = 1\nx = 2\nx = 3\n```", "```py\nx = 4\nx = 5\n```\nend"}));
}

TEST(MessageSplit, NeverLeavesAnEmptyCodeBlock) {
    const SplitRule rule{.limit = 32, .unit = LengthUnit::code_points, .keeps_fences = true};
    EXPECT_EQ(
        split_message("```py\n" + std::string(40, 'x') + "\n```", rule),
        (std::vector<std::string>{
            "```py\n" + std::string(22, 'x') + "\n```",
            "```py\n" + std::string(18, 'x') + "\n```"}));
    EXPECT_EQ(
        split_message("words before it\n```\n" + std::string(20, 'x') + "\n```", rule),
        (std::vector<std::string>{"words before it", "```\n" + std::string(20, 'x') + "\n```"}));
}

TEST(MessageSplit, KeepsAnAstralCharacterWhole) {
    std::string text;
    for (int i = 0; i < 33; ++i) {
        text += "😀";
    }
    const auto parts =
        split_message(text, {.limit = 33, .unit = LengthUnit::utf16, .keeps_fences = false});
    ASSERT_EQ(parts.size(), 3u);
    EXPECT_EQ(length_in(parts[0], LengthUnit::utf16), 32u);
}

TEST(MessageSplit, LeavesAShortTextAloneAndSendsNothingForNothing) {
    EXPECT_EQ(split_message("hi", {}), std::vector<std::string>{"hi"});
    EXPECT_TRUE(split_message("", {}).empty());
}

TEST(MessageSplit, CountsInEachUnit) {
    EXPECT_EQ(length_in("a😀é", LengthUnit::code_points), 3u);
    EXPECT_EQ(length_in("a😀é", LengthUnit::utf16), 4u);
    EXPECT_EQ(length_in("a😀é", LengthUnit::bytes), 7u);
    EXPECT_EQ(length_in("\xFF\xFE", LengthUnit::utf16), 2u);
}

}  // namespace
}  // namespace interlock
