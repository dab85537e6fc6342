// `interlock bench strategies`: what one round of ticks costs when many strategies are live, on the
// paper venue with its moving market and a durable store. The target is a round of 1,000 instances
// in under 50 ms of CPU.
//
// Types are mixed evenly over the accounts and their markets. In each market one strategy is
// active, every second time a grid with orders in the book; the others observe. All tick in every
// round. A grid that stands acts once in many minutes; with `acting` every strategy is an active
// grid with narrow steps and a round is a minute of the market, so that many act.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "bench/spread.h"

namespace interlock {

struct StrategiesBenchOptions {
    std::string folder;  // Where the database is made; empty: the working directory.
    std::int64_t instances = 1000;
    std::int64_t accounts = 8;
    std::int64_t rounds = 50;
    std::int64_t warm_up = 20;  // Rounds before, in which the grids are laid out.
    bool acting = false;
};

struct StrategiesBenchReport {
    std::int64_t instances = 0;
    std::int64_t running = 0;
    std::int64_t active = 0;
    std::int64_t accounts = 0;
    std::int64_t rounds = 0;
    std::int64_t open_orders = 0;  // At the end.
    double acting = 0;             // Turns in which a strategy acted, mean per round.
    // CPU time of a round's ticks and of the turns in which strategies act, commits included.
    double round_p50_ms = 0;
    double round_max_ms = 0;
    // Of rounds in which nobody acted; 0 when there was none.
    double quiet_p50_ms = 0;
    // Of rounds in which somebody acted.
    std::int64_t acting_rounds = 0;
    double acting_p50_ms = 0;
    double acting_p99_ms = 0;
    Spreads spreads = {};
};

Result<StrategiesBenchReport> run_strategies_bench(const StrategiesBenchOptions& options);

Json encode(const StrategiesBenchReport& report);
std::string to_text(const StrategiesBenchReport& report);

}  // namespace interlock
