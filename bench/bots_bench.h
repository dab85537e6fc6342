// `interlock bench bots`: what the bot platform gives, in four parts.
//
//   reads      every read endpoint of a running bot against the bare HTTP server that answers a
//              constant of the same size, by `wrk`, alternating within one run. Target: 60 %.
//   pulses     many tenants with running bots in one server on one core: every pulse is looked up
//              in the ledger afterwards. Target: 1,000 bots, none missed, 200 kB each.
//   growth     what idle bots leave on the disk, with equal pulses counted and with each recorded.
//              Target: 1,000 bots, 200 MB a day.
//   isolation  how long one tenant waits, alone and while another one floods the server, with the
//              limits that a server has by default. Target: less than twice as long.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "bench/spread.h"

namespace interlock {

struct BotsBenchOptions {
    std::string folder;                      // Where data is made; empty: the working directory.
    std::string program = "/proc/self/exe";  // Started as `serve`.
    bool reads = true;
    bool pulses = true;
    bool growth = true;
    bool isolation = true;
    int seconds = 2;  // Of each measurement of reads, and of each stretch of isolation.
    int rounds = 3;   // Of reads and of isolation.
    std::vector<std::string> endpoints = {};  // Reads to measure ("/status"); empty: all.
    std::int64_t bots = 1000;                 // With three symbols each.
    // So many of them, half at most, are given other settings all the time, so that their pulses
    // change orders: by itself a bot acts only after a fill, and all see the same market.
    std::int64_t acting_bots = 20;
    int pulse_seconds = 60;
};

struct BotReadRow {
    std::string endpoint;
    std::int64_t answer_bytes = 0;  // Of the body.
    double bare_per_s = 0;
    double header_per_s = 0;  // Key in a header, at /api/{tenant_id}/...
    double path_per_s = 0;    // Key in the path, at /{access_key}/...
    // Medians of the rounds' ratios.
    double header_ratio = 0;
    double path_ratio = 0;
    // The same by the servers' time on a core per request, which a busy machine moves less.
    double header_cpu_ratio = 0;
    double path_cpu_ratio = 0;
    Spreads spreads = {};
};

struct BotPulseReport {
    std::int64_t bots = 0;
    double seconds = 0;  // How long they were watched.
    std::int64_t pulses = 0;
    std::int64_t acting = 0;  // Pulses after which orders were changed.
    std::int64_t late = 0;    // As the bots' own status counts them.
    std::int64_t missed = 0;  // Periods without a pulse, by the ledger.
    std::int64_t stalled = 0;
    std::int64_t delay_p50_us = 0;  // From when a pulse was due to its turn.
    std::int64_t delay_p99_us = 0;
    std::int64_t delay_max_us = 0;
    std::int64_t acting_bots = 0;
    std::int64_t acting_delay_p50_us = 0;  // Of pulses that changed orders.
    std::int64_t acting_delay_p99_us = 0;
    std::int64_t acting_delay_max_us = 0;
    Spreads spreads = {};   // Of the stretches as long as a period that they were watched.
    double core_share = 0;  // Of the one core.
    std::int64_t resident_empty = 0;  // The server without tenants.
    std::int64_t resident_full = 0;
    double made_in_seconds = 0;

    double bytes_per_bot() const;
};

// What bots without anything to do leave behind in one server.
struct BotGrowthRow {
    bool is_folding = false;
    std::int64_t bots = 0;
    double seconds = 0;
    std::int64_t running_bytes = 0;  // While they were watched.
    std::int64_t closing_bytes = 0;  // When the server stopped: open folds and checkpoints.

    double bytes_per_day() const;
};

// How long one kind of call of tenant A takes, alone and under one kind of flood; medians.
struct IsolationRow {
    std::string flood;
    std::string call;
    std::int64_t calls = 0;  // In each of the two.
    std::int64_t alone_p50_us = 0;
    std::int64_t alone_p99_us = 0;
    std::int64_t flooded_p50_us = 0;
    std::int64_t flooded_p99_us = 0;
    double flood_per_s = 0;    // Answers that the flood got.
    double flood_refused = 0;  // Share of them.
    Spreads spreads = {};

    double p99_ratio() const;
};

struct BotsBenchReport {
    std::vector<BotReadRow> reads;
    std::optional<BotPulseReport> pulses;
    std::vector<BotGrowthRow> growth;
    std::vector<IsolationRow> isolation;
};

Result<BotsBenchReport> run_bots_bench(const BotsBenchOptions& options);

// The parts; `folder` exists and is fresh.
Result<std::vector<BotReadRow>> run_bot_reads(
    const BotsBenchOptions& options, const std::string& folder);
Result<BotPulseReport> run_bot_pulses(const BotsBenchOptions& options, const std::string& folder);
Result<std::vector<BotGrowthRow>> run_bot_growth(
    const BotsBenchOptions& options, const std::string& folder);
Result<std::vector<IsolationRow>> run_isolation(
    const BotsBenchOptions& options, const std::string& folder);

Json encode(const BotsBenchReport& report);
std::string to_text(const BotsBenchReport& report);

}  // namespace interlock
