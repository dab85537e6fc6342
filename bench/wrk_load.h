// Load by `wrk`, which is not ours: a closed loop of kept-alive connections that send the same
// request over and over. It runs as a child while we do something else, or for its own sake.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "bench/measured_process.h"

namespace interlock {

struct WrkLoad {
    std::uint16_t port = 0;
    std::string path;
    std::string access_key;  // Empty: none is sent.
    // Not empty: a POST of this. Every `{n}` in it becomes a text that no other request has.
    std::string body;
    int seconds = 1;
    int threads = 2;
    int connections = 64;
};

struct WrkReport {
    std::int64_t answers = 0;
    std::int64_t refused = 0;  // Of them with a status from 400 on.
    std::int64_t broken = 0;   // Connections that could not be made, read, written, or timed out.
    double per_second = 0;
    std::int64_t p50_us = 0;
    std::int64_t p99_us = 0;
};

class WrkRun {
public:
    // `folder` takes its script and log.
    static Result<WrkRun> start(const WrkLoad& load, const std::string& folder);
    // Waits for its end.
    Result<WrkReport> finish();

private:
    explicit WrkRun(MeasuredProcess process, int seconds)
        : process_(std::move(process)), seconds_(seconds) {}
    MeasuredProcess process_;
    int seconds_;
};

Result<WrkReport> run_wrk(const WrkLoad& load, const std::string& folder);

// What our script has it print as its last line.
Result<WrkReport> parse_wrk_line(const std::string& line);

}  // namespace interlock
