// `interlock bench control`: durable control decisions (apply_control_decision) per second beside
// the plain turns of `bench turns`, measured in the same run.
//
// Every caller supervises a concern of its own with two idle strategies and sends, one after the
// other, a switch, two changes of the risk mode, a pause and a resume; each must be applied. Rounds
// alternate between plain turns and decisions, each on a fresh database in the same folder. Beside
// each stands what bare prepared statements reach that write the same rows: a decision must by
// contract leave more behind than a plain turn, and this is what that alone costs. Then the same
// against the server itself, over HTTP, as agents call it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "bench/spread.h"

namespace interlock {

struct ControlBenchOptions {
    std::string folder;  // Where databases are made; empty: the working directory.
    std::int64_t callers = 64;
    double seconds = 1;  // Of each measurement.
    std::int64_t rounds = 3;
    bool http = true;
    std::string program = "/proc/self/exe";  // Started as `serve` for HTTP.
};

// Medians over the rounds.
struct ControlBenchSide {
    double per_s = 0;
    std::int64_t p50_us = 0;
    std::int64_t p99_us = 0;
    double mean_batch = 0;        // Turns per commit.
    double engine_cpu_share = 0;  // The engine thread on a core.
    double engine_us = 0;         // Of the engine thread for one turn.
    double bare_per_s = 0;        // The same rows at the same batch size, by bare statements.
    Spreads spreads = {};
};
struct ControlHttpSide {
    double per_s = 0;
    std::int64_t p50_us = 0;
    std::int64_t p99_us = 0;
    double mean_batch = 0;
    Spreads spreads = {};
};
struct ControlHttpReport {
    ControlHttpSide plain;
    ControlHttpSide control;
    double ratio = 0;  // Median of the rounds' ratios.
};
struct ControlBenchReport {
    std::int64_t callers = 0;
    std::int64_t rounds = 0;
    ControlBenchSide plain;
    ControlBenchSide control;
    std::optional<ControlHttpReport> http;

    // Decisions against plain turns, and what bare statements make of their rows; medians of the
    // rounds' ratios.
    double ratio = 0;
    double bare_ratio = 0;
    Spreads spreads = {};
};

Result<ControlBenchReport> run_control_bench(const ControlBenchOptions& options);

Json encode(const ControlBenchReport& report);
std::string to_text(const ControlBenchReport& report);

}  // namespace interlock
