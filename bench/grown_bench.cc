#include "bench/grown_bench.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "base/errors.h"
#include "bench/http_turns.h"
#include "bench/ordered_ids.h"
#include "bench/rounded.h"
#include "bench/scratch_folder.h"
#include "bench/start_trading.h"
#include "bench/turn_load.h"
#include "engine/sqlite/raw_turn_writer.h"

namespace interlock {
namespace {

constexpr std::size_t kGrowingCallers = 256;
constexpr std::int64_t kGrowingHttpCallers = 64;
constexpr std::chrono::minutes kGrowingPatience{60};
constexpr std::chrono::seconds kTradingPatience{60};
// A decision brings its inputs along: about ten times the bytes of a probe.
constexpr std::int64_t kRecordedDecisionsMax = 15'000;

struct Rounds {
    std::vector<double> turns_per_s;
    std::vector<double> raw_per_s;
    std::vector<double> mean_batch;
    std::vector<std::int64_t> p50_us;
    std::vector<std::int64_t> p99_us;
    std::vector<std::int64_t> commit_p50_us;
    std::vector<std::int64_t> commit_p99_us;
    std::int64_t max_us = 0;
    std::int64_t commit_max_us = 0;
    std::int64_t turns = 0;
    WalCounters wal;

    void add(const LatencySummary& latency) {
        p50_us.push_back(latency.p50_us);
        p99_us.push_back(latency.p99_us);
        max_us = std::max(max_us, latency.max_us);
    }

    void add(const WalCounters& more) {
        const auto add_all = [](Duration& to, Duration by) { to.microseconds += by.microseconds; };
        const auto keep_longest = [](Duration& to, Duration by) {
            to.microseconds = std::max(to.microseconds, by.microseconds);
        };
        wal.passive_checkpoints += more.passive_checkpoints;
        wal.restarts += more.restarts;
        wal.restarts_refused += more.restarts_refused;
        wal.restart_pages += more.restart_pages;
        add_all(wal.restart_wait, more.restart_wait);
        add_all(wal.restart_work, more.restart_work);
        add_all(wal.passive_work, more.passive_work);
        keep_longest(wal.restart_wait_max, more.restart_wait_max);
        keep_longest(wal.restart_work_max, more.restart_work_max);
        keep_longest(wal.passive_work_max, more.passive_work_max);
    }

    void fill(GrownRow& row) const {
        Spreads& spreads = row.spreads;
        row.rounds = std::ssize(turns_per_s);
        row.turns = turns;
        row.turns_per_s = spreads.note("turns_per_s", turns_per_s, 1);
        row.raw_turns_per_s = spreads.note("raw_turns_per_s", raw_per_s, 1);
        row.ratio = spreads.note("ratio", ratios_of(turns_per_s, raw_per_s), 3);
        row.mean_batch = spreads.note("mean_batch", mean_batch, 2);
        row.p50_us = spreads.note("p50_us", p50_us);
        row.p99_us = spreads.note("p99_us", p99_us);
        row.max_us = max_us;
        row.commit_p50_us = spreads.note("commit_p50_us", commit_p50_us);
        row.commit_p99_us = spreads.note("commit_p99_us", commit_p99_us);
        row.commit_max_us = commit_max_us;
        row.wal = wal;
    }
};

// Copies, and waits until the disk has them: what is measured next shall not wait for it.
Result<void> copy_whole(const std::string& from, const std::string& to) {
    std::error_code error;
    std::filesystem::copy(from, to, std::filesystem::copy_options::recursive, error);
    const int disk = ::open(std::filesystem::path(to).parent_path().c_str(), O_RDONLY | O_CLOEXEC);
    if (disk >= 0) {
        ::syncfs(disk);
        ::close(disk);
    }
    if (error) {
        return fail(errors::io_failed, "Cannot copy " + from + ": " + error.message() + ".");
    }
    return {};
}

class GrownBench {
public:
    GrownBench(const GrownBenchOptions& options, const ScratchFolder& folder)
        : options_(options), folder_(folder) {}

    Result<void> grow() {
        TRY(grow_plane());
        TRY(copy_whole(folder_.file("plane"), folder_.file("recorded")));
        TRY(copy_whole(folder_.file("plane/ledger.db"), folder_.file("raw.db")));
        return {};
    }

    Result<void> grow_http() {
        TRY_ASSIGN(const std::string folder, folder_.make_folder("server"));
        HttpTurnsOptions growing = http_options(kGrowingHttpCallers);
        growing.turns = static_cast<std::uint64_t>(options_.grown);
        growing.duration_max = kGrowingPatience;
        TRY_ASSIGN(const HttpTurnsReport report, run_http_turns(growing));
        access_key_ = report.access_key;
        return {};
    }

    Result<GrownRow> run(bool is_http, std::int64_t callers) {
        Rounds rounds;
        for (int round = 0; round < options_.rounds; ++round) {
            TRY(is_http ? run_server(callers, rounds) : run_plane(callers, rounds));
            TRY(run_raw(callers, rounds));
        }
        GrownRow row;
        row.transport = is_http ? "http" : "inprocess";
        row.keys = options_.ordered_keys && !is_http ? "ordered" : "random";
        row.callers = callers;
        row.grown = options_.grown;
        rounds.fill(row);
        row.database_bytes = size_of(is_http ? "server/data/interlock.db" : "plane/ledger.db");
        return row;
    }

private:
    bool trades() const { return options_.kind == TurnKind::decision; }
    std::chrono::milliseconds duration() const {
        return std::chrono::milliseconds(static_cast<std::int64_t>(options_.seconds * 1000));
    }
    std::int64_t size_of(const std::string& name) const {
        std::error_code error;
        const auto size = std::filesystem::file_size(folder_.file(name), error);
        return error ? 0 : static_cast<std::int64_t>(size);
    }

    // After a start an account waits until it was compared with its venue, and there is none here;
    // so each load trades for a tenant of its own.
    std::string next_tenant() {
        return trades() ? fmt::format("bench{}", ++tenants_) : std::string(kBenchTenant);
    }

    TurnLoadOptions load_options(std::size_t callers) {
        TurnLoadOptions load;
        load.callers = callers;
        load.kind = options_.kind;
        load.tenant_id = next_tenant();
        load.keys = options_.ordered_keys ? &ordered_ids_ : nullptr;
        load.duration = duration();
        return load;
    }

    BenchPlane::Options plane_options(const std::string& name) const {
        return {
            .folder = folder_.file(name),
            .trade = trades(),
            .wal_restart_bytes = options_.wal_restart_bytes};
    }

    Result<void> grow_plane() {
        TRY_ASSIGN(const auto bench, BenchPlane::open(plane_options("plane")));
        TurnLoadOptions load = load_options(kGrowingCallers);
        load.turns_max = options_.grown;
        load.duration = kGrowingPatience;
        const TurnLoadReport report = run_turn_load(*bench, load);
        if (report.turns != options_.grown) {
            return fail(errors::unavailable, "The data could not be grown.");
        }
        return {};
    }

    static Result<void> require_all(const TurnLoadReport& report) {
        if (report.refused > 0 || report.turns == 0) {
            return fail(
                errors::unavailable, std::to_string(report.refused) + " turns were refused.");
        }
        return {};
    }

    Result<void> run_plane(std::int64_t callers, Rounds& rounds) {
        TRY_ASSIGN(const auto bench, BenchPlane::open(plane_options("plane")));
        const EngineCounts before = bench->counts();
        const TurnLoadReport report =
            run_turn_load(*bench, load_options(static_cast<std::size_t>(callers)));
        TRY(require_all(report));
        const EngineCounts& counts = bench->counts();
        rounds.turns += report.turns;
        rounds.turns_per_s.push_back(
            static_cast<double>(report.turns) * 1e6 /
            static_cast<double>(std::max<std::int64_t>(1, report.elapsed.microseconds)));
        rounds.mean_batch.push_back(
            static_cast<double>(counts.turns - before.turns) /
            static_cast<double>(std::max<std::int64_t>(1, counts.commits - before.commits)));
        rounds.add(report.latency);
        const LatencySummary commits = summarize(counts.commits_us);
        rounds.commit_p50_us.push_back(commits.p50_us);
        rounds.commit_p99_us.push_back(commits.p99_us);
        rounds.commit_max_us = std::max(rounds.commit_max_us, commits.max_us);
        rounds.add(bench->wal());
        return {};
    }

    HttpTurnsOptions http_options(std::int64_t callers) const {
        HttpTurnsOptions http;
        http.program = options_.program;
        http.folder = folder_.file("server");
        http.callers = callers;
        http.kind = options_.kind;
        http.access_key = access_key_;
        return http;
    }

    Result<void> run_server(std::int64_t callers, Rounds& rounds) {
        HttpTurnsOptions http = http_options(callers);
        http.turns = kLoadRequestsMax;
        http.duration_max = duration();
        if (trades()) {
            http.beforehand = [](ServerProcess& server, const std::string& access_key) {
                return await_trading(
                    server, {std::string(kBenchTenant), access_key}, kTradingPatience);
            };
        }
        TRY_ASSIGN(const HttpTurnsReport report, run_http_turns(http));
        rounds.turns += static_cast<std::int64_t>(report.load.latencies_us.size());
        rounds.turns_per_s.push_back(report.load.requests_per_second());
        rounds.mean_batch.push_back(report.mean_batch);
        rounds.add(LatencySummary{
            .p50_us = report.load.percentile_us(0.50),
            .p99_us = report.load.percentile_us(0.99),
            .max_us = report.load.percentile_us(1.0)});
        return {};
    }

    Result<void> run_raw(std::int64_t callers, Rounds& rounds) {
        std::vector<TurnCommit> recorded;
        {
            BenchPlane::Options plane = plane_options("recorded");
            plane.record = true;
            TRY_ASSIGN(const auto bench, BenchPlane::open(plane));
            TurnLoadOptions load = load_options(static_cast<std::size_t>(callers));
            load.turns_max =
                trades() ? kRecordedDecisionsMax : static_cast<std::int64_t>(kRecordedTurnsMax) / 2;
            TRY(require_all(run_turn_load(*bench, load)));
            recorded = bench->take_recorded();
        }
        const double batch = std::max(1.0, rounds.mean_batch.back());
        TRY_ASSIGN(
            const RawWriteReport report,
            write_turns_raw(
                {.path = folder_.file("raw.db"),
                 .turns_per_batch = static_cast<std::size_t>(std::lround(batch))},
                recorded,
                clock_));
        rounds.raw_per_s.push_back(
            static_cast<double>(recorded.size()) * 1e6 /
            static_cast<double>(std::max<std::int64_t>(1, report.elapsed.microseconds)));
        return {};
    }

    const GrownBenchOptions& options_;
    const ScratchFolder& folder_;
    SystemClock clock_;
    OrderedIds ordered_ids_{clock_};
    std::string access_key_;
    std::int64_t tenants_ = 0;
};

Json encode(const WalCounters& wal) {
    return Json::object({
        {"passive_checkpoints", wal.passive_checkpoints},
        {"passive_us", wal.passive_work.microseconds},
        {"passive_max_us", wal.passive_work_max.microseconds},
        {"restarts", wal.restarts},
        {"restarts_refused", wal.restarts_refused},
        {"restart_wait_us", wal.restart_wait.microseconds},
        {"restart_wait_max_us", wal.restart_wait_max.microseconds},
        {"restart_us", wal.restart_work.microseconds},
        {"restart_max_us", wal.restart_work_max.microseconds},
        {"restart_pages", wal.restart_pages},
    });
}

}  // namespace

Result<void> run_grown_bench(
    const GrownBenchOptions& options, const std::function<void(const GrownRow&)>& on_row) {
    TRY_ASSIGN(const ScratchFolder folder, ScratchFolder::create(options.folder));
    GrownBench bench(options, folder);
    TRY(bench.grow());
    for (const bool is_http : {false, true}) {
        if (is_http ? !options.http : !options.inprocess) {
            continue;
        }
        if (is_http) {
            TRY(bench.grow_http());
        }
        for (const std::int64_t callers : options.callers) {
            TRY_ASSIGN(const GrownRow row, bench.run(is_http, callers));
            on_row(row);
        }
    }
    return {};
}

Json encode(const GrownRow& row) {
    Json json = Json::object({
        {"transport", row.transport},
        {"keys", row.keys},
        {"callers", row.callers},
        {"grown", row.grown},
        {"turns_per_s", rounded(row.turns_per_s, 1)},
        {"raw_turns_per_s", rounded(row.raw_turns_per_s, 1)},
        {"ratio", rounded(row.ratio, 3)},
        {"p50_us", row.p50_us},
        {"p99_us", row.p99_us},
        {"max_us", row.max_us},
        {"mean_batch", rounded(row.mean_batch, 2)},
        {"turns", row.turns},
        {"rounds", row.rounds},
        {"database_bytes", row.database_bytes},
    });
    if (row.transport == "inprocess") {
        json.set("commit_p50_us", row.commit_p50_us);
        json.set("commit_p99_us", row.commit_p99_us);
        json.set("commit_max_us", row.commit_max_us);
        json.set("wal", encode(row.wal));
    }
    row.spreads.write(json);
    return json;
}

std::string to_table(const std::vector<GrownRow>& rows) {
    std::string text = fmt::format(
        "{:<10}{:>8}{:>8}{:>9}{:>9}{:>9}{:>7}{:>8}{:>8}{:>8}{:>12}{:>9}{:>18}{:>18}\n",
        "transport",
        "keys",
        "callers",
        "grown",
        "turns/s",
        "raw/s",
        "ratio",
        "p50 us",
        "p99 us",
        "max us",
        "commit p99",
        "restarts",
        "waited max/all",
        "restart max/all");
    for (const GrownRow& row : rows) {
        const auto both = [](Duration longest, Duration all) {
            return fmt::format("{}/{}", longest.microseconds, all.microseconds);
        };
        text += fmt::format(
            "{:<10}{:>8}{:>8}{:>9}{:>9.0f}{:>9.0f}{:>6.0f}%{:>8}{:>8}{:>8}{:>12}{:>9}{:>18}{:>18}"
            "\n",
            row.transport,
            row.keys,
            row.callers,
            row.grown,
            row.turns_per_s,
            row.raw_turns_per_s,
            row.ratio * 100,
            row.p50_us,
            row.p99_us,
            row.max_us,
            row.commit_p99_us,
            row.wal.restarts,
            both(row.wal.restart_wait_max, row.wal.restart_wait),
            both(row.wal.restart_work_max, row.wal.restart_work));
    }
    return text;
}

}  // namespace interlock
