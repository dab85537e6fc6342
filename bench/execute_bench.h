// `interlock bench execute`: the whole way of an order. Every caller is a planner with a tenant of
// its own and goes, one call after the other, through validate, dry run, execute and verify; the
// execution is answered when the paper venue has filled the order and the fill is booked, and the
// verification when the venue was asked again. Each call is durable before it is answered, and so
// is the venue's own journal. A path whose order is not filled and matched makes the run fail.
//
// Rounds alternate with what bare prepared statements reach that write the very rows of such paths,
// each on a fresh database in the same folder.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "bench/spread.h"
#include "bench/trading_caller.h"

namespace interlock {

struct ExecuteBenchOptions {
    std::string folder;  // Where databases are made; empty: the working directory.
    std::vector<std::int64_t> callers{1, 8, 32};
    bool inprocess = true;
    bool http = true;
    double seconds = 1;  // Of each measurement.
    int rounds = 3;
    std::string program = "/proc/self/exe";  // Started as `serve` for HTTP.
};

// What one load of paths took. By step, and at its end the whole path.
struct ExecuteTimes {
    std::array<std::vector<std::int64_t>, kTradeSteps> steps_us;
    std::vector<std::int64_t> paths_us;
    double seconds = 0;
    double mean_batch = 1;

    double per_second() const;
};

struct ExecuteRow {
    std::string transport;  // "inprocess" or "http".
    std::int64_t callers = 0;
    std::int64_t rounds = 0;
    std::int64_t paths = 0;  // In all rounds.
    double paths_per_s = 0;
    double bare_paths_per_s = 0;  // Their rows by bare statements.
    double ratio = 0;
    double mean_batch = 0;  // Turns per commit.
    double turns_per_path = 0;
    std::int64_t path_p50_us = 0;
    std::int64_t path_p99_us = 0;
    std::int64_t path_max_us = 0;
    std::array<std::int64_t, kTradeSteps> step_p50_us = {};
    std::array<std::int64_t, kTradeSteps> step_p99_us = {};
    Spreads spreads = {};
};

// Gives each row as soon as it is there.
Result<void> run_execute_bench(
    const ExecuteBenchOptions& options, const std::function<void(const ExecuteRow&)>& on_row);

Json encode(const ExecuteRow& row);
std::string to_table(const std::vector<ExecuteRow>& rows);

}  // namespace interlock
