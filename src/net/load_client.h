// A closed-loop HTTP/1.1 load generator for benchmarks and drills: a number of kept-alive
// connections, each with one request under way, on one thread with very little work per request.
//
// It reads just enough of a response to know its status and where it ends (Content-Length); a
// server under test must not be measured by the speed of its client.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http_client.h"

namespace interlock {

inline constexpr std::size_t kLoadConnectionsMax = 10'000;
inline constexpr std::uint64_t kLoadRequestsMax = 100'000'000;  // Four bytes of latency each.

struct LoadResponse {
    std::size_t connection = 0;
    std::uint64_t sequence = 0;
    int status = 0;
    std::string_view body;  // Valid during the call.
};

struct LoadConfig {
    HttpTarget target;
    std::size_t connections = 1;
    // The run ends with whichever comes first; then requests under way are awaited.
    std::chrono::milliseconds duration{1000};
    std::uint64_t requests_max = kLoadRequestsMax;
    std::stop_token stop;
    // How long to wait for a connection, and for the last responses.
    std::chrono::milliseconds patience{10'000};
    // The full bytes of the request; sequence counts from 0 within each connection.
    std::function<std::string(std::size_t connection, std::uint64_t sequence)> request;
    std::function<void(const LoadResponse&)> on_response;  // Optional.
};

struct LoadReport {
    std::vector<std::uint32_t> latencies_us;  // Of every answered request, in order of arrival.
    std::map<int, std::uint64_t> statuses;
    // Requests that went out in part or whole and got no usable answer. The connection is then
    // opened anew once; when that fails too, it stays closed.
    std::uint64_t lost = 0;
    std::chrono::microseconds elapsed{0};  // From the first request to the last response.

    double requests_per_second() const;
    // The latency below which `share` (0 to 1) of the answers stayed; 0 without answers.
    std::uint32_t percentile_us(double share) const;
};

// Runs on the calling thread. Fails only when not even the first connections can be made.
Result<LoadReport> run_load(const LoadConfig& config);

}  // namespace interlock
