#include "relay/platforms/common/call_pace.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

namespace interlock {
namespace {

constexpr PaceRule kTotal{.interval = Duration::of_milliseconds(100), .burst = 10};
constexpr PaceRule kChat{.interval = Duration::of_seconds(1), .burst = 2};
constexpr Duration kLong = Duration::of_hours(1);

Duration at_seconds(std::int64_t n) {
    return Duration::of_seconds(n);
}

TEST(CallPace, LetsABurstThroughAndThenOneForEachInterval) {
    CallPace pace(kTotal, kChat);
    EXPECT_EQ(pace.take("a", at_seconds(10), kLong).wait, Duration{});
    EXPECT_EQ(pace.take("a", at_seconds(10), kLong).wait, Duration{});
    EXPECT_EQ(pace.take("a", at_seconds(10), kLong).wait, at_seconds(1));
    EXPECT_EQ(pace.take("a", at_seconds(10), kLong).wait, at_seconds(2));
    EXPECT_EQ(pace.take("b", at_seconds(10), kLong).wait, Duration{});
}

TEST(CallPace, CountsAllChatsTogetherToo) {
    CallPace pace(kTotal, kChat);
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(pace.take(std::to_string(i), at_seconds(10), kLong).wait, Duration{});
    }
    EXPECT_EQ(pace.take("x", at_seconds(10), kLong).wait, Duration::of_milliseconds(100));
    EXPECT_EQ(pace.take("", at_seconds(10), kLong).wait, Duration::of_milliseconds(200));
}

TEST(CallPace, ReservesNothingWhenTheWaitIsTooLong) {
    CallPace pace(kTotal, kChat);
    pace.take("a", at_seconds(10), kLong);
    pace.take("a", at_seconds(10), kLong);
    for (int i = 0; i < 3; ++i) {
        const CallPace::Turn turn = pace.take("a", at_seconds(10), Duration::of_milliseconds(999));
        EXPECT_FALSE(turn.is_taken);
        EXPECT_EQ(turn.wait, at_seconds(1));
    }
    EXPECT_TRUE(pace.take("a", at_seconds(10), at_seconds(1)).is_taken);
}

TEST(CallPace, ABlockedChatWaitsAndOthersDoNot) {
    CallPace pace(kTotal, kChat);
    pace.block("a", at_seconds(17));
    EXPECT_EQ(pace.take("a", at_seconds(10), kLong).wait, at_seconds(7));
    EXPECT_EQ(pace.take("b", at_seconds(10), kLong).wait, Duration{});
    pace.block("", at_seconds(12));
    EXPECT_EQ(pace.take("b", at_seconds(11), kLong).wait, at_seconds(1));
}

TEST(CallPace, ForgetsQuietChatsAtItsBoundAndKeepsBlockedOnes) {
    CallPace pace(kTotal, kChat, 3);
    pace.block("blocked", at_seconds(1000));
    for (int i = 0; i < 50; ++i) {
        pace.take("chat" + std::to_string(i), at_seconds(10 + i * 100 / 50), kLong);
    }
    EXPECT_EQ(pace.chats(), 3u);
    EXPECT_EQ(pace.take("blocked", at_seconds(200), kLong).wait, at_seconds(800));
}

// In any span of time there are no more calls than the burst and the span allow.
TEST(CallPace, NeverLetsMoreThroughThanItsRules) {
    EXPECT_TRUE(rc::check([] {
        CallPace pace(kTotal, kChat);
        const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 700));
        Duration now = at_seconds(10);
        std::vector<Duration> calls;
        for (const int step : steps) {
            now.microseconds += step * 1000;
            const CallPace::Turn turn = pace.take("a", now, kLong);
            RC_ASSERT(turn.is_taken);
            calls.push_back({now.microseconds + turn.wait.microseconds});
        }
        RC_ASSERT(std::ranges::is_sorted(calls));
        for (std::size_t i = 2; i < calls.size(); ++i) {
            RC_ASSERT(calls[i].microseconds - calls[i - 2].microseconds >= 1'000'000);
        }
    }));
}

}  // namespace
}  // namespace interlock
