// Tests of what a benchmark says about its numbers.
#include "bench/turns_row.h"

#include <gtest/gtest.h>

#include "bench/latency.h"

namespace interlock {
namespace {

TEST(Latency, PercentilesAreValuesThatWereMeasured) {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 100; i >= 1; --i) {
        values.push_back(i);
    }
    const LatencySummary summary = summarize(values);
    EXPECT_EQ(summary.p50_us, 51);
    EXPECT_EQ(summary.p99_us, 99);
    EXPECT_EQ(summary.max_us, 100);
}

TEST(Latency, NothingMeasuredIsZero) {
    const LatencySummary summary = summarize({});
    EXPECT_EQ(summary.p50_us, 0);
    EXPECT_EQ(summary.max_us, 0);
    EXPECT_EQ(median_of(std::vector<double>{}), 0);
}

TEST(Latency, OneValueIsEveryPercentile) {
    const LatencySummary summary = summarize({7});
    EXPECT_EQ(summary.p50_us, 7);
    EXPECT_EQ(summary.p99_us, 7);
    EXPECT_EQ(summary.max_us, 7);
}

TEST(Latency, TheMedianIgnoresOneWildRound) {
    EXPECT_EQ(median_of(std::vector<double>{5, 1000, 6}), 6);
    EXPECT_EQ(median_of(std::vector<double>{8, 1000, 5, 6}), 7);
    EXPECT_EQ(median_of(std::vector<std::int64_t>{4, 2}), 3);
}

TEST(Latency, TheMedianOfAnEvenNumberLiesInTheMiddle) {
    EXPECT_DOUBLE_EQ(median_of(std::vector<double>{4, 1, 3, 2}), 2.5);
    EXPECT_EQ(median_of(std::vector<std::int64_t>{10, 20}), 15);
}

TEST(Spreads, ARowTellsTheWholeRangeOfItsRounds) {
    Spreads spreads;
    EXPECT_DOUBLE_EQ(spreads.note("per_s", std::vector<double>{30, 10, 20}, 1), 20);
    EXPECT_EQ(spreads.note("p50_us", std::vector<std::int64_t>{7, 9}), 8);
    Json row = Json::object({{"per_s", 20}});
    spreads.write(row);
    EXPECT_EQ(
        to_text(row),
        R"({"per_s":20,"per_s_min":10.0,"per_s_max":30.0,"p50_us_min":7,"p50_us_max":9,"runs":3})");
    EXPECT_EQ(spreads.of("per_s").runs, 3);
    EXPECT_EQ(spreads.of("another").runs, 0);
}

TEST(Spreads, WithoutRoundsThereIsNoRange) {
    Spreads spreads;
    EXPECT_EQ(spreads.note("per_s", std::vector<double>{}), 0);
    Json row = Json::object();
    spreads.write(row);
    EXPECT_EQ(to_text(row), R"({"runs":0})");
}

TEST(Spreads, ARatioIsThatOfEachRound) {
    const std::vector<double> ratios = ratios_of({10, 30, 5}, {20, 20, 0});
    EXPECT_EQ(ratios, (std::vector<double>{0.5, 1.5}));
}

TEST(TurnsRow, TheRatioIsTheMedianOfTheRoundsOwnRatios) {
    TurnsRow row;
    row.turns_per_s = 100;
    row.raw_turns_per_s = 100;
    row.spreads.note("ratio", std::vector<double>{0.7, 0.8, 0.6}, 3);
    EXPECT_DOUBLE_EQ(row.ratio(), 0.7);
}

TEST(TurnsRow, InProcessIsMeasuredAgainstRawSqlite) {
    TurnsRow row;
    row.turns_per_s = 600;
    row.raw_turns_per_s = 1000;
    EXPECT_DOUBLE_EQ(row.ratio(), 0.6);
}

TEST(TurnsRow, HttpIsMeasuredAgainstTheSlowerOfTheTwoBaselines) {
    TurnsRow row;
    row.turns_per_s = 600;
    row.raw_turns_per_s = 2000;
    row.bare_http_per_s = 1000;
    EXPECT_DOUBLE_EQ(row.ratio(), 0.6);
    row.raw_turns_per_s = 800;
    EXPECT_DOUBLE_EQ(row.ratio(), 0.75);
}

TEST(TurnsRow, WithoutABaselineThereIsNoRatio) {
    EXPECT_DOUBLE_EQ(TurnsRow{}.ratio(), 0);
}

TEST(TurnsRow, ComparesATurnWithOneBareSync) {
    TurnsRow row;
    EXPECT_DOUBLE_EQ(row.p50_per_sync(), 0);
    row.p50_us = 300;
    row.fdatasync_p50_us = 200;
    EXPECT_DOUBLE_EQ(row.p50_per_sync(), 1.5);
}

TEST(TurnsRow, NamesTheResourceThatIsUsedUp) {
    TurnsRow row;
    row.engine_cpu_share = 0.95;
    row.machine_cpu_share = 0.95;
    EXPECT_EQ(row.saturated(), "engine thread");
    row.engine_cpu_share = 0.5;
    EXPECT_EQ(row.saturated(), "all cores");
    row.machine_cpu_share = 0.4;
    row.commit_share = 0.9;
    EXPECT_EQ(row.saturated(), "disk");
    row.commit_share = 0.3;
    EXPECT_EQ(row.saturated(), "callers");
}

TEST(TurnsRow, TheJsonLineHoldsWhatScriptsRead) {
    TurnsRow row;
    row.transport = "inprocess";
    row.callers = 64;
    const Json json = encode(row);
    for (const char* key :
         {"transport",
          "callers",
          "turns_per_s",
          "raw_turns_per_s",
          "ratio",
          "p50_us",
          "p99_us",
          "mean_batch",
          "fdatasync_p50_us",
          "engine_cpu_share",
          "saturated"}) {
        EXPECT_NE(json.find(key), nullptr) << key;
    }
    EXPECT_EQ(json.find("bare_http_per_s"), nullptr);
    EXPECT_TRUE(parse_json(to_text(json)).has_value());
}

TEST(TurnsRow, TheTableHasALineForEachRow) {
    const std::string table = to_table({TurnsRow{}, TurnsRow{}});
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3);
}

}  // namespace
}  // namespace interlock
