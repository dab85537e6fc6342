#include "bench/turns_bench.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "base/errors.h"
#include "bench/disk_sync.h"
#include "bench/http_turns.h"
#include "bench/scratch_folder.h"
#include "bench/turn_load.h"
#include "engine/sqlite/raw_turn_writer.h"

namespace interlock {
namespace {

// A decision brings its inputs along: about ten times the bytes of a probe.
constexpr std::int64_t kRecordedDecisionsMax = 15'000;
constexpr std::int64_t kWalFrameBytes = 4096 + 24;  // A page and its header.

double seconds_of(Duration span) {
    return static_cast<double>(std::max<std::int64_t>(1, span.microseconds)) / 1e6;
}

Duration cpu_of_this_process() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto of = [](const timeval& time) { return time.tv_sec * 1'000'000 + time.tv_usec; };
    return {of(used.ru_utime) + of(used.ru_stime)};
}

double cores() {
    return std::max(1u, std::thread::hardware_concurrency());
}

// What was seen in each round; the row gets the medians.
struct Rounds {
    std::vector<double> turns_per_s;
    std::vector<double> raw_per_s;
    std::vector<double> sync_per_s;
    std::vector<double> mean_batch;
    std::vector<double> engine_share;
    std::vector<double> commit_share;
    std::vector<double> server_share;
    std::vector<double> machine_share;
    std::vector<double> bare_per_s;
    std::vector<std::int64_t> p50_us;
    std::vector<std::int64_t> p99_us;
    std::vector<std::int64_t> max_us;
    std::vector<std::int64_t> sync_p50_us;
    std::int64_t commit_bytes = 0;

    void add(const LatencySummary& latency) {
        p50_us.push_back(latency.p50_us);
        p99_us.push_back(latency.p99_us);
        max_us.push_back(latency.max_us);
    }

    void fill(TurnsRow& row) const {
        Spreads& spreads = row.spreads;
        row.rounds = std::ssize(turns_per_s);
        row.turns_per_s = spreads.note("turns_per_s", turns_per_s, 1);
        row.raw_turns_per_s = spreads.note("raw_turns_per_s", raw_per_s, 1);
        row.fdatasync_per_s = spreads.note("fdatasync_per_s", sync_per_s, 1);
        row.mean_batch = spreads.note("mean_batch", mean_batch, 2);
        row.engine_cpu_share = spreads.note("engine_cpu_share", engine_share, 3);
        row.commit_share = spreads.note("commit_share", commit_share, 3);
        row.machine_cpu_share = spreads.note("machine_cpu_share", machine_share, 3);
        row.server_cpu_share = spreads.note("server_cpu_share", server_share, 3);
        row.bare_http_per_s = spreads.note("bare_http_per_s", bare_per_s, 1);
        row.p50_us = spreads.note("p50_us", p50_us);
        row.p99_us = spreads.note("p99_us", p99_us);
        row.max_us = *std::max_element(max_us.begin(), max_us.end());
        row.fdatasync_p50_us = spreads.note("fdatasync_p50_us", sync_p50_us);
        row.commit_bytes = commit_bytes;
        spreads.note("ratio", ratios(), 3);
    }

private:
    std::vector<double> ratios() const {
        std::vector<double> yardsticks;
        for (std::size_t i = 0; i < raw_per_s.size(); ++i) {
            yardsticks.push_back(
                TurnsRow::yardstick_per_s(raw_per_s[i], i < bare_per_s.size() ? bare_per_s[i] : 0));
        }
        return ratios_of(turns_per_s, yardsticks);
    }
};

class TurnsBench {
public:
    explicit TurnsBench(const TurnsBenchOptions& options) : options_(options) {}

    Result<TurnsRow> run_inprocess(std::int64_t callers) {
        TRY_ASSIGN(const std::vector<TurnCommit> recorded, record(callers));
        Rounds rounds;
        for (int round = 0; round < options_.rounds; ++round) {
            TRY(run_sync(rounds));
            TRY_ASSIGN(const double batch, run_plane(callers, std::ssize(recorded), rounds));
            TRY(run_sync(rounds));
            TRY(run_raw(recorded, batch, rounds));
        }
        TurnsRow row{.transport = "inprocess", .callers = callers, .turns = std::ssize(recorded)};
        rounds.fill(row);
        return row;
    }

    Result<TurnsRow> run_http(std::int64_t callers) {
        TRY_ASSIGN(const std::vector<TurnCommit> recorded, record(callers));
        Rounds rounds;
        for (int round = 0; round < options_.rounds; ++round) {
            TRY(run_sync(rounds));
            TRY_ASSIGN(
                const HttpTurnsReport report, run_server(callers, std::ssize(recorded), rounds));
            TRY(run_sync(rounds));
            TRY(run_raw(recorded, report.mean_batch, rounds));
            TRY(run_bare(callers, std::ssize(recorded), report.answer_bytes, rounds));
        }
        TurnsRow row{.transport = "http", .callers = callers, .turns = std::ssize(recorded)};
        rounds.fill(row);
        return row;
    }

private:
    bool trades() const { return options_.kind == TurnKind::decision; }

    std::chrono::milliseconds duration() const {
        return std::chrono::milliseconds(static_cast<std::int64_t>(options_.seconds * 1000));
    }

    // The number of turns is what ends a run; this is only in case something hangs.
    std::chrono::milliseconds duration_max() const { return duration() * 20; }

    Result<std::vector<TurnCommit>> record(std::int64_t callers) {
        TRY_ASSIGN(const ScratchFolder folder, ScratchFolder::create(options_.folder));
        TRY_ASSIGN(
            const auto bench,
            BenchPlane::open({.folder = folder.file("data"), .record = true, .trade = trades()}));
        run_turn_load(
            *bench,
            {.callers = static_cast<std::size_t>(callers),
             .kind = options_.kind,
             .turns_max =
                 trades() ? kRecordedDecisionsMax : static_cast<std::int64_t>(kRecordedTurnsMax),
             .duration = duration()});
        const EngineCounts& counts = bench->counts();
        commit_bytes_ =
            counts.wal_pages * kWalFrameBytes / std::max<std::int64_t>(1, counts.commits);
        return bench->take_recorded();
    }

    // Gives the mean batch size.
    Result<double> run_plane(std::int64_t callers, std::int64_t turns, Rounds& rounds) {
        TRY_ASSIGN(const ScratchFolder folder, ScratchFolder::create(options_.folder));
        TRY_ASSIGN(
            const auto bench, BenchPlane::open({.folder = folder.file("data"), .trade = trades()}));
        const Duration cpu = cpu_of_this_process();
        const TurnLoadReport report = run_turn_load(
            *bench,
            {.callers = static_cast<std::size_t>(callers),
             .kind = options_.kind,
             .turns_max = turns,
             .duration = duration_max()});
        if (report.refused > 0) {
            return fail(
                errors::unavailable, std::to_string(report.refused) + " turns were refused.");
        }
        const double elapsed = seconds_of(report.elapsed);
        const Duration used{cpu_of_this_process().microseconds - cpu.microseconds};
        const EngineCounts& counts = bench->counts();
        const double commits = static_cast<double>(std::max<std::int64_t>(1, counts.commits));
        rounds.turns_per_s.push_back(static_cast<double>(report.turns) / elapsed);
        rounds.mean_batch.push_back(static_cast<double>(counts.turns) / commits);
        rounds.engine_share.push_back(seconds_of(counts.cpu) / elapsed);
        rounds.commit_share.push_back(seconds_of(counts.in_commit) / elapsed);
        rounds.server_share.push_back(seconds_of(used) / elapsed / cores());
        rounds.machine_share.push_back(rounds.server_share.back());
        rounds.add(report.latency);
        return rounds.mean_batch.back();
    }

    Result<HttpTurnsReport> run_server(std::int64_t callers, std::int64_t turns, Rounds& rounds) {
        TRY_ASSIGN(const ScratchFolder folder, ScratchFolder::create(options_.folder));
        TRY_ASSIGN(
            HttpTurnsReport report,
            run_http_turns(
                {.program = options_.program,
                 .folder = folder.path(),
                 .callers = callers,
                 .kind = options_.kind,
                 .turns = static_cast<std::uint64_t>(turns),
                 .duration_max = duration_max()}));
        const double elapsed = static_cast<double>(report.load.elapsed.count()) / 1e6;
        const Duration all{report.server_cpu.microseconds + report.load_cpu.microseconds};
        rounds.turns_per_s.push_back(report.load.requests_per_second());
        rounds.mean_batch.push_back(report.mean_batch);
        rounds.engine_share.push_back(seconds_of(report.engine_cpu) / elapsed);
        rounds.commit_share.push_back(seconds_of(report.in_commit) / elapsed);
        rounds.server_share.push_back(seconds_of(report.server_cpu) / elapsed / cores());
        rounds.machine_share.push_back(seconds_of(all) / elapsed / cores());
        rounds.add(
            {.p50_us = report.load.percentile_us(0.50),
             .p99_us = report.load.percentile_us(0.99),
             .max_us = report.load.percentile_us(1.0)});
        return report;
    }

    Result<void> run_bare(
        std::int64_t callers, std::int64_t turns, std::int64_t answer_bytes, Rounds& rounds) {
        TRY_ASSIGN(const ScratchFolder folder, ScratchFolder::create(options_.folder));
        TRY_ASSIGN(
            const LoadReport report,
            run_bare_http(
                {.program = options_.program,
                 .folder = folder.path(),
                 .callers = callers,
                 .kind = options_.kind,
                 .turns = static_cast<std::uint64_t>(turns),
                 .duration_max = duration_max()},
                answer_bytes));
        rounds.bare_per_s.push_back(report.requests_per_second());
        return {};
    }

    Result<void> run_raw(const std::vector<TurnCommit>& recorded, double batch, Rounds& rounds) {
        TRY_ASSIGN(const ScratchFolder folder, ScratchFolder::create(options_.folder));
        TRY_ASSIGN(
            const RawWriteReport report,
            write_turns_raw(
                {.path = folder.file("raw.db"),
                 .turns_per_batch = static_cast<std::size_t>(std::lround(std::max(1.0, batch)))},
                recorded,
                clock_));
        rounds.raw_per_s.push_back(
            static_cast<double>(recorded.size()) / seconds_of(report.elapsed));
        return {};
    }

    Result<void> run_sync(Rounds& rounds) {
        TRY_ASSIGN(const ScratchFolder folder, ScratchFolder::create(options_.folder));
        TRY_ASSIGN(
            const DiskSyncReport report,
            measure_disk_sync(
                {.path = folder.file("sync"),
                 .append_bytes = static_cast<std::size_t>(commit_bytes_),
                 .duration = duration() / 4}));
        rounds.commit_bytes = commit_bytes_;
        rounds.sync_per_s.push_back(report.syncs_per_s);
        rounds.sync_p50_us.push_back(report.latency.p50_us);
        return {};
    }

    const TurnsBenchOptions& options_;
    SystemClock clock_;
    std::int64_t commit_bytes_ = 0;  // As recorded.
};

}  // namespace

Result<void> run_turns_bench(
    const TurnsBenchOptions& options, const std::function<void(const TurnsRow&)>& on_row) {
    TurnsBench bench(options);
    if (options.inprocess) {
        for (const std::int64_t callers : options.callers) {
            TRY_ASSIGN(const TurnsRow row, bench.run_inprocess(callers));
            on_row(row);
        }
    }
    if (options.http) {
        for (const std::int64_t callers : options.callers) {
            TRY_ASSIGN(const TurnsRow row, bench.run_http(callers));
            on_row(row);
        }
    }
    return {};
}

}  // namespace interlock
