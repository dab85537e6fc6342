#include "bench/execute_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/errors.h"
#include "bench/execute_load.h"
#include "bench/rounded.h"
#include "bench/scratch_folder.h"
#include "engine/sqlite/raw_turn_writer.h"

namespace interlock {
namespace {

// As they stand in a row's JSON; `look` is no part of a path.
constexpr std::array<std::string_view, kTradeSteps> kStepWords{
    "look", "validate", "dry_run", "execute", "verify"};

constexpr std::array<TradeStep, kTradeSteps - 1> kPathSteps{
    TradeStep::validate, TradeStep::dry_run, TradeStep::execute, TradeStep::verify};

struct Rounds {
    std::vector<double> paths_per_s;
    std::vector<double> bare_per_s;
    std::vector<double> mean_batch;
    std::vector<double> turns_per_path;
    std::vector<std::int64_t> path_p50_us;
    std::vector<std::int64_t> path_p99_us;
    std::int64_t path_max_us = 0;
    std::int64_t paths = 0;
    std::array<std::vector<std::int64_t>, kTradeSteps> step_p50_us;
    std::array<std::vector<std::int64_t>, kTradeSteps> step_p99_us;

    void add(ExecuteTimes times) {
        paths += std::ssize(times.paths_us);
        paths_per_s.push_back(times.per_second());
        mean_batch.push_back(times.mean_batch);
        const LatencySummary path = summarize(std::move(times.paths_us));
        path_p50_us.push_back(path.p50_us);
        path_p99_us.push_back(path.p99_us);
        path_max_us = std::max(path_max_us, path.max_us);
        for (std::size_t step = 0; step < kTradeSteps; ++step) {
            const LatencySummary one = summarize(std::move(times.steps_us[step]));
            step_p50_us[step].push_back(one.p50_us);
            step_p99_us[step].push_back(one.p99_us);
        }
    }

    void fill(ExecuteRow& row) const {
        Spreads& spreads = row.spreads;
        row.rounds = std::ssize(paths_per_s);
        row.paths = paths;
        row.paths_per_s = spreads.note("paths_per_s", paths_per_s, 1);
        row.bare_paths_per_s = spreads.note("bare_paths_per_s", bare_per_s, 1);
        row.ratio = spreads.note("ratio", ratios_of(paths_per_s, bare_per_s), 3);
        row.mean_batch = spreads.note("mean_batch", mean_batch, 2);
        row.turns_per_path = spreads.note("turns_per_path", turns_per_path, 2);
        row.path_p50_us = spreads.note("path_p50_us", path_p50_us);
        row.path_p99_us = spreads.note("path_p99_us", path_p99_us);
        row.path_max_us = path_max_us;
        for (const TradeStep one : kPathSteps) {
            const auto step = static_cast<std::size_t>(one);
            const std::string word(kStepWords[step]);
            row.step_p50_us[step] = spreads.note(word + "_p50_us", step_p50_us[step]);
            row.step_p99_us[step] = spreads.note(word + "_p99_us", step_p99_us[step]);
        }
    }
};

class ExecuteBench {
public:
    explicit ExecuteBench(const ExecuteBenchOptions& options) : options_(options) {}

    Result<ExecuteRow> run(bool is_http, std::int64_t callers) {
        const ExecuteLoad load{
            callers, std::chrono::milliseconds(static_cast<std::int64_t>(options_.seconds * 1000))};
        Rounds rounds;
        for (int round = 0; round < options_.rounds; ++round) {
            TRY_ASSIGN(ExecuteTimes times, is_http ? over_http(load) : in_process(load));
            rounds.add(std::move(times));
            TRY(run_bare(load, rounds));
        }
        ExecuteRow row{.transport = is_http ? "http" : "inprocess", .callers = callers};
        rounds.fill(row);
        return row;
    }

private:
    Result<ExecuteTimes> in_process(const ExecuteLoad& load) {
        TRY_ASSIGN(const ScratchFolder folder, ScratchFolder::create(options_.folder));
        TRY_ASSIGN(
            const auto bench, BenchPlane::open({.folder = folder.file("data"), .venue = true}));
        return load_plane(*bench, load);
    }

    Result<ExecuteTimes> over_http(const ExecuteLoad& load) {
        TRY_ASSIGN(const ScratchFolder folder, ScratchFolder::create(options_.folder));
        return load_server(options_.program, folder.path(), load);
    }

    // The rows of as long a load, which is recorded for it, in batches of the size that the round
    // had. The journal of the venue is not written.
    Result<void> run_bare(const ExecuteLoad& load, Rounds& rounds) {
        TRY_ASSIGN(const ScratchFolder folder, ScratchFolder::create(options_.folder));
        TRY_ASSIGN(
            const auto bench,
            BenchPlane::open({.folder = folder.file("data"), .record = true, .venue = true}));
        TRY_ASSIGN(const ExecuteTimes times, load_plane(*bench, load));
        const std::vector<TurnCommit> recorded = bench->take_recorded();
        const double batch = std::max(1.0, rounds.mean_batch.back());
        SystemClock clock;
        TRY_ASSIGN(
            const RawWriteReport report,
            write_turns_raw(
                {.path = folder.file("raw.db"),
                 .turns_per_batch = static_cast<std::size_t>(std::lround(batch))},
                recorded,
                clock));
        const auto paths = static_cast<double>(times.paths_us.size());
        rounds.bare_per_s.push_back(
            paths * 1e6 /
            static_cast<double>(std::max<std::int64_t>(1, report.elapsed.microseconds)));
        rounds.turns_per_path.push_back(static_cast<double>(recorded.size()) / paths);
        return {};
    }

    const ExecuteBenchOptions& options_;
};

}  // namespace

Result<void> run_execute_bench(
    const ExecuteBenchOptions& options, const std::function<void(const ExecuteRow&)>& on_row) {
    ExecuteBench bench(options);
    for (const bool is_http : {false, true}) {
        if (is_http ? !options.http : !options.inprocess) {
            continue;
        }
        for (const std::int64_t callers : options.callers) {
            TRY_ASSIGN(const ExecuteRow row, bench.run(is_http, callers));
            on_row(row);
        }
    }
    return {};
}

Json encode(const ExecuteRow& row) {
    Json json = Json::object({
        {"transport", row.transport},
        {"callers", row.callers},
        {"paths_per_s", rounded(row.paths_per_s, 1)},
        {"bare_paths_per_s", rounded(row.bare_paths_per_s, 1)},
        {"ratio", rounded(row.ratio, 3)},
        {"path_p50_us", row.path_p50_us},
        {"path_p99_us", row.path_p99_us},
        {"path_max_us", row.path_max_us},
    });
    for (const TradeStep one : kPathSteps) {
        const auto step = static_cast<std::size_t>(one);
        const std::string word(kStepWords[step]);
        json.set(word + "_p50_us", row.step_p50_us[step]);
        json.set(word + "_p99_us", row.step_p99_us[step]);
    }
    json.set("mean_batch", rounded(row.mean_batch, 2));
    json.set("turns_per_path", rounded(row.turns_per_path, 2));
    json.set("paths", row.paths);
    json.set("rounds", row.rounds);
    row.spreads.write(json);
    return json;
}

std::string to_table(const std::vector<ExecuteRow>& rows) {
    std::string text = fmt::format(
        "{:<10}{:>8}{:>9}{:>9}{:>7}{:>10}{:>10}{:>14}{:>14}{:>14}{:>14}{:>7}\n",
        "transport",
        "callers",
        "paths/s",
        "bare/s",
        "ratio",
        "path p50",
        "path p99",
        "validate",
        "dry run",
        "execute",
        "verify",
        "batch");
    for (const ExecuteRow& row : rows) {
        text += fmt::format(
            "{:<10}{:>8}{:>9.0f}{:>9.0f}{:>6.0f}%{:>10}{:>10}",
            row.transport,
            row.callers,
            row.paths_per_s,
            row.bare_paths_per_s,
            row.ratio * 100,
            row.path_p50_us,
            row.path_p99_us);
        for (const TradeStep one : kPathSteps) {
            const auto step = static_cast<std::size_t>(one);
            text += fmt::format(
                "{:>14}", fmt::format("{}/{}", row.step_p50_us[step], row.step_p99_us[step]));
        }
        text += fmt::format("{:>7.1f}\n", row.mean_batch);
    }
    return text;
}

}  // namespace interlock
