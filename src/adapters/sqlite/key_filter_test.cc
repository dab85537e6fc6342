#include "adapters/sqlite/key_filter.h"

#include <gtest/gtest.h>

#include <string>

namespace interlock {
namespace {

std::string key_of(int number) {
    return "control/demo/dec_" + std::to_string(number);
}

TEST(KeyFilter, AnEmptyOneHasNothing) {
    const KeyFilter filter;
    EXPECT_FALSE(filter.may_have("kill/demo"));
    EXPECT_FALSE(filter.may_have(""));
    EXPECT_EQ(filter.bytes(), 0u);
}

TEST(KeyFilter, NeverDeniesAKeyItWasGivenAndHardlyEverOwnsToAnother) {
    constexpr int kKeys = 200'000;  // Through several stages.
    KeyFilter filter;
    for (int i = 0; i < kKeys; ++i) {
        filter.add(key_of(i));
    }
    int wrong = 0;
    for (int i = 0; i < kKeys; ++i) {
        ASSERT_TRUE(filter.may_have(key_of(i))) << i;
        wrong += filter.may_have(key_of(kKeys + i)) ? 1 : 0;
    }
    EXPECT_LT(wrong, kKeys / 50);
    EXPECT_LE(filter.bytes(), std::size_t{kKeys} * 4);
}

TEST(KeyFilter, PastItsBoundItSaysYesToEverythingAndHoldsNothing) {
    KeyFilter filter(1000);
    for (int i = 0; i < 1000; ++i) {
        filter.add(key_of(i));
    }
    EXPECT_FALSE(filter.may_have("another"));
    filter.add(key_of(1000));
    EXPECT_TRUE(filter.may_have("another"));
    EXPECT_TRUE(filter.may_have(key_of(1000)));
    EXPECT_EQ(filter.bytes(), 0u);
}

TEST(KeyFilter, OneThatGaveUpSaysYesToEverything) {
    KeyFilter filter;
    filter.add("kill/demo");
    filter.give_up();
    EXPECT_TRUE(filter.may_have("another"));
    filter.add("another");
    EXPECT_EQ(filter.bytes(), 0u);
}

}  // namespace
}  // namespace interlock
