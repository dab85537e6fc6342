// `interlock bench tick`: one tick of the agent loop without its IO, on an account with open orders
// in every market. The target is a tick of 9 symbols with 20 open orders each in under 1 ms.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "bench/spread.h"

namespace interlock {

struct TickBenchOptions {
    std::int64_t symbols = 9;       // At most kSampleSymbolsMax.
    std::int64_t open_orders = 20;  // Of each symbol.
    std::int64_t samples = 2000;    // Ticks per round.
    std::int64_t rounds = 5;
};

// One part of a tick, or the whole.
struct TickRow {
    std::string part;
    double p50_us = 0;
    double p99_us = 0;
    Spreads spreads = {};
};
struct TickReport {
    std::int64_t symbols = 0;
    std::int64_t open_orders = 0;  // Together.
    std::vector<TickRow> rows;
};

Result<TickReport> run_tick_bench(const TickBenchOptions& options);

Json encode(const TickReport& report);
std::string to_text(const TickReport& report);

}  // namespace interlock
