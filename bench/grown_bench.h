// `interlock bench turns --grown N` and `bench decisions --grown N`: the same turns on a database
// that holds N of them already, with keys as unordered as real ones, beside bare statements on a
// database that grew alike.
//
// Data is grown once. Then rounds go on from there: the plane on its own copy; a plane that records
// what it commits on another; and the bare statements, which write just that, on a copy of the
// second. So the last two stay alike, and nothing has to be copied while something is measured.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "bench/bench_requests.h"
#include "bench/spread.h"
#include "engine/sqlite/wal_checkpointer.h"

namespace interlock {

struct GrownBenchOptions {
    std::string folder;  // Where databases are made; empty: the working directory.
    TurnKind kind = TurnKind::probe;
    std::int64_t grown = 0;
    std::vector<std::int64_t> callers{64};
    bool inprocess = true;
    bool http = true;
    // In process only; to see what they do to the slowest turns.
    bool ordered_keys = false;
    std::int64_t wal_restart_bytes = kWalRestartBytes;
    double seconds = 1;  // Of each measurement.
    int rounds = 3;
    std::string program = "/proc/self/exe";  // Started as `serve` for HTTP.
};

struct GrownRow {
    std::string transport;  // "inprocess" or "http".
    std::string keys;       // "random" or "ordered".
    std::int64_t callers = 0;
    std::int64_t grown = 0;  // Turns before the first round.
    std::int64_t turns = 0;  // Of all rounds.
    std::int64_t rounds = 0;
    double turns_per_s = 0;
    double raw_turns_per_s = 0;
    double ratio = 0;
    double mean_batch = 0;
    std::int64_t p50_us = 0;
    std::int64_t p99_us = 0;
    std::int64_t max_us = 0;
    std::int64_t database_bytes = 0;  // At the end.
    // In process: what the commits took, and what of it went to the log starting over.
    std::int64_t commit_p50_us = 0;
    std::int64_t commit_p99_us = 0;
    std::int64_t commit_max_us = 0;
    WalCounters wal = {};  // Of all rounds together.
    Spreads spreads = {};
};

// Gives each row as soon as it is there.
Result<void> run_grown_bench(
    const GrownBenchOptions& options, const std::function<void(const GrownRow&)>& on_row);

Json encode(const GrownRow& row);
std::string to_table(const std::vector<GrownRow>& rows);

}  // namespace interlock
