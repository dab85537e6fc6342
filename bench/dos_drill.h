// `interlock drill dos`: pulls the kill switch of a server that strangers try to crowd out, and
// tells how long it took. Silent connections, busy ones, a flood of logins and one of uploads come
// from other addresses of this machine; the stop comes with an access key, on the ordinary port and
// on the stop listener, over new connections and over one that was kept.
//
// The server is a process of its own with the configuration that everybody starts with.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "bench/crowd.h"
#include "bench/latency.h"

namespace interlock {

struct DosDrillOptions {
    std::string folder;  // Empty: the working directory.
    std::string program = "/proc/self/exe";
    int rounds = 200;  // Stops on each path.
    int silent = 10'000;
    int busy = 2'000;
    int logins = 64;   // Connections that only try passwords ...
    int uploads = 64;  // ... and that only send long bodies, slowly.
};

// From the call to the answer, which says that the stop is on the record.
struct DosPathReport {
    std::string path;
    std::int64_t limit_us = 0;  // What 99 of 100 must be below.
    int stops = 0;
    int failed = 0;  // No answer, or one that does not say "on".
    LatencySummary calm;
    LatencySummary attacked;

    bool is_good() const { return failed == 0 && attacked.p99_us < limit_us; }
};

struct DosDrillReport {
    std::vector<DosPathReport> paths;
    // One append of a stop's size with its sync, by a file beside the server's: what the record of
    // a stop costs on this machine at such a time, whoever writes it.
    LatencySummary disk_calm;
    LatencySummary disk_attacked;
    std::vector<CrowdReport> crowds;
    std::int64_t resident_bytes = 0;  // Of the server, at the end of the attack.
    std::string scaled_down;          // What this machine did not allow; empty: nothing.

    bool is_good() const;
};
Json encode(const DosDrillReport& report);
std::string to_table(const DosDrillReport& report);

Result<DosDrillReport> run_dos_drill(
    DosDrillOptions options, const std::function<void(const std::string&)>& on_progress);

}  // namespace interlock
