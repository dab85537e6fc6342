// The relay's world: the same every time, clean where nothing is wrong, and never blind.
#include "sim/relay_simulation.h"

#include <gtest/gtest.h>

#include <ostream>

#include "base/log.h"
#include "sim/shrink.h"

namespace interlock::sim {

// How the test framework names a plant.
void PrintTo(const RelayPlantInfo& info, std::ostream* out) {
    *out << info.name;
}

namespace {

constexpr std::uint64_t kTurns = 300;
constexpr std::uint64_t kCleanSeeds = 40;

class RelaySimulationTest : public ::testing::Test {
protected:
    static void SetUpTestSuite() { configure_log({.level = LogLevel::off}); }
    static void TearDownTestSuite() { configure_log({}); }
};

RelayRunConfig config_of(std::uint64_t seed, RelayPlant plant = RelayPlant::none) {
    RelayRunConfig config;
    config.seed = seed;
    config.plant = plant;
    return config;
}

std::string trace_of(std::uint64_t seed) {
    std::string trace;
    RelayRunConfig config = config_of(seed);
    config.trace = [&trace](const std::string& line) { trace += line + "\n"; };
    (void)run_relay_simulation(config, make_relay_steps(seed, kTurns));
    return trace;
}

TEST_F(RelaySimulationTest, SameSeedGivesTheSameTraceByteForByte) {
    const std::string first = trace_of(7);
    EXPECT_GT(first.size(), 10'000u);
    EXPECT_EQ(first, trace_of(7));
    EXPECT_NE(first, trace_of(8));
}

// A world in which nothing happens would be clean as well.
TEST_F(RelaySimulationTest, NothingIsViolatedAndRunsMeetWhatTheyAreAbout) {
    RelayWatch::Counts sum;
    std::uint64_t crashes = 0;
    std::uint64_t fenced = 0;
    for (std::uint64_t seed = 1; seed <= kCleanSeeds; ++seed) {
        const auto steps = make_relay_steps(seed, kTurns);
        const RelayRunResult result = run_relay_simulation(config_of(seed), steps);
        EXPECT_FALSE(result.violation) << "seed " << seed << ": " << result.violation->invariant
                                       << " " << result.violation->what;
        EXPECT_EQ(result.steps_done, steps.size());
        EXPECT_EQ(result.mails, kTurns);
        sum.written += result.counts.written;
        sum.duplicates += result.counts.duplicates;
        sum.acknowledged += result.counts.acknowledged;
        sum.dead += result.counts.dead;
        sum.dropped += result.counts.dropped;
        sum.declined += result.counts.declined;
        sum.calls += result.counts.calls;
        sum.unknown += result.counts.unknown;
        sum.pokes += result.counts.pokes;
        crashes += result.crashes;
        fenced += result.fenced;
    }
    EXPECT_GT(sum.written, 2000u);
    EXPECT_GT(sum.duplicates, 500u);
    EXPECT_GT(sum.acknowledged, 1500u);
    EXPECT_GT(sum.dead, 100u);
    EXPECT_GT(sum.dropped, 100u);
    EXPECT_GT(sum.declined, 500u);
    EXPECT_GT(sum.calls, 300u);
    EXPECT_GT(sum.unknown, 10u);
    EXPECT_GT(sum.pokes, 300u);
    EXPECT_GT(crashes, 300u);
    EXPECT_GT(fenced, 200u);
}

TEST_F(RelaySimulationTest, HasExactlyAsManyWritesAsTurnsWereAskedFor) {
    std::size_t writes = 0;
    for (const RelayStep& step : make_relay_steps(3, 123)) {
        writes += step.kind == RelayStepKind::write ? 1 : 0;
    }
    EXPECT_EQ(writes, 123u);
}

class RelayPlantTest : public RelaySimulationTest,
                       public ::testing::WithParamInterface<RelayPlantInfo> {};

// Each mistake must be found within twenty seeds, and by a checker whose promise it breaks.
TEST_P(RelayPlantTest, IsCaughtByItsInvariant) {
    const RelayPlantInfo& info = GetParam();
    std::size_t caught = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const RelayRunResult result =
            run_relay_simulation(config_of(seed, info.plant), make_relay_steps(seed, kTurns));
        if (result.violation) {
            ++caught;
            EXPECT_NE(info.invariants.find(result.violation->invariant), std::string_view::npos)
                << result.violation->invariant << ": " << result.violation->what;
        }
    }
    EXPECT_GT(caught, 0u) << info.does;
}

INSTANTIATE_TEST_SUITE_P(
    Every,
    RelayPlantTest,
    ::testing::ValuesIn(all_relay_plants().begin(), all_relay_plants().end()),
    [](const auto& name) { return std::string(name.param.name); });

TEST_F(RelaySimulationTest, ShrinksAFailureToAFewStepsThatStillFail) {
    const RelayRunConfig config = config_of(1, RelayPlant::gate_without_tenant);
    const std::vector<RelayStep> steps = make_relay_steps(1, kTurns);
    const RelayRunResult broken = run_relay_simulation(config, steps);
    ASSERT_TRUE(broken.violation);
    const RelayShrunk shrunk = shrink(config, steps, broken);
    EXPECT_LE(shrunk.steps.size(), 10u);
    EXPECT_LE(shrunk.runs, kShrinkRunsMax);
    const RelayRunResult again = run_relay_simulation(config, shrunk.steps);
    ASSERT_TRUE(again.violation);
    EXPECT_EQ(again.violation->invariant, "I7");
}

}  // namespace
}  // namespace interlock::sim
