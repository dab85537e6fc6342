#include "relay/platforms/telegram/telegram_markup.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "relay/platforms/telegram/telegram_markdown.h"

namespace interlock {
namespace {

constexpr std::size_t kUnits = 4096;

struct MarkupCase {
    std::string_view name;
    std::string_view written;
    std::string_view sent;
};

class TelegramMarkup : public testing::TestWithParam<MarkupCase> {};

TEST_P(TelegramMarkup, SaysTheSameToTelegram) {
    const std::string sent = telegram_markup(GetParam().written, kUnits);
    EXPECT_EQ(sent, GetParam().sent);
    EXPECT_TRUE(is_markdown_v2(sent));
}

INSTANTIATE_TEST_SUITE_P(
    Standard,
    TelegramMarkup,
    testing::Values(
        MarkupCase{"Bold", "**Yes.** Done!", "*Yes\\.* Done\\!"},
        MarkupCase{"BoldByUnderscores", "__Yes__, 1.5", "*Yes*, 1\\.5"},
        MarkupCase{"Italic", "an *odd* case.", "an _odd_ case\\."},
        MarkupCase{"ItalicByUnderscores", "an _odd_ case.", "an _odd_ case\\."},
        MarkupCase{"Both", "***all*** of it.", "*_all_* of it\\."},
        MarkupCase{"ItalicInBold", "**a *b* c**", "*a _b_ c*"},
        MarkupCase{"EndTogether", "**a *b***.", "*a _b_*\\."},
        MarkupCase{"Gone", "~~old~~ new.", "~old~ new\\."},
        MarkupCase{"Hidden", "||it was him||.", "||it was him||\\."},
        MarkupCase{"Code", "run `a_b.c`.", "run `a_b.c`\\."},
        MarkupCase{"CodeWithTicks", "run ``a`b``.", "run `a\\`b`\\."},
        MarkupCase{"MarksInCode", "`**x**` **y**", "`**x**` *y*"},
        MarkupCase{"Block", "See:\n```py\nx = a_b\n```\nend.", "See:\n```py\nx = a_b\n```\nend\\."},
        MarkupCase{"BlockLeftOpen", "```\nx\\y", "```\nx\\\\y\n```"},
        MarkupCase{
            "Link", "[a-b](https://e.org/x_(y)).", "[a\\-b](https://e\\.org/x\\_\\(y\\))\\."},
        MarkupCase{"LinkWithTitle", "[a](https://e.org \"t\")", "[a](https://e\\.org)"},
        MarkupCase{"Picture", "![a](https://e.org/p.png)", "[a](https://e\\.org/p\\.png)"},
        MarkupCase{"Heading", "## On **it**!\ntext", "*On it\\!*\ntext"},
        MarkupCase{"Items", "**a**\n- one\n  * two\n1. three", "*a*\n• one\n  • two\n1\\. three"},
        MarkupCase{"Quotation", "> so. he\n> said", ">so\\. he\n>said"},
        MarkupCase{"WordsWithUnderscores", "**x** my_own_name", "*x* my\\_own\\_name"},
        MarkupCase{"StarsThatStandAlone", "**x** 2 * 3 * 4", "*x* 2 \\* 3 \\* 4"},
        MarkupCase{"Escaped", "**x** \\*not\\*", "*x* \\*not\\*"},
        MarkupCase{"NoLink", "**x** [1] and [y](file)", "*x* \\[1\\] and \\[y\\]\\(file\\)"},
        MarkupCase{"LinesStay", "**a**\n\nb\n", "*a*\n\nb\n"},
        MarkupCase{"NotLatin", "**жирный** *курсив*", "*жирный* _курсив_"}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(TelegramMarkupText, LeavesWhatWasWrittenForTelegramAlone) {
    EXPECT_EQ(telegram_markup("*bold* and three dots\\.", kUnits), "*bold* and three dots\\.");
}

TEST(TelegramMarkupText, ATextWithoutMarkupIsPlain) {
    for (const std::string_view text :
         {"",
          "hello",
          "1. one - two",
          "a_b_c",
          "5 * 3 * 2",
          "**open",
          "- an item",
          "[x] done",
          "`"}) {
        EXPECT_EQ(telegram_markup(text, kUnits), "") << text;
    }
}

TEST(TelegramMarkupText, WhatBecomesTooLongIsPlain) {
    const std::string dots(10, '.');
    EXPECT_EQ(telegram_markup("**a**" + dots, 23), "*a*\\.\\.\\.\\.\\.\\.\\.\\.\\.\\.");
    EXPECT_EQ(telegram_markup("**a**" + dots, 22), "");
}

// Whatever an agent writes: Telegram takes it, or it is sent plain.
TEST(TelegramMarkupText, NeverMakesWhatTelegramWouldRefuse) {
    EXPECT_TRUE(rc::check([] {
        const auto text = *rc::gen::container<std::string>(
            rc::gen::elementOf(std::string("aab  *_`~|[]()\\>#-!.\n")));
        const std::string sent = telegram_markup(text, kUnits);
        RC_ASSERT((sent.empty() || is_markdown_v2(sent)));
    }));
}

}  // namespace
}  // namespace interlock
