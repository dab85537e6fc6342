// `interlock bench start`: how long the server takes from nothing to ready on an existing data
// folder, from there to trading on, and how much memory it holds when idle.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "bench/spread.h"

namespace interlock {

struct StartBenchOptions {
    std::string folder;  // Empty: the working directory.
    std::string program = "/proc/self/exe";
    int rounds = 11;
    std::uint64_t turns = 20'000;  // What the data folder holds.
    // kill -9 instead of orderly stops: the first start then finds what came since the last seals.
    bool is_killed = false;
};

struct StartBenchReport {
    LatencySummary ready;  // From fork to the ready line.
    // From fork until a plan of an account that traded before passes every gate.
    LatencySummary tradeable;
    Duration first;                   // Of these, the first.
    std::int64_t resident_bytes = 0;  // Idle, the largest of all rounds.
    std::int64_t turns = 0;
    int rounds = 0;
    Spreads spreads = {};
};
Result<StartBenchReport> run_start_bench(const StartBenchOptions& options);

Json encode(const StartBenchReport& report);
std::string to_text(const StartBenchReport& report);

}  // namespace interlock
