// Durable turns over real HTTP, and the same HTTP server answering a constant: both as a child
// process, both under the same load generator in this process.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "bench/bench_requests.h"
#include "bench/server_process.h"
#include "net/load_client.h"

namespace interlock {

// Whose turns they are.
inline constexpr std::string_view kBenchTenant = "bench";

struct HttpTurnsOptions {
    std::string program;
    std::string folder;  // Exists.
    std::int64_t callers = 1;
    TurnKind kind = TurnKind::probe;
    std::uint64_t turns = 1;
    std::chrono::milliseconds duration_max{60'000};
    bool is_killed = false;  // At the end, instead of an orderly stop.
    // Of an earlier run on this folder; empty: the tenant is made.
    std::string access_key = {};
    // Run before the load begins and once it is over, while the server is there.
    using Step = std::function<Result<void>(ServerProcess&, const std::string& access_key)>;
    Step beforehand = {};
    Step afterwards = {};
};

struct HttpTurnsReport {
    LoadReport load;
    std::int64_t answer_bytes = 0;  // Of one body.
    std::string access_key;         // Of the tenant "bench".
    double mean_batch = 1;
    Duration in_commit;
    Duration engine_cpu;  // The server's busiest thread.
    Duration server_cpu;
    Duration load_cpu;  // This process.
};
Result<HttpTurnsReport> run_http_turns(const HttpTurnsOptions& options);

// The same number of requests to a server that only answers `answer_bytes` bytes.
Result<LoadReport> run_bare_http(const HttpTurnsOptions& options, std::int64_t answer_bytes);

// The child of run_bare_http(): says where it listens and serves until it is told to stop.
Result<void> serve_bare_http(std::int64_t answer_bytes);

}  // namespace interlock
