#include "bench/gates_bench.h"

#include <gtest/gtest.h>

#include <set>

namespace interlock {
namespace {

// Numbers are the machine's; that every row was measured and means what it says is ours.
TEST(GatesBench, MeasuresEveryRowOnce) {
    const auto rows = run_gates_bench({.samples = 1, .rounds = 1});
    std::set<std::string> seen;
    for (const GatesRow& row : rows) {
        EXPECT_GT(row.p50_ns, 0);
        EXPECT_GE(row.p99_ns, row.p50_ns);
        Json key = encode(row);
        for (const char* measured : {"p50_ns", "p99_ns", "times_first", "per_count"}) {
            key.set(measured, nullptr);
        }
        EXPECT_TRUE(seen.insert(to_text(key)).second) << to_text(key);
    }
    EXPECT_EQ(rows.size(), 17u);
}

TEST(GatesBench, ComparesEachRowWithTheFirstOfItsKind) {
    for (const GatesRow& row : run_gates_bench({.samples = 1, .rounds = 1})) {
        const bool is_first = (row.varied == "intents" && row.intents == 1) ||
                              (row.varied == "open_orders" && row.open_orders == 0) ||
                              (row.varied == "symbols" && row.symbols == 1);
        if (is_first) {
            EXPECT_EQ(row.times_first, 1.0);
            EXPECT_EQ(row.per_count, 1.0);
        }
    }
}

}  // namespace
}  // namespace interlock
