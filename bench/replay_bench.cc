#include "bench/replay_bench.h"

#include <fmt/format.h>

#include <chrono>

#include "base/errors.h"
#include "bench/latency.h"
#include "bench/rounded.h"
#include "bench/scratch_folder.h"
#include "bench/turn_load.h"
#include "trader/service/replay_service.h"

namespace interlock {
namespace {

constexpr std::size_t kCallers = 64;
constexpr std::chrono::minutes kPatience{10};

Result<void> make_decisions(const std::string& data, std::int64_t count) {
    TRY_ASSIGN(const auto bench, BenchPlane::open({.folder = data, .trade = true}));
    const TurnLoadReport load = run_turn_load(
        *bench,
        {.callers = kCallers,
         .kind = TurnKind::decision,
         .turns_max = count,
         .duration = kPatience});
    if (load.turns != count) {
        return fail(errors::unavailable, "Not all decisions could be made.");
    }
    return {};
}

}  // namespace

Result<ReplayBenchReport> run_replay_bench(const ReplayBenchOptions& options) {
    TRY_ASSIGN(const ScratchFolder folder, ScratchFolder::create(options.folder));
    const std::string data = folder.file("data");
    TRY(make_decisions(data, options.decisions));
    SqliteLedgerOptions store_options;
    store_options.path = data + "/ledger.db";
    store_options.read_only = true;
    TRY_ASSIGN(const auto store, SqliteLedgerStore::open(store_options));
    ReplayBenchReport report;
    report.rounds = options.rounds;
    std::vector<double> rates;
    for (int round = 0; round < options.rounds; ++round) {
        const auto begin = std::chrono::steady_clock::now();
        TRY_ASSIGN(
            const ReplayReport replayed,
            replay_ledger({.store = *store, .tenant_id = TenantId::trusted("bench")}));
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        if (!replayed.ok() || replayed.decisions != options.decisions) {
            return fail(
                errors::corrupt_data,
                "The replay differs: " + (replayed.findings.empty()
                                              ? std::to_string(replayed.decisions)
                                              : replayed.findings.front().detail));
        }
        report.decisions = replayed.decisions;
        report.steps = replayed.steps;
        rates.push_back(static_cast<double>(replayed.decisions) / took.count() * 60);
    }
    report.decisions_per_minute = report.spreads.note("decisions_per_minute", rates);
    return report;
}

Json encode(const ReplayBenchReport& report) {
    Json json = Json::object({
        {"decisions", report.decisions},
        {"steps", report.steps},
        {"decisions_per_minute", rounded(report.decisions_per_minute, 0)},
        {"rounds", report.rounds},
    });
    report.spreads.write(json);
    return json;
}

std::string to_text(const ReplayBenchReport& report) {
    return fmt::format(
        "{} decisions, {} steps (plan, gates, stored decision), chain verified on the way\n"
        "replayed per minute   {:.0f}\n",
        report.decisions,
        report.steps,
        report.decisions_per_minute);
}

}  // namespace interlock
