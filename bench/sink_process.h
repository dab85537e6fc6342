// The recording sink as a child, and its journal as it grows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/measured_process.h"

namespace interlock {

struct SinkArrival {
    std::string event;  // "performed", "duplicate", ...
    std::string effect_id;
    std::string tenant_id;  // Empty for tombstones.
    std::string kind;
    std::int64_t monotonic_us = 0;
};

// Reads the lines that were added since the last look.
class SinkJournalReader {
public:
    explicit SinkJournalReader(std::string path) : path_(std::move(path)) {}
    Result<std::vector<SinkArrival>> read_new();

private:
    std::string path_;
    std::int64_t offset_ = 0;
};

struct SinkProcess {
    MeasuredProcess process;
    std::string socket_path;
    std::string journal_path;

    // Returns when the sink listens.
    static Result<SinkProcess> start(const std::string& program, const std::string& folder);
};

}  // namespace interlock
