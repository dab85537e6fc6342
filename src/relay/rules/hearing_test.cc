#include "relay/rules/hearing.h"

#include <gtest/gtest.h>

#include <functional>

namespace interlock {
namespace {

using Change = Hearing::Change;

// Looks every second from `from` on; the second at which something changed, or -1.
int first_change(Hearing& hearing, int from, int to, const std::function<bool(int)>& is_well) {
    for (int second = from; second < to; ++second) {
        if (hearing.look(Duration::of_seconds(second), is_well(second)) != Change::none) {
            return second;
        }
    }
    return -1;
}

TEST(Hearing, ABotThatNeverConnectsIsDeafAfterAMinute) {
    Hearing hearing;
    EXPECT_EQ(first_change(hearing, 100, 300, [](int) { return false; }), 160);
    EXPECT_TRUE(hearing.is_deaf());
}

TEST(Hearing, AReconnectIsNoDeafness) {
    Hearing hearing;
    EXPECT_EQ(first_change(hearing, 0, 1000, [](int second) { return second % 100 >= 45; }), -1);
}

// Seen with a full instance: the shard resumed, was refused, and resumed, for ever.
TEST(Hearing, AConnectionThatNeverLastsIsDeafness) {
    Hearing hearing;
    EXPECT_EQ(first_change(hearing, 0, 300, [](int second) { return second % 8 < 6; }), 60);
    EXPECT_EQ(first_change(hearing, 61, 303, [](int second) { return second % 8 < 6; }), -1);
    EXPECT_EQ(first_change(hearing, 303, 400, [](int) { return true; }), 313);
    EXPECT_FALSE(hearing.is_deaf());
}

}  // namespace
}  // namespace interlock
