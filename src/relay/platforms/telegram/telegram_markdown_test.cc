#include "relay/platforms/telegram/telegram_markdown.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

namespace interlock {
namespace {

TEST(TelegramMarkdown, TakesMarkupThatOpensAndCloses) {
    for (const char* const text :
         {"*bold*",
          "_slanted_ and __underlined__",
          "~gone~ and ||hidden||",
          "`code with . and -`",
          "```cpp\nint a = 1;\n```",
          "*bold _and slanted_ again*",
          "[a link](https://example.org/a?b=c)",
          "![\xF0\x9F\x91\x8D](tg://emoji?id=1)",
          "three dots\\.\\.\\.",
          ">a quotation\n>goes on",
          "[link](https://example.org/\\)x)"}) {
        EXPECT_TRUE(is_markdown_v2(text)) << text;
    }
}

TEST(TelegramMarkdown, RefusesWhatTelegramWouldRefuse) {
    for (const char* const text :
         {"*bold",
          "a. b",
          "*yes* but 1.5",
          "`code",
          "```\nblock",
          "``",
          "[text] alone",
          "[text](",
          "[text]()",
          "](x)",
          "*a _b* c_",
          "end \\",
          "*a* > b",
          "*price* is 5 - 3",
          "*done*!",
          "*a* (b)",
          "_*a_*",
          "*x* \\\n"}) {
        EXPECT_FALSE(is_markdown_v2(text)) << text;
    }
}

TEST(TelegramMarkdown, ATextWithoutMarkupIsPlain) {
    EXPECT_FALSE(is_markdown_v2(""));
    EXPECT_FALSE(is_markdown_v2("hello world"));
    EXPECT_FALSE(is_markdown_v2("\xE4\xBD\xA0\xE5\xA5\xBD"));
}

// A text whose reserved characters are all escaped is always valid.
TEST(TelegramMarkdown, TakesAnyTextThatIsEscaped) {
    EXPECT_TRUE(rc::check([] {
        const auto text = *rc::gen::container<std::string>(
            rc::gen::elementOf(std::string("ab _*[]()~`>#+-=|{}.!\\")));
        std::string escaped = "*b*";
        for (const char c : text) {
            if (c != 'a' && c != 'b' && c != ' ') {
                escaped += '\\';
            }
            escaped += c;
        }
        RC_ASSERT(is_markdown_v2(escaped));
    }));
}

}  // namespace
}  // namespace interlock
