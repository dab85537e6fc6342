// `interlock drill kill`: pulls the kill switch of a busy server again and again, along every path,
// and tells how long effects went on leaving and how long the record took.
//
// Server and sink are processes of their own. Effects are timed where they arrive, on the machine's
// monotonic clock, so the drill sees what a venue would have seen. An effect that arrives after the
// caller was told that everything stopped makes the drill fail.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "bench/latency.h"

namespace interlock {

struct KillDrillOptions {
    std::string folder;  // Empty: the working directory.
    std::string program = "/proc/self/exe";
    std::vector<std::string> paths{"http", "mcp", "cli", "file"};
    int rounds = 20;
    int agents = 32;  // Connections that keep the server busy, one probe with effect each.
};

struct KillPathReport {
    std::string path;
    int rounds = 0;
    // From the call until the last effect had arrived: "no further order can leave".
    LatencySummary stopped;
    // From the call until the durable record was known to the caller.
    LatencySummary recorded;
    std::int64_t effects_before = 0;  // That had arrived when the switch was pulled, in all rounds.
    std::int64_t effects_after = 0;   // That arrived after the record: must be 0.
    // The largest time between the record and a later effect.
    std::int64_t latest_after_us = 0;
};
Json encode(const KillPathReport& report);
std::string to_table(const std::vector<KillPathReport>& reports);

Result<std::vector<KillPathReport>> run_kill_drill(
    const KillDrillOptions& options, const std::function<void(const std::string&)>& on_progress);

}  // namespace interlock
