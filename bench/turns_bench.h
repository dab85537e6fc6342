// `interlock bench turns` and `bench decisions`: durable turns per second beside what the same
// disk, SQLite and HTTP server give alone, measured in the same run.
//
// For each number of callers a first run records what the plane commits. Then rounds alternate
// between the plane and the baselines, each on a fresh database in the same folder, so that a slow
// minute of a shared machine hits both; medians are reported.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/bench_requests.h"
#include "bench/turns_row.h"

namespace interlock {

struct TurnsBenchOptions {
    std::string folder;  // Where databases are made; empty: the working directory.
    std::vector<std::int64_t> callers{1, 8, 64, 256};
    TurnKind kind = TurnKind::probe;
    bool inprocess = true;
    bool http = true;
    double seconds = 1;  // Of each measurement.
    int rounds = 3;
    std::string program = "/proc/self/exe";  // Started as `serve` for HTTP.
};

// Gives each row as soon as it is there.
Result<void> run_turns_bench(
    const TurnsBenchOptions& options, const std::function<void(const TurnsRow&)>& on_row);

}  // namespace interlock
