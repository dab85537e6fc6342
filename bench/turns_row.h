// One line of the turns benchmark: what was driven, what came out, what the same machine gives
// without us in the same minutes, and what was the limit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "bench/spread.h"

namespace interlock {

struct TurnsRow {
    std::string transport;  // "inprocess" or "http".
    std::int64_t callers = 0;
    std::int64_t rounds = 0;
    std::int64_t turns = 0;  // Per round.
    double turns_per_s = 0;
    std::int64_t p50_us = 0;
    std::int64_t p99_us = 0;
    std::int64_t max_us = 0;

    double mean_batch = 0;       // Turns per commit.
    double raw_turns_per_s = 0;  // The bare SQLite loop at that batch size.
    double bare_http_per_s = 0;  // HTTP only: the same server answering a constant.
    double fdatasync_per_s = 0;  // Of appends of one commit's size.
    std::int64_t fdatasync_p50_us = 0;
    std::int64_t commit_bytes = 0;  // Mean growth of the write-ahead log.

    // Shares of the measured time.
    double engine_cpu_share = 0;   // The engine thread on a core.
    double commit_share = 0;       // The engine thread inside commits, waiting included.
    double server_cpu_share = 0;   // The whole server process, of all cores.
    double machine_cpu_share = 0;  // Server and load together, of all cores.

    // Against what the issue of such numbers is measured: raw SQLite in process; over HTTP the
    // slower of raw SQLite and the bare server.
    double yardstick_per_s() const;
    double ratio() const;
    // How many times one bare sync a turn takes.
    double p50_per_sync() const;
    // The same of one round.
    static double yardstick_per_s(double raw_per_s, double bare_http_per_s);
    // What kept it from going faster: "disk", "engine thread", "all cores" or "callers".
    std::string_view saturated() const;

    Spreads spreads = {};
};

Json encode(const TurnsRow& row);
std::string to_table(const std::vector<TurnsRow>& rows);

}  // namespace interlock
