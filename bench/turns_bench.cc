#include "bench/turns_bench.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "adapters/sqlite/raw_turn_writer.h"
#include "bench/disk_sync.h"
#include "bench/scratch_folder.h"
#include "bench/turn_load.h"

namespace interlock {
namespace {

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
    std::vector<double> machine_share;
    std::vector<std::int64_t> p50_us;
    std::vector<std::int64_t> p99_us;
    std::vector<std::int64_t> max_us;
    std::vector<std::int64_t> sync_p50_us;
    std::vector<std::int64_t> commit_bytes;

    void fill(TurnsRow& row) const {
        row.rounds = std::ssize(turns_per_s);
        row.turns_per_s = median_of(turns_per_s);
        row.raw_turns_per_s = median_of(raw_per_s);
        row.fdatasync_per_s = median_of(sync_per_s);
        row.mean_batch = median_of(mean_batch);
        row.engine_cpu_share = median_of(engine_share);
        row.commit_share = median_of(commit_share);
        row.machine_cpu_share = median_of(machine_share);
        row.server_cpu_share = row.machine_cpu_share;
        row.p50_us = median_of(p50_us);
        row.p99_us = median_of(p99_us);
        row.max_us = *std::max_element(max_us.begin(), max_us.end());
        row.fdatasync_p50_us = median_of(sync_p50_us);
        row.commit_bytes = median_of(commit_bytes);
    }
};

class InprocessBench {
public:
    explicit InprocessBench(const TurnsBenchOptions& options) : options_(options) {}

    Result<TurnsRow> run(std::int64_t callers) {
        TRY_ASSIGN(const std::vector<TurnCommit> recorded, record(callers));
        Rounds rounds;
        for (int round = 0; round < options_.rounds; ++round) {
            TRY_ASSIGN(const double batch, run_plane(callers, std::ssize(recorded), rounds));
            TRY(run_raw(recorded, batch, rounds));
            TRY(run_sync(rounds));
        }
        TurnsRow row;
        row.transport = "inprocess";
        row.callers = callers;
        row.turns = std::ssize(recorded);
        rounds.fill(row);
        return row;
    }

private:
    std::chrono::milliseconds duration() const {
        return std::chrono::milliseconds(static_cast<std::int64_t>(options_.seconds * 1000));
    }

    Result<std::vector<TurnCommit>> record(std::int64_t callers) {
        TRY_ASSIGN(const ScratchFolder folder, ScratchFolder::create(options_.folder));
        TRY_ASSIGN(
            const auto bench, BenchPlane::open({.folder = folder.file("data"), .record = true}));
        bench->start();
        run_turn_load(
            *bench,
            {.callers = static_cast<std::size_t>(callers),
             .turns_max = static_cast<std::int64_t>(kRecordedTurnsMax),
             .duration = duration()});
        bench->stop();
        return bench->take_recorded();
    }

    // Gives the mean batch size.
    Result<double> run_plane(std::int64_t callers, std::int64_t turns, Rounds& rounds) {
        TRY_ASSIGN(const ScratchFolder folder, ScratchFolder::create(options_.folder));
        TRY_ASSIGN(const auto bench, BenchPlane::open({.folder = folder.file("data")}));
        bench->start();
        const Duration cpu = cpu_of_this_process();
        // The number of turns is what ends it: baselines write exactly as many.
        const TurnLoadReport report = run_turn_load(
            *bench,
            {.callers = static_cast<std::size_t>(callers),
             .turns_max = turns,
             .duration = duration() * 20});
        bench->stop();
        const double elapsed = seconds_of(report.elapsed);
        const Duration used{cpu_of_this_process().microseconds - cpu.microseconds};
        const EngineCounts& counts = bench->counts();
        const double commits = static_cast<double>(std::max<std::int64_t>(1, counts.commits));
        const double batch = static_cast<double>(counts.turns) / commits;
        rounds.turns_per_s.push_back(static_cast<double>(report.turns) / elapsed);
        rounds.mean_batch.push_back(batch);
        rounds.engine_share.push_back(seconds_of(counts.cpu) / elapsed);
        rounds.commit_share.push_back(seconds_of(counts.in_commit) / elapsed);
        rounds.machine_share.push_back(seconds_of(used) / elapsed / cores());
        rounds.p50_us.push_back(report.latency.p50_us);
        rounds.p99_us.push_back(report.latency.p99_us);
        rounds.max_us.push_back(report.latency.max_us);
        rounds.commit_bytes.push_back(static_cast<std::int64_t>(
            static_cast<double>(counts.wal_pages * kWalFrameBytes) / commits));
        return batch;
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
                 .append_bytes = static_cast<std::size_t>(rounds.commit_bytes.back()),
                 .duration = duration() / 4}));
        rounds.sync_per_s.push_back(report.syncs_per_s);
        rounds.sync_p50_us.push_back(report.latency.p50_us);
        return {};
    }

    const TurnsBenchOptions& options_;
    SystemClock clock_;
};

}  // namespace

Result<void> run_turns_bench(
    const TurnsBenchOptions& options, const std::function<void(const TurnsRow&)>& on_row) {
    if (options.inprocess) {
        InprocessBench bench(options);
        for (const std::int64_t callers : options.callers) {
            TRY_ASSIGN(const TurnsRow row, bench.run(callers));
            on_row(row);
        }
    }
    return {};
}

}  // namespace interlock
