// Tests of the id alphabet and of what a refused id tells.
#include "base/ids.h"

#include <gtest/gtest.h>

#include <unordered_set>

#include "base/errors.h"

namespace interlock {
namespace {

struct TestTag {
    static constexpr std::string_view name = "test_id";
};
using TestId = Id<TestTag>;

TEST(Ids, AcceptsVisibleAsciiUpToTheLongest) {
    EXPECT_TRUE(is_id_text("a"));
    EXPECT_TRUE(is_id_text("BTC-USDT:grid_1.v2~x@y!$&'()*+,;=[]^`{|}<>"));
    EXPECT_TRUE(is_id_text(std::string(kIdLengthMax, 'x')));
}

TEST(Ids, RefusesEmptyAndTooLongTexts) {
    EXPECT_FALSE(is_id_text(""));
    EXPECT_FALSE(is_id_text(std::string(kIdLengthMax + 1, 'x')));
}

TEST(Ids, RefusesEveryByteOutsideTheAlphabet) {
    for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        const bool forbidden = byte <= 0x20 || byte >= 0x7f ||
                               std::string_view("\"\\/%?#").find(c) != std::string_view::npos;
        EXPECT_EQ(is_id_text(std::string("a") + c), !forbidden) << "byte " << byte;
    }
}

TEST(Ids, ParseKeepsTheText) {
    const auto id = TestId::parse("ten_1");
    ASSERT_TRUE(id.has_value());
    EXPECT_EQ(id->text(), "ten_1");
}

TEST(Ids, ARefusalNamesTheFieldAndNeverTheText) {
    const auto id = TestId::parse("hunter2 is secret");
    ASSERT_FALSE(id.has_value());
    EXPECT_EQ(id.error(), errors::invalid_request);
    EXPECT_NE(id.error().message.find("test_id"), std::string::npos);
    EXPECT_NE(id.error().message.find("character 8"), std::string::npos);
    EXPECT_EQ(id.error().message.find("hunter2"), std::string::npos);
}

TEST(Ids, ATooLongTextIsToldItsLength) {
    const auto id = TestId::parse(std::string(129, 'x'));
    ASSERT_FALSE(id.has_value());
    EXPECT_NE(id.error().message.find("found 129"), std::string::npos);
}

TEST(Ids, CanBeKeysOfHashedContainers) {
    const std::unordered_set<TestId> ids = {TestId::trusted("a"), TestId::trusted("a")};
    EXPECT_EQ(ids.size(), 1u);
}

}  // namespace
}  // namespace interlock
