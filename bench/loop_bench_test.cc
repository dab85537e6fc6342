#include "bench/loop_bench.h"

#include <gtest/gtest.h>

#include "bench/replay_bench.h"
#include "bench/turn_load.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

TEST(TickBench, MeasuresATickThatPasses) {
    const auto report =
        run_tick_bench({.symbols = 9, .open_orders = 20, .samples = 2, .rounds = 1});
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->open_orders, 180);
    EXPECT_EQ(report->rows.size(), 5u);
}

TEST(DecisionLoad, EveryPlanPassesAndIsCommitted) {
    const TempFolder folder;
    const auto bench = BenchPlane::open({.folder = folder / "data", .trade = true});
    ASSERT_TRUE(bench.has_value());
    const TurnLoadReport report = run_turn_load(
        **bench,
        {.callers = 8,
         .kind = TurnKind::decision,
         .turns_max = 40,
         .duration = std::chrono::minutes(1)});
    EXPECT_EQ(report.turns, 40);
    EXPECT_EQ(report.refused, 0);
}

TEST(ReplayBench, ReplaysEveryDecisionItMade) {
    const TempFolder folder;
    const auto report = run_replay_bench({.folder = folder.path(), .decisions = 30, .rounds = 1});
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->decisions, 30);
    EXPECT_GT(report->decisions_per_minute, 0);
}

}  // namespace
}  // namespace interlock
