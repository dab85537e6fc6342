// What judging a plan costs (`interlock bench gates`): all five gates with their full report, in
// process, and how that grows with intents, open orders and symbols.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "bench/spread.h"

namespace interlock {

struct GatesBenchOptions {
    std::int64_t samples = 2'000;  // Per row and round; each is a batch of calls.
    std::int64_t rounds = 5;       // Medians over them; rows alternate within a round.
};

struct GatesRow {
    std::string what;    // "gates", "gates refusing", "dry run", "envelope".
    std::string varied;  // "intents", "open_orders", "symbols", or empty.
    std::int64_t intents = 0;
    std::int64_t open_orders = 0;
    std::int64_t symbols = 0;
    double p50_ns = 0;
    double p99_ns = 0;  // Of batches, so single stalls are smoothed.
    // Against the first row that varies the same: times the cost, and that per times the count. The
    // second is at most 1 where growth is linear or better.
    double times_first = 1;
    double per_count = 1;
    Spreads spreads = {};
};

std::vector<GatesRow> run_gates_bench(const GatesBenchOptions& options);

Json encode(const GatesRow& row);
std::string to_table(const std::vector<GatesRow>& rows);

}  // namespace interlock
