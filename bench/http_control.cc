#include "bench/http_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/errors.h"
#include "bench/bench_requests.h"
#include "bench/control_requests.h"
#include "bench/server_process.h"
#include "engine/system/random_id_source.h"

namespace interlock {
namespace {

// Markets of the paper venue that never halt; as many callers share a tenant.
constexpr std::array<std::string_view, 6> kMarkets{
    "BTCUSDT", "ETHUSDT", "BNBUSDT", "SOLUSDT", "XRPUSDT", "LINKUSDT"};

// One connection: whom it speaks for, and what it says next.
struct HttpCaller {
    std::string head;
    SupervisedConcern concern;
};

Result<std::string> create_idle_strategy(
    HttpClient& client, const std::string& token, const SupervisedConcern& concern, IdSource& ids) {
    TRY_ASSIGN(
        const Json made,
        call_json(
            client,
            {.path = "/api/" + concern.tenant_id.text() + "/instances",
             .body = Json::object(
                 {{"idempotency_key", ids.new_id("idem")},
                  {"strategy_type", "idle"},
                  {"market_symbol", concern.symbol}}),
             .credential = token}));
    return text_in(made, "id");
}

Result<std::vector<HttpCaller>> make_callers(
    ServerProcess& server, const HttpControlOptions& options, IdSource& ids) {
    const auto client = HttpClient::create(server.target());
    std::vector<HttpCaller> callers;
    std::string access_key;
    std::string token;
    for (std::int64_t i = 0; i < options.callers; ++i) {
        const std::int64_t place = i % std::ssize(kMarkets);
        HttpCaller caller;
        const std::string tenant = fmt::format("bench{}", i / std::ssize(kMarkets));
        if (place == 0) {
            TRY(server.create_tenant(tenant));
            TRY_ASSIGN(access_key, server.create_access_key(tenant));
            if (options.is_control) {  // Strategies are made by people.
                TRY_ASSIGN(token, server.create_human(tenant, tenant + "@example.org"));
            }
        }
        caller.concern.tenant_id = TenantId::trusted(tenant);
        caller.concern.symbol = kMarkets[static_cast<std::size_t>(place)];
        if (options.is_control) {
            for (std::string& id : caller.concern.strategies) {
                TRY_ASSIGN(id, create_idle_strategy(*client, token, caller.concern, ids));
            }
        }
        caller.head = fmt::format(
            "POST /api/{}/{} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nX-Access-Key: {}\r\n"
            "Content-Type: application/json\r\nContent-Length: ",
            tenant,
            options.is_control ? "control_decisions" : "probes",
            server.port(),
            access_key);
        callers.push_back(std::move(caller));
    }
    return callers;
}

Result<LoadReport> load(
    const ServerProcess& server,
    const HttpControlOptions& options,
    std::vector<HttpCaller>& callers,
    IdSource& ids) {
    BenchRequests probes(TurnKind::probe, ids);
    std::int64_t strange = 0;
    LoadConfig config;
    config.target.port = server.port();
    config.connections = callers.size();
    config.duration = options.duration;
    config.request = [&](std::size_t connection, std::uint64_t) {
        HttpCaller& caller = callers[connection];
        const std::string body =
            options.is_control ? next_decision(caller.concern, ids) : probes.next();
        return caller.head + std::to_string(body.size()) + "\r\n\r\n" + body;
    };
    config.on_response = [&](const LoadResponse& response) {
        const bool is_meant =
            options.is_control ? is_applied(response.body) : response.status == 200;
        strange += is_meant ? 0 : 1;
    };
    TRY_ASSIGN(LoadReport report, run_load(config));
    if (strange > 0 || report.lost > 0) {
        return fail(
            errors::unavailable,
            fmt::format("{} answers were not as meant, {} were lost.", strange, report.lost));
    }
    return report;
}

}  // namespace

Result<HttpControlReport> run_http_control(const HttpControlOptions& options) {
    RandomIdSource ids;
    TRY_ASSIGN(
        ServerProcess server,
        ServerProcess::start({.program = options.program, .folder = options.folder, .sink = {}}));
    TRY_ASSIGN(std::vector<HttpCaller> callers, make_callers(server, options, ids));
    const auto batches = [&server]() -> Result<std::array<double, 2>> {
        TRY_ASSIGN(const double turns, server.read_metric("interlock_commit_batch_turns_sum"));
        TRY_ASSIGN(const double commits, server.read_metric("interlock_commit_batch_turns_count"));
        return std::array{turns, commits};
    };
    TRY_ASSIGN(const auto before, batches());
    HttpControlReport report;
    TRY_ASSIGN(report.load, load(server, options, callers, ids));
    TRY_ASSIGN(const auto after, batches());
    report.mean_batch = (after[0] - before[0]) / std::max(1.0, after[1] - before[1]);
    if (const int code = server.stop(); code != 0) {
        return fail(
            errors::unavailable, "The server ended with exit code " + std::to_string(code) + ".");
    }
    return report;
}

}  // namespace interlock
