#include "bench/execute_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <vector>

#include "base/canonical_json.h"
#include "base/check.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "bench/server_process.h"
#include "bench/turn_load.h"
#include "engine/system/random_id_source.h"
#include "net/load_client.h"

namespace interlock {
namespace {

using SteadyClock = std::chrono::steady_clock;

std::int64_t us_between(SteadyClock::time_point from, SteadyClock::time_point to) {
    return std::chrono::duration_cast<std::chrono::microseconds>(to - from).count();
}

std::string tenant_of(std::int64_t caller) {
    return fmt::format("bench{}", caller);
}

// One planner with its clock: when it sent its call, and when its path began.
class TimedCaller {
public:
    explicit TimedCaller(IdSource& ids) : caller_(ids) {}

    TradingCaller& caller() { return caller_; }

    std::string send() {
        std::string body = caller_.next();
        sent_at_ = SteadyClock::now();
        if (caller_.step() == TradeStep::validate) {
            path_began_ = sent_at_;
        }
        return body;
    }
    // An answer that came at `now`.
    Result<void> take(std::string_view answer, SteadyClock::time_point now, ExecuteTimes& times) {
        const TradeStep step = caller_.step();
        TRY(caller_.take(answer));
        times.steps_us[static_cast<std::size_t>(step)].push_back(us_between(sent_at_, now));
        if (step == TradeStep::verify) {
            times.paths_us.push_back(us_between(path_began_, now));
        }
        return {};
    }

private:
    TradingCaller caller_;
    SteadyClock::time_point sent_at_;
    SteadyClock::time_point path_began_;
};

// On a plane. An answer is left by the engine's thread and taken by the driver's when it sends the
// caller's next call, which it does at once.
class ExecuteSource final : public TurnSource {
public:
    ExecuteSource(BenchPlane& bench, std::int64_t callers) : bench_(bench) {
        for (std::int64_t i = 0; i < callers; ++i) {
            Place& place = places_.emplace_back();
            place.caller.emplace(bench.ids());
            place.agent.tenant_id = TenantId::trusted(tenant_of(i));
            place.agent.principal.kind = PrincipalKind::agent;
            place.agent.principal.id = "key_bench";
            place.agent.principal.tenants = {place.agent.tenant_id};
            place.agent.principal.scopes = {Scope::planner};
        }
    }

    void send(std::size_t caller, std::function<void(const Result<Answer>&)> reply) override {
        Place& place = places_[caller];
        if (!place.answer.empty()) {
            take(place);
        }
        submit(place, [&place, reply = std::move(reply)](const Result<Answer>& answer) {
            place.answer = answer ? answer->body : answer.error().message;
            place.answered_at = SteadyClock::now();
            reply(answer);
        });
    }
    // The step knows; what it did not want is told by problem().
    bool is_as_meant(std::string_view answer) const override { return !answer.empty(); }

    const std::optional<Error>& problem() const { return problem_; }
    ExecuteTimes take_times() { return std::move(times_); }

private:
    struct Place {
        std::optional<TimedCaller> caller;
        LoopService::Caller agent;
        std::string answer;
        SteadyClock::time_point answered_at;
    };

    // After an answer that the path did not want the caller begins anew, because the load goes on
    // until its end; the run has failed then.
    void take(Place& place) {
        auto taken = place.caller->take(place.answer, place.answered_at, times_);
        if (!taken) {
            place.caller.emplace(bench_.ids());
            problem_ = problem_ ? problem_ : std::optional(std::move(taken).error());
        }
    }

    // From the text of the call on, as it comes in over HTTP.
    void submit(Place& place, LoopService::Reply reply) {
        const TradeStep step = place.caller->caller().step();
        const auto body = parse_json(place.caller->send());
        CHECK(body.has_value());
        const auto canonical = canonical_json(*body);
        CHECK(canonical.has_value());
        LoopService::Caller agent = place.agent;
        agent.request_hash = sha256_hex(*canonical);
        LoopService& loop = *bench_.plane().loop;
        const auto turn = [&](auto decoded, auto make) {
            CHECK(decoded.has_value());
            loop.submit((loop.*make)(std::move(agent), *std::move(decoded), std::move(reply)));
        };
        switch (step) {
            case TradeStep::look:
                return turn(decode_market_snapshot_request(*body), &LoopService::snapshot_turn);
            case TradeStep::validate:
                return turn(decode_validate_plan_request(*body), &LoopService::validate_turn);
            case TradeStep::dry_run:
                return turn(decode_dry_run_plan_request(*body), &LoopService::dry_run_turn);
            case TradeStep::execute:
                return turn(decode_execute_plan_request(*body), &LoopService::execute_turn);
            case TradeStep::verify:
                return turn(decode_verify_execution_request(*body), &LoopService::verify_turn);
        }
    }

    BenchPlane& bench_;
    std::vector<Place> places_;
    ExecuteTimes times_;
    std::optional<Error> problem_;
};

}  // namespace

double ExecuteTimes::per_second() const {
    return static_cast<double>(paths_us.size()) / std::max(seconds, 1e-6);
}

Result<ExecuteTimes> load_plane(BenchPlane& bench, const ExecuteLoad& load) {
    ExecuteSource source(bench, load.callers);
    const TurnLoadReport report = run_turn_load(
        bench,
        {.callers = static_cast<std::size_t>(load.callers),
         .source = &source,
         .turns_max = load.callers * kTradePathsMax * static_cast<std::int64_t>(kTradeSteps - 1),
         .duration = load.duration});
    if (source.problem()) {
        return std::unexpected(*source.problem());
    }
    ExecuteTimes times = source.take_times();
    times.seconds = static_cast<double>(report.elapsed.microseconds) / 1e6;
    const EngineCounts& counts = bench.counts();
    times.mean_batch = static_cast<double>(counts.turns) /
                       static_cast<double>(std::max<std::int64_t>(1, counts.commits));
    if (report.refused > 0 || times.paths_us.empty()) {
        return fail(
            errors::unavailable,
            fmt::format("{} calls were refused, {} paths done.", report.refused, report.turns));
    }
    return times;
}

namespace {

constexpr std::string_view kServerConfig =
    "[http]\nrequests_per_second = 0\ntenant_requests_per_second = 0\n"
    "[limits]\nrepeated_execution_max = {}\n";

struct HttpPlace {
    TimedCaller caller;
    std::string tenant_id;
    std::string access_key;
    bool has_problem = false;
};

Result<ExecuteTimes> send_paths(
    std::uint16_t port, const ExecuteLoad& load, std::vector<HttpPlace>& places) {
    ExecuteTimes times;
    std::optional<Error> problem;
    LoadConfig config;
    config.target.port = port;
    config.connections = places.size();
    config.duration = load.duration;
    config.requests_max = places.size() * kTradePathsMax * (kTradeSteps - 1);
    config.request = [&](std::size_t connection, std::uint64_t) {
        HttpPlace& place = places[connection];
        const std::string_view tool = tool_of(place.caller.caller().step());
        const std::string body = place.caller.send();
        return fmt::format(
            "POST /api/{}/tools/{} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nX-Access-Key: {}\r\n"
            "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
            place.tenant_id,
            tool,
            port,
            place.access_key,
            body.size(),
            body);
    };
    config.on_response = [&](const LoadResponse& response) {
        HttpPlace& place = places[response.connection];
        if (place.has_problem) {
            return;
        }
        auto taken = place.caller.take(response.body, SteadyClock::now(), times);
        place.has_problem = !taken;
        if (!taken && !problem) {
            problem = std::move(taken).error();
        }
    };
    TRY_ASSIGN(const LoadReport report, run_load(config));
    if (problem) {
        return std::unexpected(*std::move(problem));
    }
    if (report.lost > 0 || times.paths_us.empty()) {
        return fail(errors::unavailable, "Requests were lost, or no path was done.");
    }
    times.seconds = static_cast<double>(report.elapsed.count()) / 1e6;
    return times;
}

}  // namespace

Result<ExecuteTimes> load_server(
    const std::string& program, const std::string& folder, const ExecuteLoad& load) {
    TRY_ASSIGN(
        ServerProcess server,
        ServerProcess::start(
            {.program = program,
             .folder = folder,
             .sink = {},
             .config = fmt::format(kServerConfig, kTradeExecutionsMax)}));
    RandomIdSource ids;
    std::vector<HttpPlace> places;
    for (std::int64_t i = 0; i < load.callers; ++i) {
        HttpPlace& place = places.emplace_back(HttpPlace{TimedCaller(ids), tenant_of(i), {}});
        TRY(server.create_tenant(place.tenant_id));
        TRY_ASSIGN(place.access_key, server.create_access_key(place.tenant_id));
    }
    const auto batches = [&server]() -> Result<std::array<double, 2>> {
        TRY_ASSIGN(const double turns, server.read_metric("interlock_commit_batch_turns_sum"));
        TRY_ASSIGN(const double commits, server.read_metric("interlock_commit_batch_turns_count"));
        return std::array{turns, commits};
    };
    TRY_ASSIGN(const auto before, batches());
    TRY_ASSIGN(ExecuteTimes times, send_paths(server.port(), load, places));
    TRY_ASSIGN(const auto after, batches());
    times.mean_batch = (after[0] - before[0]) / std::max(1.0, after[1] - before[1]);
    if (const int code = server.stop(); code != 0) {
        return fail(
            errors::unavailable, "The server ended with exit code " + std::to_string(code) + ".");
    }
    return times;
}

}  // namespace interlock
