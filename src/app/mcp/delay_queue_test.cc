#include "app/mcp/delay_queue.h"

#include <gtest/gtest.h>

#include <future>

namespace interlock {
namespace {

constexpr std::chrono::hours kLong{1};

TEST(DelayQueue, RunsACallWhenItsTimeHasCome) {
    DelayQueue queue;
    std::promise<void> ran;
    ASSERT_TRUE(queue.run_after(std::chrono::milliseconds(1), [&] { ran.set_value(); }));
    ran.get_future().wait();
}

TEST(DelayQueue, ALaterCallDoesNotHoldUpAnEarlierOne) {
    DelayQueue queue;
    std::promise<void> ran;
    ASSERT_TRUE(queue.run_after(kLong, [] { FAIL() << "ran an hour too early"; }));
    ASSERT_TRUE(queue.run_after(std::chrono::milliseconds(0), [&] { ran.set_value(); }));
    ran.get_future().wait();
}

TEST(DelayQueue, ACallMayAskForTheNext) {
    DelayQueue queue;
    std::promise<void> ran;
    queue.run_after(std::chrono::milliseconds(0), [&] {
        queue.run_after(std::chrono::milliseconds(0), [&] { ran.set_value(); });
    });
    ran.get_future().wait();
}

TEST(DelayQueue, DropsWhatWaitsWhenItGoes) {
    const auto owned = std::make_shared<int>(0);
    {
        DelayQueue queue;
        queue.run_after(kLong, [owned] { FAIL() << "ran an hour too early"; });
    }
    EXPECT_EQ(owned.use_count(), 1);
}

TEST(DelayQueue, RefusesWhenTooManyWait) {
    DelayQueue queue;
    std::size_t accepted = 0;
    while (accepted <= 2 * kDelayedCallsMax && queue.run_after(kLong, [] {})) {
        ++accepted;
    }
    EXPECT_GE(accepted, kDelayedCallsMax);
    EXPECT_LE(accepted, 2 * kDelayedCallsMax);  // Some were already taken over by the thread.
}

}  // namespace
}  // namespace interlock
