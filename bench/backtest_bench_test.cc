#include "bench/backtest_bench.h"

#include <gtest/gtest.h>

#include "testing/temp_folder.h"

namespace interlock {
namespace {

TEST(BacktestBench, MeasuresBothStrategiesOnEveryLength) {
    const TempFolder folder;
    const auto rows = run_backtest_bench(
        {.folder = folder.path().string(), .rows = 1000, .rounds = 1, .lengths = {1, 3}});
    ASSERT_TRUE(rows.has_value()) << rows.error().message;
    ASSERT_EQ(rows->size(), 4u);
    EXPECT_EQ((*rows)[0].strategy, "idle");
    EXPECT_EQ((*rows)[1].events, 3000);
    EXPECT_EQ((*rows)[2].strategy, "grid_trader");
    EXPECT_GT((*rows)[3].decisions, 0);
    for (const BacktestBenchRow& row : *rows) {
        EXPECT_GT(row.events_per_s, 0);
        EXPECT_GT(row.peak_bytes, 0);
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace interlock
