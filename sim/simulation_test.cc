// The simulator itself: the same every time, clean where nothing is wrong, and never blind.
#include "sim/simulation.h"

#include <gtest/gtest.h>

#include <ostream>

#include "base/log.h"
#include "sim/shrink.h"

namespace interlock::sim {

// How the test framework names a plant.
void PrintTo(const PlantInfo& info, std::ostream* out) {
    *out << info.name;
}

namespace {

constexpr std::uint64_t kTurns = 300;
// `./test` runs more of them through the command, and demands there that every limit is met.
constexpr std::uint64_t kCleanSeeds = 18;

class SimulationTest : public ::testing::Test {
protected:
    static void SetUpTestSuite() { configure_log({.level = LogLevel::off}); }
    static void TearDownTestSuite() { configure_log({}); }

    // Runs in which nothing is planted, by their seed minus one: two tests look at the same ones.
    static const std::vector<RunResult>& clean_runs();
};

RunConfig config_of(std::uint64_t seed, Plant plant = Plant::none) {
    RunConfig config;
    config.seed = seed;
    config.plant = plant;
    return config;
}

const std::vector<RunResult>& SimulationTest::clean_runs() {
    static const std::vector<RunResult> runs = [] {
        std::vector<RunResult> made;
        for (std::uint64_t seed = 1; seed <= kCleanSeeds; ++seed) {
            made.push_back(run_simulation(config_of(seed), make_steps(seed, kTurns)));
        }
        return made;
    }();
    return runs;
}

std::string trace_of(std::uint64_t seed) {
    std::string trace;
    RunConfig config = config_of(seed);
    config.trace = [&trace](const std::string& line) { trace += line + "\n"; };
    (void)run_simulation(config, make_steps(seed, kTurns));
    return trace;
}

// Seeds 7 and 8: one of each store.
TEST_F(SimulationTest, SameSeedGivesTheSameTraceByteForByte) {
    for (const std::uint64_t seed : {7u, 8u}) {
        const std::string first = trace_of(seed);
        EXPECT_GT(first.size(), 10'000u);
        EXPECT_EQ(first, trace_of(seed)) << "seed " << seed;
    }
}

TEST_F(SimulationTest, OtherSeedsGiveOtherTraces) {
    EXPECT_NE(trace_of(7), trace_of(9));
}

TEST_F(SimulationTest, NothingIsViolatedWhereNothingIsPlanted) {
    std::uint64_t seed = 0;
    for (const RunResult& result : clean_runs()) {
        ++seed;
        EXPECT_FALSE(result.violation) << "seed " << seed << ": " << result.violation->invariant
                                       << " " << result.violation->what;
    }
}

// A simulation in which nothing happens would be clean as well.
TEST_F(SimulationTest, RunsMeetWhatTheyAreAbout) {
    RunResult::Counts sum;
    std::uint64_t seed = 0;
    for (const RunResult& result : clean_runs()) {
        ++seed;
        EXPECT_EQ(result.steps_done, make_steps(seed, kTurns).size());
        sum.deliveries += result.counts.deliveries;
        sum.effects += result.counts.effects;
        sum.cancels += result.counts.cancels;
        sum.crashes += result.counts.crashes;
        sum.releases += result.counts.releases;
        sum.refusals += result.counts.refusals;
        sum.folded += result.counts.folded;
        sum.loop.orders += result.counts.loop.orders;
        sum.loop.fills += result.counts.loop.fills;
        sum.loop.unknown += result.counts.loop.unknown;
        sum.loop.replays += result.counts.loop.replays;
        sum.trader.attempts += result.counts.trader.attempts;
        sum.trader.applied += result.counts.trader.applied;
        sum.trader.hand_overs += result.counts.trader.hand_overs;
        sum.trader.roll_backs += result.counts.trader.roll_backs;
        sum.trader.interrupted += result.counts.trader.interrupted;
        sum.trader.orders += result.counts.trader.orders;
        sum.bots.launches += result.counts.bots.launches;
        sum.bots.stops += result.counts.bots.stops;
        sum.bots.pulses += result.counts.bots.pulses;
        sum.bots.stalls += result.counts.bots.stalls;
        sum.bots.resumptions += result.counts.bots.resumptions;
        sum.bots.proposals += result.counts.bots.proposals;
        sum.bots.orders += result.counts.bots.orders;
        sum.bots.buys += result.counts.bots.buys;
        sum.blocked.begun += result.counts.blocked.begun;
        sum.blocked.changed += result.counts.blocked.changed;
        sum.blocked.ended += result.counts.blocked.ended;
        sum.blocked.displays += result.counts.blocked.displays;
    }
    EXPECT_GT(sum.deliveries, 5000u);
    EXPECT_GT(sum.effects, 300u);
    EXPECT_GT(sum.cancels, 30u);
    EXPECT_GT(sum.crashes, 50u);
    EXPECT_GT(sum.releases, 10u);
    EXPECT_GT(sum.refusals, 100u);
    EXPECT_GT(sum.folded, 100u);
    EXPECT_GT(sum.loop.orders, 100u);
    EXPECT_GT(sum.loop.fills, 50u);
    EXPECT_GT(sum.loop.unknown, 20u);
    EXPECT_GT(sum.loop.replays, 1000u);
    EXPECT_GT(sum.trader.attempts, 500u);
    EXPECT_GT(sum.trader.applied, 100u);
    EXPECT_GT(sum.trader.hand_overs, 10u);
    EXPECT_GT(sum.trader.roll_backs, 5u);
    EXPECT_GT(sum.trader.interrupted, 3u);
    EXPECT_GT(sum.trader.orders, 100u);
    EXPECT_GT(sum.bots.launches, 10u);
    EXPECT_GT(sum.bots.stops, 10u);
    EXPECT_GT(sum.bots.pulses, 200u);
    EXPECT_GT(sum.bots.stalls, 10u);
    EXPECT_GT(sum.bots.resumptions, 10u);
    EXPECT_GT(sum.bots.proposals, 5u);
    EXPECT_GT(sum.bots.orders, 100u);
    EXPECT_GT(sum.bots.buys, 3u);
    EXPECT_GT(sum.blocked.begun, 20u);
    EXPECT_GT(sum.blocked.changed, 5u);
    EXPECT_GT(sum.blocked.ended, 20u);
    EXPECT_GT(sum.blocked.displays, 100u);
}

TEST_F(SimulationTest, HasExactlyAsManyCommandsAsTurnsWereAskedFor) {
    std::size_t commands = 0;
    for (const Step& step : make_steps(3, 123)) {
        commands += step.kind == StepKind::command ? 1 : 0;
    }
    EXPECT_EQ(commands, 123u);
}

class PlantTest : public SimulationTest, public ::testing::WithParamInterface<PlantInfo> {};

// Each mistake must be found within twenty seeds, and by a checker whose promise it breaks.
TEST_P(PlantTest, IsCaughtByItsInvariant) {
    const PlantInfo& info = GetParam();
    std::size_t caught = 0;
    for (std::uint64_t seed = 1; seed <= 20 && caught == 0; ++seed) {
        const RunResult result =
            run_simulation(config_of(seed, info.plant), make_steps(seed, kTurns));
        if (result.violation) {
            ++caught;
            EXPECT_NE(info.invariants.find(result.violation->invariant), std::string_view::npos)
                << result.violation->invariant << ": " << result.violation->what;
        }
    }
    EXPECT_EQ(caught, 1u) << info.does;
}

INSTANTIATE_TEST_SUITE_P(
    Every,
    PlantTest,
    ::testing::ValuesIn(all_plants().begin(), all_plants().end()),
    [](const auto& name) { return std::string(name.param.name); });

TEST_F(SimulationTest, ShrinksAFailureToAFewStepsThatStillFail) {
    const RunConfig config = config_of(1, Plant::act_before_commit);
    const std::vector<Step> steps = make_steps(1, kTurns);
    const RunResult broken = run_simulation(config, steps);
    ASSERT_TRUE(broken.violation);
    const Shrunk shrunk = shrink(config, steps, broken);
    EXPECT_LE(shrunk.steps.size(), 5u);
    EXPECT_LE(shrunk.runs, kShrinkRunsMax);
    const RunResult again = run_simulation(config, shrunk.steps);
    ASSERT_TRUE(again.violation);
    EXPECT_EQ(again.violation->invariant, "I1");
}

}  // namespace
}  // namespace interlock::sim
