// `interlock bench relay`: what the relay gives, in three parts.
//
//   keys     reading a platform's event, its session key and the delivery gate, one thread.
//            Target: 20 µs together.
//   sockets  idle gateways of a running server that have said hello, and the same number on Node's
//            `ws`: memory of each. Target: 10 kB.
//   inbound  event in, stored, delivered, acknowledged, acknowledgement stored, beside Redis
//            Streams and NATS JetStream that sync every write. Target: 0.8 × the better one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "bench/spread.h"

namespace interlock {

struct RelayBenchOptions {
    std::string folder;                      // Where data is made; empty: the working directory.
    std::string program = "/proc/self/exe";  // Started as `serve` and as `bench relay-load`.
    bool keys = true;
    bool sockets = true;
    bool inbound = true;
    int samples = 20'000;  // Of keys, for each platform and round.
    int rounds = 3;        // Of keys and of inbound; medians are reported.
    std::int64_t idle_sockets = 10'000;
    std::vector<std::int64_t> instances = {1, 100, 1000};
    int seconds = 3;  // Of each measurement of inbound.
    int tenants = 1;  // Of inbound; instances are spread over them.
    bool peers = true;
    // Programs; empty: where Debian puts them.
    std::string redis_server = {};
    std::string nats_server = {};
};

struct RelayKeysRow {
    std::string platform;
    std::int64_t bytes = 0;  // Of the event as the platform sends it.
    // Medians of rounds, for one event.
    std::int64_t read_ns = 0;  // JSON or a form, parsed.
    std::int64_t normalise_ns = 0;
    std::int64_t session_key_ns = 0;
    std::int64_t gate_ns = 0;
    Spreads spreads = {};

    // Without reading: that is the target.
    std::int64_t sum_ns() const { return normalise_ns + session_key_ns + gate_ns; }
};

struct RelaySocketsRow {
    std::string server;
    std::int64_t sockets = 0;
    std::int64_t resident_before = 0;
    std::int64_t resident_after = 0;
    std::int64_t proportional_before = 0;  // PSS.
    std::int64_t proportional_after = 0;
    double dial_seconds = 0;

    double bytes_per_socket() const;
    double proportional_per_socket() const;
};

// What one store gave for a number of instances; medians of rounds.
struct RelayInboundRow {
    std::string store;
    std::int64_t instances = 0;
    std::int64_t in_flight = 0;  // Messages of each instance on their way.
    double per_second = 0;
    std::int64_t p50_us = 0;
    std::int64_t p99_us = 0;
    double cpu_us = 0;  // The server's time on cores for one message.
    double ratio = 0;   // Ours to the better peer in the same round; 0: none, or a peer's row.
    Spreads spreads = {};
};

struct RelayBenchReport {
    std::vector<RelayKeysRow> keys;
    std::vector<RelaySocketsRow> sockets;
    std::vector<RelayInboundRow> inbound;
    std::vector<std::string> missing;  // Peers that could not be had, and why.
};

Result<RelayBenchReport> run_relay_bench(const RelayBenchOptions& options);

// The parts; `folder` exists and is fresh.
Result<std::vector<RelayKeysRow>> run_relay_keys(const RelayBenchOptions& options);
Result<std::vector<RelaySocketsRow>> run_relay_sockets(
    const RelayBenchOptions& options, const std::string& folder, std::vector<std::string>& missing);
Result<std::vector<RelayInboundRow>> run_relay_inbound(
    const RelayBenchOptions& options, const std::string& folder, std::vector<std::string>& missing);

Json encode(const RelayBenchReport& report);
std::string to_text(const RelayBenchReport& report);

}  // namespace interlock
