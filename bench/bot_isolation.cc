// Two tenants of one server with the limits that a server has by default. Tenant A does three
// things in turn at a steady pace: a read, a lifecycle call and a durable turn. Stretches in which
// it is alone alternate with stretches in which tenant B, or somebody without a valid key, sends as
// fast as 64 connections can.
#include <algorithm>
#include <array>

#include "base/errors.h"
#include "bench/bench_requests.h"
#include "bench/bot_tenants.h"
#include "bench/bots_bench.h"
#include "bench/latency.h"
#include "bench/wrk_load.h"
#include "engine/system/random_id_source.h"

namespace interlock {
namespace {

// At most 333 a second: within A's own limit of 500.
constexpr std::chrono::milliseconds kPace{3};
constexpr std::chrono::milliseconds kFloodBegins{200};
constexpr std::string_view kBadKey = "ilk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

constexpr std::array<std::string_view, 3> kCalls{
    "GET status", "POST initialize_bot", "POST probes (durable)"};

// What A waited, by kind of call.
using Waits = std::array<std::vector<std::int64_t>, kCalls.size()>;

class Caller {
public:
    Caller(const ServerProcess& server, const BotTenant& bot)
        : client_(HttpClient::create(server.target())), bot_(bot) {}

    Result<void> send_for(std::chrono::milliseconds span, Waits& waits) {
        const auto end = std::chrono::steady_clock::now() + span;
        for (std::size_t i = 0; std::chrono::steady_clock::now() < end; ++i) {
            const std::size_t kind = i % kCalls.size();
            const HttpRequest request = request_of(kind);
            const auto begin = std::chrono::steady_clock::now();
            TRY_ASSIGN(const HttpResponse response, client_->send(request));
            const auto took = std::chrono::steady_clock::now() - begin;
            if (response.status / 100 != 2) {
                return fail(
                    errors::unavailable,
                    std::string(kCalls[kind]) + " was answered " + std::to_string(response.status) +
                        ": " + response.body);
            }
            waits[kind].push_back(
                std::chrono::duration_cast<std::chrono::microseconds>(took).count());
            let_pass(kPace);
        }
        return {};
    }

private:
    HttpRequest request_of(std::size_t kind) {
        HttpRequest request;
        request.headers.emplace_back("X-Access-Key", bot_.access_key);
        const std::string base = "/api/" + bot_.tenant_id;
        if (kind == 0) {
            request.method = "GET";
            request.target = base + "/status";
            return request;
        }
        request.method = "POST";
        request.headers.emplace_back("Content-Type", "application/json");
        request.target = base + (kind == 1 ? "/initialize_bot" : "/probes");
        request.body = kind == 1 ? "{}" : probes_.next();
        return request;
    }

    std::unique_ptr<HttpClient> client_;
    BotTenant bot_;
    RandomIdSource ids_;
    BenchRequests probes_{TurnKind::probe, ids_};
};

struct Flood {
    std::string name;
    WrkLoad load;
    // By round.
    std::vector<Waits> alone = {};
    std::vector<Waits> flooded = {};
    std::vector<double> per_s = {};
    std::vector<double> refused = {};
};

// `reader`: a key of the same tenant that may read its ledger, which a key of a signup may not.
std::vector<Flood> floods_of(
    const ServerProcess& server, const BotTenant& bot, const std::string& reader, int seconds) {
    WrkLoad load;
    load.port = server.port();
    load.seconds = seconds + 1;
    load.path = "/api/" + bot.tenant_id + "/status";
    load.access_key = bot.access_key;
    WrkLoad bad_key = load;
    bad_key.access_key = kBadKey;
    WrkLoad turns = load;
    turns.path = "/api/" + bot.tenant_id + "/probes";
    turns.body = R"({"decision_id":"dec_{n}","tick_id":"tick_1","idempotency_key":"idem_{n}"})";
    WrkLoad ledger = load;
    ledger.path = "/api/" + bot.tenant_id + "/audit?limit=1000";
    ledger.access_key = reader;
    return {
        {.name = "reads with its key", .load = load},
        {.name = "a key that is not valid", .load = bad_key},
        {.name = "durable turns with its key", .load = turns},
        {.name = "ledger reads with its key", .load = ledger}};  // Last: of what the others left.
}

// The flood begins before the stretch that is measured and ends after it.
Result<void> flood_once(
    Flood& flood, Caller& caller, std::chrono::milliseconds span, const std::string& folder) {
    TRY(caller.send_for(span, flood.alone.emplace_back()));
    TRY_ASSIGN(WrkRun run, WrkRun::start(flood.load, folder));
    let_pass(kFloodBegins);
    TRY(caller.send_for(span, flood.flooded.emplace_back()));
    TRY_ASSIGN(const WrkReport report, run.finish());
    flood.per_s.push_back(report.per_second);
    flood.refused.push_back(
        static_cast<double>(report.refused) /
        static_cast<double>(std::max<std::int64_t>(1, report.answers)));
    return {};
}

// What each round gave for one kind of call.
struct Waited {
    std::int64_t calls = 0;
    std::vector<std::int64_t> p50s;
    std::vector<std::int64_t> p99s;
};

Waited waited(const std::vector<Waits>& rounds, std::size_t call) {
    Waited waited;
    for (const Waits& round : rounds) {
        const LatencySummary summary = summarize(round[call]);
        waited.calls += std::ssize(round[call]);
        waited.p50s.push_back(summary.p50_us);
        waited.p99s.push_back(summary.p99_us);
    }
    return waited;
}

IsolationRow row_of(const Flood& flood, std::size_t call) {
    const Waited alone = waited(flood.alone, call);
    const Waited flooded = waited(flood.flooded, call);
    IsolationRow row;
    row.flood = flood.name;
    row.call = kCalls[call];
    row.calls = std::min(alone.calls, flooded.calls);
    row.alone_p50_us = row.spreads.note("alone_p50_us", alone.p50s);
    row.alone_p99_us = row.spreads.note("alone_p99_us", alone.p99s);
    row.flooded_p50_us = row.spreads.note("flooded_p50_us", flooded.p50s);
    row.flooded_p99_us = row.spreads.note("flooded_p99_us", flooded.p99s);
    const auto as_numbers = [](const std::vector<std::int64_t>& values) {
        return std::vector<double>(values.begin(), values.end());
    };
    row.spreads.note("p99_ratio", ratios_of(as_numbers(flooded.p99s), as_numbers(alone.p99s)), 2);
    row.flood_per_s = row.spreads.note("flood_per_s", flood.per_s);
    row.flood_refused = row.spreads.note("flood_refused", flood.refused, 3);
    return row;
}

}  // namespace

double IsolationRow::p99_ratio() const {
    if (const Spread rounds = spreads.of("p99_ratio"); rounds.runs > 0) {
        return rounds.median;
    }
    return static_cast<double>(flooded_p99_us) /
           static_cast<double>(std::max<std::int64_t>(1, alone_p99_us));
}

Result<std::vector<IsolationRow>> run_isolation(
    const BotsBenchOptions& options, const std::string& folder) {
    TRY_ASSIGN(
        ServerProcess server,
        ServerProcess::start(
            {.program = options.program, .folder = folder, .sink = {}, .config = {}}));
    TRY_ASSIGN(const std::vector<BotTenant> bots, create_bots(server, 2));
    Caller caller(server, bots[0]);
    TRY_ASSIGN(const std::string reader, server.create_access_key(bots[1].tenant_id));
    std::vector<Flood> floods = floods_of(server, bots[1], reader, options.seconds);
    const std::chrono::milliseconds span = std::chrono::seconds(options.seconds);
    for (int round = 0; round < options.rounds; ++round) {
        for (Flood& flood : floods) {
            TRY(flood_once(flood, caller, span, folder));
        }
    }
    server.stop();
    std::vector<IsolationRow> rows;
    for (const Flood& flood : floods) {
        for (std::size_t call = 0; call < kCalls.size(); ++call) {
            rows.push_back(row_of(flood, call));
        }
    }
    return rows;
}

}  // namespace interlock
