#include "bench/control_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "account/rules/account.h"
#include "base/check.h"
#include "base/errors.h"
#include "bench/control_requests.h"
#include "bench/http_control.h"
#include "bench/rounded.h"
#include "bench/scratch_folder.h"
#include "bench/turn_load.h"
#include "engine/sqlite/raw_turn_writer.h"
#include "engine/system/system_clock.h"

namespace interlock {
namespace {

// The concern that one caller supervises.
struct Supervised {
    LoopService::Caller caller;
    SupervisedConcern concern;
};

class ControlSource final : public TurnSource {
public:
    // Makes the strategies; the engine has not been started.
    static Result<ControlSource> create(BenchPlane& bench, std::int64_t callers) {
        ControlSource source(bench);
        const std::vector<Symbol> symbols = bench.symbols();
        const std::int64_t markets = std::ssize(symbols);
        for (std::int64_t i = 0; i < callers; ++i) {
            Supervised one;
            one.caller.tenant_id = TenantId::trusted(fmt::format("bench{}", i / markets));
            one.caller.principal.kind = PrincipalKind::agent;
            one.caller.principal.id = "key_bench";
            one.caller.principal.tenants = {one.caller.tenant_id};
            one.caller.principal.scopes = {Scope::supervisor};
            one.concern.tenant_id = one.caller.tenant_id;
            one.concern.symbol = symbols[static_cast<std::size_t>(i % markets)].text();
            for (std::string& id : one.concern.strategies) {
                TRY_ASSIGN(id, source.make_strategy(one));
            }
            source.supervised_.push_back(std::move(one));
        }
        return source;
    }

    // From the text of the call on, as it comes in over HTTP.
    void send(std::size_t caller, std::function<void(const Result<Answer>&)> reply) override {
        Supervised& one = supervised_[caller];
        auto payload = parse_json(next_decision(one.concern, bench_.ids()));
        CHECK(payload.has_value());
        ControlService& control = *bench_.plane().decisions;
        control.submit(control.apply_turn(one.caller, *std::move(payload), std::move(reply)));
    }
    bool is_as_meant(std::string_view answer) const override { return is_applied(answer); }

private:
    explicit ControlSource(BenchPlane& bench) : bench_(bench) {}

    Result<std::string> make_strategy(const Supervised& one) {
        CreateStrategyRequest request;
        request.call.idempotency_key = IdempotencyKey::trusted(bench_.ids().new_id("idem"));
        request.strategy_type = "idle";
        request.account_id = default_account_id();
        request.market_symbol = one.concern.symbol;
        std::optional<Result<Answer>> answer;
        std::vector<TurnRequest> batch;
        batch.push_back(bench_.plane().strategies->create_turn(
            one.caller, std::move(request), [&](Result<Answer> given) {
                answer = std::move(given);
            }));
        bench_.plane().runner.run_batch(std::move(batch));
        if (!answer || !*answer) {
            return fail(
                errors::unavailable,
                "A strategy could not be made: " + (answer ? answer->error().message : "no word"));
        }
        TRY_ASSIGN(const Json made, parse_json((*answer)->body));
        const Json* id = made.find("id");
        if (id == nullptr || !id->is_string()) {
            return fail(errors::unavailable, "A strategy could not be made: " + (*answer)->body);
        }
        return id->as_string();
    }

    BenchPlane& bench_;
    std::vector<Supervised> supervised_;
};

double seconds_of(Duration span) {
    return static_cast<double>(std::max<std::int64_t>(1, span.microseconds)) / 1e6;
}

// What was seen in each round.
struct Rounds {
    std::vector<double> per_s;
    std::vector<std::int64_t> p50_us;
    std::vector<std::int64_t> p99_us;
    std::vector<double> mean_batch;
    std::vector<double> engine_share;
    std::vector<double> engine_us;
    std::vector<double> bare_per_s;

    ControlBenchSide medians() const {
        ControlBenchSide side;
        side.per_s = side.spreads.note("per_s", per_s, 1);
        side.p50_us = side.spreads.note("p50_us", p50_us);
        side.p99_us = side.spreads.note("p99_us", p99_us);
        side.mean_batch = side.spreads.note("mean_batch", mean_batch, 2);
        side.engine_cpu_share = side.spreads.note("engine_cpu_share", engine_share, 3);
        side.engine_us = side.spreads.note("engine_us", engine_us, 2);
        side.bare_per_s = side.spreads.note("bare_per_s", bare_per_s, 1);
        return side;
    }
};

struct HttpRounds {
    std::vector<double> per_s;
    std::vector<std::int64_t> p50_us;
    std::vector<std::int64_t> p99_us;
    std::vector<double> mean_batch;

    ControlHttpSide medians() const {
        ControlHttpSide side;
        side.per_s = side.spreads.note("per_s", per_s, 1);
        side.p50_us = side.spreads.note("p50_us", p50_us);
        side.p99_us = side.spreads.note("p99_us", p99_us);
        side.mean_batch = side.spreads.note("mean_batch", mean_batch, 2);
        return side;
    }
};

// One tenant, as the plain turns have it, as long as an account takes a market for each caller.
std::int64_t markets_of(const ControlBenchOptions& options) {
    return std::min(options.callers, static_cast<std::int64_t>(kUniverseMax));
}

// A plane in a folder of its own under load.
struct Loaded {
    std::unique_ptr<BenchPlane> bench;
    EngineCounts before;  // Of what was set up.
    TurnLoadReport report;
};

Result<Loaded> load(const ControlBenchOptions& options, const BenchPlane::Options& plane) {
    Loaded loaded;
    TRY_ASSIGN(loaded.bench, BenchPlane::open(plane));
    std::optional<ControlSource> source;
    if (plane.trade) {
        TRY_ASSIGN(ControlSource made, ControlSource::create(*loaded.bench, options.callers));
        source.emplace(std::move(made));
    }
    loaded.before = loaded.bench->counts();
    loaded.report = run_turn_load(
        *loaded.bench,
        {.callers = static_cast<std::size_t>(options.callers),
         .source = source ? &*source : nullptr,
         .duration = std::chrono::milliseconds(static_cast<std::int64_t>(options.seconds * 1000))});
    const TurnLoadReport& report = loaded.report;
    if (report.refused > 0 || report.turns == 0) {
        return fail(
            errors::unavailable,
            std::to_string(report.refused) + " of " +
                std::to_string(report.turns + report.refused) + " turns were not as meant.");
    }
    return loaded;
}

// What is set up is written as well; it is one turn in a hundred or fewer.
Result<void> measure_bare(
    const ControlBenchOptions& options, bool is_control, double batch, Rounds& side) {
    TRY_ASSIGN(const ScratchFolder folder, ScratchFolder::create(options.folder));
    TRY_ASSIGN(
        const Loaded loaded,
        load(
            options,
            {.folder = folder.file("data"),
             .record = true,
             .trade = is_control,
             .markets = markets_of(options)}));
    const std::vector<TurnCommit> recorded = loaded.bench->take_recorded();
    SystemClock clock;
    TRY_ASSIGN(
        const RawWriteReport report,
        write_turns_raw(
            {.path = folder.file("raw.db"),
             .turns_per_batch = static_cast<std::size_t>(std::lround(std::max(1.0, batch)))},
            recorded,
            clock));
    side.bare_per_s.push_back(static_cast<double>(recorded.size()) / seconds_of(report.elapsed));
    return {};
}

Result<void> measure(const ControlBenchOptions& options, bool is_control, Rounds& side) {
    TRY_ASSIGN(const ScratchFolder folder, ScratchFolder::create(options.folder));
    TRY_ASSIGN(
        const Loaded loaded,
        load(
            options,
            {.folder = folder.file("data"), .trade = is_control, .markets = markets_of(options)}));
    const TurnLoadReport& report = loaded.report;
    const EngineCounts& before = loaded.before;
    const EngineCounts& counts = loaded.bench->counts();
    const double commits =
        static_cast<double>(std::max<std::int64_t>(1, counts.commits - before.commits));
    const double turns = static_cast<double>(report.turns);
    // The engine thread began with the load; what was set up ran on this one.
    const double engine = seconds_of(counts.cpu);
    side.per_s.push_back(turns / seconds_of(report.elapsed));
    side.p50_us.push_back(report.latency.p50_us);
    side.p99_us.push_back(report.latency.p99_us);
    side.mean_batch.push_back(static_cast<double>(counts.turns - before.turns) / commits);
    side.engine_share.push_back(engine / seconds_of(report.elapsed));
    side.engine_us.push_back(engine * 1e6 / turns);
    return {};
}

Result<void> measure_http(const ControlBenchOptions& options, bool is_control, HttpRounds& side) {
    TRY_ASSIGN(const ScratchFolder folder, ScratchFolder::create(options.folder));
    TRY_ASSIGN(
        const HttpControlReport report,
        run_http_control(
            {.program = options.program,
             .folder = folder.path(),
             .callers = options.callers,
             .is_control = is_control,
             .duration =
                 std::chrono::milliseconds(static_cast<std::int64_t>(options.seconds * 1000))}));
    side.per_s.push_back(report.load.requests_per_second());
    side.p50_us.push_back(report.load.percentile_us(0.50));
    side.p99_us.push_back(report.load.percentile_us(0.99));
    side.mean_batch.push_back(report.mean_batch);
    return {};
}

Json encode(const ControlHttpSide& side) {
    Json json = Json::object({
        {"per_s", rounded(side.per_s, 1)},
        {"p50_us", side.p50_us},
        {"p99_us", side.p99_us},
        {"mean_batch", rounded(side.mean_batch, 2)},
    });
    side.spreads.write(json);
    return json;
}

Json encode(const ControlBenchSide& side) {
    Json json = Json::object({
        {"per_s", rounded(side.per_s, 1)},
        {"p50_us", side.p50_us},
        {"p99_us", side.p99_us},
        {"mean_batch", rounded(side.mean_batch, 2)},
        {"engine_cpu_share", rounded(side.engine_cpu_share, 3)},
        {"engine_us", rounded(side.engine_us, 2)},
        {"bare_per_s", rounded(side.bare_per_s, 1)},
    });
    side.spreads.write(json);
    return json;
}

std::string line_of(std::string_view name, const ControlHttpSide& side) {
    return fmt::format(
        "{:<18}{:>10.0f}{:>9}{:>9}{:>8.1f}\n",
        name,
        side.per_s,
        side.p50_us,
        side.p99_us,
        side.mean_batch);
}

std::string line_of(std::string_view name, const ControlBenchSide& side) {
    return fmt::format(
        "{:<18}{:>10.0f}{:>9}{:>9}{:>8.1f}{:>8.0f}%{:>14.1f}{:>12.0f}\n",
        name,
        side.per_s,
        side.p50_us,
        side.p99_us,
        side.mean_batch,
        side.engine_cpu_share * 100,
        side.engine_us,
        side.bare_per_s);
}

}  // namespace

Result<ControlBenchReport> run_control_bench(const ControlBenchOptions& options) {
    Rounds plain;
    Rounds control;
    HttpRounds http_plain;
    HttpRounds http_control;
    for (std::int64_t round = 0; round < options.rounds; ++round) {
        TRY(measure(options, false, plain));
        TRY(measure(options, true, control));
        TRY(measure_bare(options, false, plain.mean_batch.back(), plain));
        TRY(measure_bare(options, true, control.mean_batch.back(), control));
        if (options.http) {
            TRY(measure_http(options, false, http_plain));
            TRY(measure_http(options, true, http_control));
        }
    }
    ControlBenchReport report;
    report.callers = options.callers;
    report.rounds = options.rounds;
    report.plain = plain.medians();
    report.control = control.medians();
    report.ratio = report.spreads.note("ratio", ratios_of(control.per_s, plain.per_s), 3);
    report.bare_ratio =
        report.spreads.note("bare_ratio", ratios_of(control.bare_per_s, plain.bare_per_s), 3);
    if (options.http) {
        const double ratio =
            report.spreads.note("http_ratio", ratios_of(http_control.per_s, http_plain.per_s), 3);
        report.http = {http_plain.medians(), http_control.medians(), ratio};
    }
    return report;
}

Json encode(const ControlBenchReport& report) {
    Json json = Json::object({
        {"callers", report.callers},
        {"rounds", report.rounds},
        {"plain", encode(report.plain)},
        {"control", encode(report.control)},
        {"ratio", rounded(report.ratio, 3)},
        {"bare_ratio", rounded(report.bare_ratio, 3)},
    });
    if (report.http) {
        json.set("http_plain", encode(report.http->plain));
        json.set("http_control", encode(report.http->control));
        json.set("http_ratio", rounded(report.http->ratio, 3));
    }
    report.spreads.write(json);
    return json;
}

namespace {

std::string to_text(const ControlHttpReport& report) {
    return fmt::format(
               "\nThe same over HTTP, each caller with a connection, six to a tenant.\n"
               "{:<18}{:>10}{:>9}{:>9}{:>8}\n",
               "",
               "per s",
               "p50 us",
               "p99 us",
               "batch") +
           line_of("plain turns", report.plain) + line_of("control decisions", report.control) +
           fmt::format("decisions against plain turns: {:.0f} %\n", report.ratio * 100);
}

}  // namespace

std::string to_text(const ControlBenchReport& report) {
    return fmt::format(
               "{} closed-loop callers in process, each with a concern of its own; medians of {} "
               "rounds\nthat alternate between plain durable turns and control decisions.\n"
               "{:<18}{:>10}{:>9}{:>9}{:>8}{:>9}{:>14}{:>12}\n",
               report.callers,
               report.rounds,
               "",
               "per s",
               "p50 us",
               "p99 us",
               "batch",
               "engine",
               "us of engine",
               "bare per s") +
           line_of("plain turns", report.plain) + line_of("control decisions", report.control) +
           fmt::format(
               "decisions against plain turns: {:.0f} %; their rows by bare statements: {:.0f} %\n",
               report.ratio * 100,
               report.bare_ratio * 100) +
           (report.http ? to_text(*report.http) : "");
}

}  // namespace interlock
