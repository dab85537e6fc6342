#include "engine/system/system_clock.h"

#include <gtest/gtest.h>

namespace interlock {

TEST(SystemClock, TellsATimeOfThisCentury) {
    SystemClock clock;
    EXPECT_GT(clock.now(), parse_timestamp("2024-01-01T00:00:00Z").value());
    EXPECT_LT(clock.now(), parse_timestamp("2100-01-01T00:00:00Z").value());
}

TEST(SystemClock, MonotonicTimeDoesNotGoBack) {
    SystemClock clock;
    Duration before = clock.monotonic();
    for (int n = 0; n < 1000; ++n) {
        const Duration after = clock.monotonic();
        ASSERT_GE(after, before);
        before = after;
    }
}

}  // namespace interlock
