// The command's options and exit codes.
#include "sim/sim_command.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/log.h"
#include "sim/plants.h"

namespace interlock {
namespace {

struct Ran {
    int code = 0;
    std::string out;
};

Ran run(const SimOptions& options) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    Ran ran;
    ran.code = run_sim_command(options);
    std::fflush(stdout);
    ran.out = ::testing::internal::GetCapturedStdout();
    (void)::testing::internal::GetCapturedStderr();
    configure_log({});
    return ran;
}

TEST(SimCommand, EndsWithZeroWhenEveryPromiseHeld) {
    SimOptions options;
    options.seeds = "1..4";
    options.turns = 60;
    const Ran ran = run(options);
    EXPECT_EQ(ran.code, 0);
    EXPECT_TRUE(ran.out.starts_with("4 seeds at commit ")) << ran.out;
}

TEST(SimCommand, EndsWithOneAndTellsSeedCommitInvariantAndTrace) {
    SimOptions options;
    options.seed = 1;
    options.plant = "act_before_commit";
    options.commit = "0123abcd";
    const Ran ran = run(options);
    EXPECT_EQ(ran.code, 1);
    EXPECT_TRUE(ran.out.starts_with("seed 1 at commit 0123abcd violates I1: ")) << ran.out;
    EXPECT_TRUE(ran.out.contains("the shortest trace found"));
    EXPECT_TRUE(ran.out.contains("VIOLATION of I1"));
    EXPECT_TRUE(ran.out.contains("--seed 1 --turns 300 --plant act_before_commit"));
}

TEST(SimCommand, GivesOneObjectPerViolationAndASummaryAsJson) {
    SimOptions options;
    options.seed = 1;
    options.plant = "act_before_commit";
    options.json = true;
    const Ran ran = run(options);
    const std::size_t line_end = ran.out.find('\n');
    const auto violation = parse_json(ran.out.substr(0, line_end));
    ASSERT_TRUE(violation);
    EXPECT_EQ(violation->find("invariant")->as_string(), "I1");
    EXPECT_FALSE(violation->find("trace")->items().empty());
    const auto summary = parse_json(ran.out.substr(line_end + 1, ran.out.size() - line_end - 2));
    ASSERT_TRUE(summary);
    EXPECT_EQ(summary->find("violations")->as_int64(), 1);
}

TEST(SimCommand, GivesUpARangeAfterTheBoundOfViolations) {
    SimOptions options;
    options.seeds = "1..100";
    options.turns = 40;
    options.plant = "cross_tenant_answer";
    options.json = true;
    const Ran ran = run(options);
    EXPECT_EQ(ran.code, 1);
    EXPECT_TRUE(ran.out.contains("\"violations\":" + std::to_string(kSimViolationsMax) + ","));
}

TEST(SimCommand, ListsThePlantsOnePerLine) {
    SimOptions options;
    options.list_plants = true;
    const Ran ran = run(options);
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(
        static_cast<std::size_t>(std::count(ran.out.begin(), ran.out.end(), '\n')),
        sim::all_plants().size());
    EXPECT_TRUE(ran.out.starts_with("act_before_commit\n"));
}

TEST(SimCommand, RefusesOptionsThatMakeNoSense) {
    for (const char* seeds : {"5", "5..4", "a..b", "1..", "..2", "1..2x"}) {
        SimOptions options;
        options.seeds = seeds;
        EXPECT_EQ(run(options).code, 2) << seeds;
    }
    SimOptions both;
    both.seed = 1;
    both.seeds = "1..2";
    EXPECT_EQ(run(both).code, 2);
    SimOptions none;
    none.turns = 0;
    EXPECT_EQ(run(none).code, 2);
    SimOptions many;
    many.turns = kSimTurnsMax + 1;
    EXPECT_EQ(run(many).code, 2);
    SimOptions unknown;
    unknown.plant = "nothing_like_it";
    EXPECT_EQ(run(unknown).code, 2);
}

}  // namespace
}  // namespace interlock
