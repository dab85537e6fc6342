// Tests of the matching benchmark's own parts: it must measure what it says it measures.
#include "bench/matching_bench.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

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

TEST(MatchingBench, EveryRefusalIsToldByCallAndByReason) {
    for (const MatchingRow& row : run({.calls = kCalls, .rounds = 1})) {
        std::int64_t told = 0;
        for (const auto& reasons : row.refusals) {
            told = std::accumulate(reasons.begin(), reasons.end(), told);
        }
        EXPECT_EQ(told, row.refused) << row.mix;
        // The senders are late at most: what they cancel or amend was filled meanwhile.
        const auto cancel = static_cast<std::size_t>(MatchingCall::Kind::cancel);
        const auto unknown = static_cast<std::size_t>(BookRefusal::unknown_order);
        EXPECT_GT(row.refusals[cancel][unknown], 0) << row.mix;
        const auto submit = static_cast<std::size_t>(MatchingCall::Kind::submit);
        const auto& submits = row.refusals[submit];
        EXPECT_EQ(std::accumulate(submits.begin(), submits.end(), std::int64_t{0}), 0) << row.mix;
        EXPECT_EQ(
            encode(row).find("refusals")->find("cancel")->find("unknown_order")->as_int64(),
            row.refusals[cancel][unknown]);
    }
}

// A number of one day can be held beside one of another only if the streams are the same.
TEST(MatchingBench, TheStreamsAreThoseOfEveryEarlierMeasurement) {
    const std::map<std::string_view, std::uint64_t> known{
        {"normal", 0xfd71e6ee89a39499},
        {"static", 0xc229425d18e007a7},
        {"swing", 0xf97d072d6c223849},
        {"flash-crash", 0xdb0a205d23317c08}};
    std::size_t seen = 0;
    for (const MatchingRow& row : run({.rounds = 0})) {
        if (const auto found = known.find(row.mix); found != known.end()) {
            EXPECT_EQ(row.fingerprint, found->second) << row.mix;
            ++seen;
        }
    }
    EXPECT_EQ(seen, known.size());
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
