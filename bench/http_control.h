// Control decisions over real HTTP beside plain turns over the same: a server as a child process,
// each caller with a connection, and both kinds spread over the same tenants.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "net/load_client.h"

namespace interlock {

struct HttpControlOptions {
    std::string program;
    std::string folder;  // Exists and is fresh.
    std::int64_t callers = 1;
    bool is_control = false;  // Else probes, the plain turns.
    std::chrono::milliseconds duration{1000};
};
struct HttpControlReport {
    LoadReport load;
    double mean_batch = 1;
};
Result<HttpControlReport> run_http_control(const HttpControlOptions& options);

}  // namespace interlock
