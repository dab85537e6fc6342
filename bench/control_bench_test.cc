#include "bench/control_bench.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "bench/strategies_bench.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

TEST(ControlBench, AppliesEveryDecisionAndReportsBothSides) {
    const TempFolder folder;
    const auto report = run_control_bench(
        {.folder = folder.path().string(),
         .callers = 10,
         .seconds = 0.05,
         .rounds = 1,
         .http = false});  // Needs the program: conformance/e2e/bench_test.py.
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_GT(report->plain.per_s, 0);
    EXPECT_GT(report->control.per_s, 0);
    EXPECT_GT(report->plain.bare_per_s, 0);
    EXPECT_GT(report->control.bare_per_s, 0);
    EXPECT_TRUE(to_text(*report).contains("control decisions")) << to_text(*report);
}

TEST(StrategiesBench, EveryInstanceRunsAndGridsHaveOrders) {
    const TempFolder folder;
    const auto report = run_strategies_bench(
        {.folder = folder.path().string(),
         .instances = 40,
         .accounts = 2,
         .rounds = 2,
         .warm_up = 4});
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->running, 40);
    EXPECT_GT(report->active, 0);
    EXPECT_GT(report->open_orders, 0);
    EXPECT_GT(report->round_p50_ms, 0);
}

TEST(StrategiesBench, WithNarrowStepsAndFastTimeManyAct) {
    const TempFolder folder;
    const auto report = run_strategies_bench(
        {.folder = folder.path().string(),
         .instances = 18,
         .accounts = 2,
         .rounds = 6,
         .warm_up = 4,
         .acting = true});
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->active, 18);
    EXPECT_GT(report->acting, 0);
    EXPECT_GT(report->acting_rounds, 0);
    EXPECT_GE(report->acting_p99_ms, report->acting_p50_ms);
}

TEST(StrategiesBench, RefusesMoreActiveStrategiesThanThereAreConcerns) {
    const TempFolder folder;
    const auto report = run_strategies_bench(
        {.folder = folder.path().string(), .instances = 10, .accounts = 1, .acting = true});
    ASSERT_FALSE(report.has_value());
    EXPECT_EQ(report.error().kind, &errors::invalid_request);
}

}  // namespace
}  // namespace interlock
