// Tests of the small text functions.
#include "base/text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace interlock {
namespace {

using Parts = std::vector<std::string_view>;

TEST(Text, SplitKeepsEmptyParts) {
    EXPECT_EQ(split("a,,b,", ','), (Parts{"a", "", "b", ""}));
    EXPECT_EQ(split("", ','), (Parts{""}));
    EXPECT_EQ(split("abc", ','), (Parts{"abc"}));
}

TEST(Text, SplitPartsJoinToTheText) {
    EXPECT_TRUE(rc::check([](const std::string& text) {
        std::string joined;
        for (const std::string_view part : split(text, 'a')) {
            joined += std::string(part) + 'a';
        }
        joined.pop_back();
        RC_ASSERT(joined == text);
    }));
}

TEST(Text, TrimTakesWhiteSpaceFromBothEndsOnly) {
    EXPECT_EQ(trim(" \t\r\n a b \v\f"), "a b");
    EXPECT_EQ(trim(" \n"), "");
    EXPECT_EQ(trim(""), "");
}

TEST(Text, LowerCaseTouchesAsciiLettersOnly) {
    EXPECT_EQ(to_lower("AbZ[@`\xC3\x84"), "abz[@`\xC3\x84");
}

TEST(Text, ComparisonIgnoringCaseNeedsEqualLengths) {
    EXPECT_TRUE(equal_ignoring_case("Content-Type", "content-tYPE"));
    EXPECT_FALSE(equal_ignoring_case("abc", "abcd"));
    EXPECT_FALSE(equal_ignoring_case("a[", "a{"));
}

TEST(Text, PercentDecodeUndoesEscapesOfEitherCase) {
    EXPECT_EQ(percent_decode("a%2Fb%2f%20c"), "a/b/ c");
    EXPECT_EQ(percent_decode("%C3%A4"), "\xC3\xA4");
}

TEST(Text, PlusIsASpaceInQueriesOnly) {
    EXPECT_EQ(percent_decode("a+b"), "a+b");
    EXPECT_EQ(percent_decode("a+b%2B", true), "a b+");
}

TEST(Text, PercentDecodeRefusesMalformedEscapes) {
    for (const char* text : {"%", "%2", "a%", "%zz", "%2g", "%%41", "% 1"}) {
        EXPECT_EQ(percent_decode(text), std::nullopt) << text;
    }
}

TEST(Text, PercentDecodeRefusesAnEncodedNul) {
    EXPECT_EQ(percent_decode("a%00b"), std::nullopt);
}

TEST(Text, PercentEncodeKeepsUnreservedCharactersOnly) {
    EXPECT_EQ(percent_encode("aZ09-._~ /?&=%+\xC3"), "aZ09-._~%20%2F%3F%26%3D%25%2B%C3");
}

TEST(Text, PercentDecodingUndoesPercentEncoding) {
    EXPECT_TRUE(rc::check([](const std::string& text) {
        RC_PRE(text.find('\0') == std::string::npos);
        RC_ASSERT(percent_decode(percent_encode(text)) == text);
        RC_ASSERT(percent_decode(percent_encode(text), true) == text);
    }));
}

}  // namespace
}  // namespace interlock
