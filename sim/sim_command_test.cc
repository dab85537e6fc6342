// The command's options and exit codes.
#include "sim/sim_command.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/log.h"
#include "sim/plants.h"
#include "sim/relay_plants.h"

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

TEST(SimCommand, AQuickRunAsJsonIsObjectsOnly) {
    SimOptions options;
    options.seed = 1;
    options.plant = "act_before_commit";
    options.json = true;
    options.quick = true;
    const Ran ran = run(options);
    EXPECT_EQ(ran.code, 1);
    const std::size_t line_end = ran.out.find('\n');
    const auto violation = parse_json(ran.out.substr(0, line_end));
    ASSERT_TRUE(violation);
    EXPECT_EQ(violation->find("invariant")->as_string(), "I1");
    EXPECT_TRUE(parse_json(ran.out.substr(line_end + 1, ran.out.size() - line_end - 2)));
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

TEST(SimCommand, RunsTheRelaysWorldAloneAndTellsItsTrace) {
    SimOptions options;
    options.seeds = "1..3";
    options.turns = 60;
    options.world = "relay";
    const Ran clean = run(options);
    EXPECT_EQ(clean.code, 0);
    EXPECT_TRUE(clean.out.contains(": relay: ")) << clean.out;
    options.plant = "relay_gate_without_tenant";
    options.seeds = "1..1";
    const Ran broken = run(options);
    EXPECT_EQ(broken.code, 1);
    EXPECT_TRUE(broken.out.contains(" violates I7: ")) << broken.out;
    EXPECT_TRUE(broken.out.contains("VIOLATION of I7"));
    EXPECT_TRUE(broken.out.contains("--plant relay_gate_without_tenant"));
}

TEST(SimCommand, ListsThePlantsOnePerLine) {
    SimOptions options;
    options.list_plants = true;
    const Ran ran = run(options);
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(
        static_cast<std::size_t>(std::count(ran.out.begin(), ran.out.end(), '\n')),
        sim::all_plants().size() + sim::all_relay_plants().size());
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
    SimOptions elsewhere;
    elsewhere.world = "moon";
    EXPECT_EQ(run(elsewhere).code, 2);
    SimOptions mixed;
    mixed.world = "relay";
    mixed.plant = "act_before_commit";
    EXPECT_EQ(run(mixed).code, 2);
    SimOptions unknown;
    unknown.plant = "nothing_like_it";
    EXPECT_EQ(run(unknown).code, 2);
}

}  // namespace
}  // namespace interlock
