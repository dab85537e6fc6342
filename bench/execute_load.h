// The two loads of `bench execute`: on a plane in this process, and over HTTP on a server of its
// own.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "bench/bench_plane.h"
#include "bench/execute_bench.h"

namespace interlock {

struct ExecuteLoad {
    std::int64_t callers = 1;
    std::chrono::milliseconds duration{1000};
};

// Opens a tenant for each caller, then measures. The plane has a venue and was not started.
Result<ExecuteTimes> load_plane(BenchPlane& bench, const ExecuteLoad& load);

// The same with `program` as a server in `folder`, which is fresh.
Result<ExecuteTimes> load_server(
    const std::string& program, const std::string& folder, const ExecuteLoad& load);

}  // namespace interlock
