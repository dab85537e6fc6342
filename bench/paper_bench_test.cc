// The bench of the paper venue measures what it says: a mix without refusals.
#include "bench/paper_bench.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

TEST(PaperBench, SendsTheMixItNamesAndIsRefusedNothing) {
    const auto ran =
        run_paper_bench({.seconds = 0.02, .rounds = 1, .accounts = 2, .open_orders = 10});
    ASSERT_TRUE(ran.has_value()) << ran.error().message;
    EXPECT_GT(ran->orders_per_s, 0);
    EXPECT_EQ(ran->refused, 0);
    EXPECT_GT(ran->fills, 0);
    const std::int64_t calls = ran->submits + ran->cancels;
    EXPECT_NEAR(static_cast<double>(ran->takers), static_cast<double>(calls) / 20, 2);
    EXPECT_NEAR(static_cast<double>(ran->cancels), static_cast<double>(calls) * 19 / 40, 30);
}

}  // namespace
}  // namespace interlock
