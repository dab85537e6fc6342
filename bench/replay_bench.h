// `interlock bench replay`: how many recorded decisions a minute are re-run to equal hashes. The
// target is 100,000.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "bench/spread.h"

namespace interlock {

struct ReplayBenchOptions {
    std::string folder;  // Where the ledger is made; empty: the working directory.
    std::int64_t decisions = 5000;
    int rounds = 3;
};

struct ReplayBenchReport {
    std::int64_t decisions = 0;
    std::int64_t steps = 0;
    double decisions_per_minute = 0;  // Median of the rounds.
    int rounds = 0;
    Spreads spreads = {};
};
// Fails when a decision does not replay.
Result<ReplayBenchReport> run_replay_bench(const ReplayBenchOptions& options);

Json encode(const ReplayBenchReport& report);
std::string to_text(const ReplayBenchReport& report);

}  // namespace interlock
