// `interlock bench backtest`: events per second of a whole backtest, from the bytes of the file to
// the report, on one core; with one, ten and a hundred times the data, to show that cost is linear
// and memory flat. The targets are 1,000,000 for an idle strategy and 300,000 for a grid of twelve
// levels a side.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "bench/spread.h"

namespace interlock {

struct BacktestBenchOptions {
    std::string folder;          // Where the data is made; empty: the working directory.
    std::int64_t rows = 40'000;  // Trades of the shortest data.
    std::int64_t rounds = 3;     // Medians of them.
    std::vector<std::int64_t> lengths{1, 10, 100};
};

struct BacktestBenchRow {
    std::string strategy;
    std::string layout;  // "trades", "klines".
    std::int64_t length = 1;
    std::int64_t rows = 0;
    std::int64_t events = 0;
    std::int64_t fills = 0;
    std::int64_t decisions = 0;
    double events_per_s = 0;      // By the clock on the wall.
    double events_per_cpu_s = 0;  // By this thread's time on a core.
    double ns_per_event = 0;      // Of that time.
    std::int64_t peak_bytes = 0;  // Resident, of the whole process.
    Spreads spreads = {};
};

// Data is made by the synthetic market; the same on every machine.
Result<std::vector<BacktestBenchRow>> run_backtest_bench(const BacktestBenchOptions& options);

Json encode(const BacktestBenchRow& row);
std::string to_table(const std::vector<BacktestBenchRow>& rows);

}  // namespace interlock
