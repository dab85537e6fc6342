// How fast the disk makes appended bytes durable: the floor under every commit.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "base/result.h"
#include "bench/latency.h"

namespace interlock {

struct DiskSyncOptions {
    std::string path;  // Of a file to be made.
    std::size_t append_bytes = 4096;
    std::chrono::milliseconds duration{500};
};

struct DiskSyncReport {
    LatencySummary latency;  // Of one append with its fdatasync.
    double syncs_per_s = 0;
};

Result<DiskSyncReport> measure_disk_sync(const DiskSyncOptions& options);

}  // namespace interlock
