// Tests of the matching benchmark's own parts: it must measure what it says it measures.
#include "bench/matching_bench.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

constexpr std::size_t kCalls = 20'000;

std::vector<MatchingRow> run(const MatchingBenchOptions& options) {
    std::vector<MatchingRow> rows;
    run_matching_bench(options, [&](const MatchingRow& row) { rows.push_back(row); });
    return rows;
}

TEST(MatchingFlow, IsTheSameForTheSameSeedAndOnlyThen) {
    const auto rows = run({.calls = kCalls, .rounds = 1, .seed = 7});
    const auto again = run({.calls = kCalls, .rounds = 1, .seed = 7});
    const auto other = run({.calls = kCalls, .rounds = 1, .seed = 8});
    ASSERT_EQ(rows.size(), kMatchingMixes.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i].fingerprint, again[i].fingerprint) << rows[i].mix;
        EXPECT_NE(rows[i].fingerprint, other[i].fingerprint) << rows[i].mix;
    }
}

TEST(MatchingFlow, EveryMixTradesRestsAndIsMostlyAccepted) {
    for (const MatchingRow& row : run({.calls = kCalls, .rounds = 1})) {
        EXPECT_EQ(row.calls, static_cast<std::int64_t>(kCalls));
        EXPECT_GT(row.trades, 100) << row.mix;
        EXPECT_GT(row.resting_most, 100) << row.mix;
        EXPECT_LT(row.refused, row.calls / 2) << row.mix;
    }
}

TEST(MatchingFlow, OnlyACrashHalvesThePrice) {
    for (const MatchingMix& mix : kMatchingMixes) {
        std::int64_t lowest = kBookTicksMax.count;
        for (const MatchingCall& call : make_matching_flow(mix, kCalls, 1)) {
            if (call.kind == MatchingCall::Kind::submit) {
                lowest = std::min(lowest, call.order.price.count);
            }
        }
        EXPECT_EQ(lowest < 60'000, mix.path == FlowPath::crashing) << mix.name;
    }
}

TEST(MatchingFlow, KnowsItsMixesByName) {
    EXPECT_EQ(matching_mix("swing")->name, "swing");
    EXPECT_FALSE(matching_mix("calm").has_value());
}

TEST(MatchingBench, WritesEachRowOnOneLineOfTheTable) {
    const auto rows = run({.mixes = {kMatchingMixes[0]}, .calls = 100, .rounds = 1});
    const std::string table = to_table(rows);
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 2);
    EXPECT_NE(to_text(encode(rows[0])).find("\"mix\":\"normal\""), std::string::npos);
}

}  // namespace
}  // namespace interlock
