// Tests of SecretString: what it shows, and that moved-from and wiped memory holds nothing.
#include "base/secret_string.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <type_traits>

namespace interlock {
namespace {

static_assert(!std::is_copy_constructible_v<SecretString>);
static_assert(!std::is_copy_assignable_v<SecretString>);
static_assert(!std::equality_comparable<SecretString>);

TEST(SecretString, WipeOverwritesTheWholeBufferPastTheSizeToo) {
    std::string text(100, 's');
    text.resize(3);
    const char* const buffer = text.data();
    const std::size_t capacity = text.capacity();

    wipe(text);

    EXPECT_TRUE(text.empty());
    ASSERT_EQ(text.data(), buffer);  // Still owned, hence readable.
    EXPECT_TRUE(std::all_of(buffer, buffer + capacity, [](char c) { return c == '\0'; }));
}

TEST(SecretString, MovingLeavesTheSourceEmpty) {
    SecretString first(std::string("hunter2"));
    SecretString second(std::move(first));
    EXPECT_EQ(second.reveal(), "hunter2");
    EXPECT_TRUE(first.empty());
    first = std::move(second);
    EXPECT_EQ(first.reveal(), "hunter2");
    EXPECT_TRUE(second.empty());
}

TEST(SecretString, CloneIsASecondSecretOfItsOwn) {
    SecretString first(std::string("hunter2"));
    const SecretString second = first.clone();
    first = SecretString();
    EXPECT_EQ(second.reveal(), "hunter2");
}

TEST(SecretString, HintShowsFourCharactersOfALongSecretAndNothingOfAShortOne) {
    EXPECT_EQ(SecretString(std::string("12345678abcd")).hint(), "abcd");
    EXPECT_EQ(SecretString(std::string("1234567abcd")).hint(), "");
}

}  // namespace
}  // namespace interlock
