#include "bench/verify_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/crypto.h"
#include "base/errors.h"
#include "bench/latency.h"
#include "bench/rounded.h"
#include "bench/scratch_folder.h"
#include "bench/turn_load.h"
#include "engine/service/ledger_check.h"
#include "engine/system/file_seal_keys.h"

namespace interlock {
namespace {

constexpr std::size_t kCallers = 64;
constexpr std::size_t kArtifactsPerBatch = 32;
constexpr std::chrono::minutes kPatience{10};

TurnRequest artifact_turn(std::int64_t number, std::int64_t bytes, bool& refused) {
    TurnRequest request;
    request.tenant_id = TenantId::trusted("bench");
    request.principal = internal_principal("bench");
    request.function = "bench_artifact";
    request.decide = [number, bytes](Turn& turn) -> Result<TurnReply> {
        std::string body(static_cast<std::size_t>(bytes), 'x');
        const std::string name = std::to_string(number);
        std::copy(name.begin(), name.end(), body.begin());
        AuditDraft draft = turn.draft("BENCH_ARTIFACT");
        draft.status = AuditStatus::passed;
        draft.reason = "one artifact";
        draft.artifacts.push_back(turn.put_artifact(std::move(body)));
        TRY(turn.audit(std::move(draft)));
        return Answer{};
    };
    request.reply = [&refused](const Result<Answer>& answer) { refused = refused || !answer; };
    return request;
}

Result<void> make_ledger(const std::string& data, const VerifyBenchOptions& options) {
    TRY_ASSIGN(const auto bench, BenchPlane::open({.folder = data}));
    bool refused = false;
    for (std::int64_t made = 0; made < options.artifacts;) {
        std::vector<TurnRequest> batch;
        while (made < options.artifacts && batch.size() < kArtifactsPerBatch) {
            batch.push_back(artifact_turn(made++, options.artifact_bytes, refused));
        }
        bench->plane().runner.run_batch(std::move(batch));
    }
    const TurnLoadReport load = run_turn_load(
        *bench, {.callers = kCallers, .turns_max = options.records, .duration = kPatience});
    if (refused || load.turns != options.records) {
        return fail(errors::unavailable, "Not all records could be made.");
    }
    bench->plane().ledger.sign_all();
    return {};
}

struct Walk {
    double seconds = 0;
    std::int64_t records = 0;
    std::int64_t seals = 0;
    std::int64_t artifacts = 0;
};

Result<Walk> verify(LedgerStore& store, const std::string& first_key, bool with_artifacts) {
    const auto begin = std::chrono::steady_clock::now();
    KeyLineage keys(first_key);
    HeadExpectations expected;
    TRY_ASSIGN(
        const auto reports,
        check_ledger(
            {.store = store,
             .mirror = {},
             .keys = keys,
             .expected = &expected,
             .check_artifacts = with_artifacts}));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    Walk walk{.seconds = took.count()};
    for (const ChainReport& report : reports) {
        if (report.fault) {
            return fail(errors::corrupt_data, "The ledger just made does not verify.");
        }
        walk.records += report.records;
        walk.seals += report.checkpoints;
        walk.artifacts += report.artifacts;
    }
    return walk;
}

}  // namespace

Result<VerifyBenchReport> run_verify_bench(const VerifyBenchOptions& options) {
    TRY_ASSIGN(const ScratchFolder folder, ScratchFolder::create(options.folder));
    const std::string data = folder.file("data");
    TRY(make_ledger(data, options));
    TRY_ASSIGN(const std::string first_key, read_ledger_public_key(data));
    SqliteLedgerOptions store_options;
    store_options.path = data + "/ledger.db";
    store_options.read_only = true;
    TRY_ASSIGN(const auto store, SqliteLedgerStore::open(store_options));
    VerifyBenchReport report;
    report.rounds = options.rounds;
    std::vector<double> records;
    std::vector<double> megabytes;
    for (int round = 0; round < options.rounds; ++round) {
        TRY_ASSIGN(const Walk bare, verify(*store, first_key, false));
        TRY_ASSIGN(const Walk whole, verify(*store, first_key, true));
        report.records = bare.records;
        report.seals = bare.seals;
        report.artifacts = whole.artifacts;
        records.push_back(static_cast<double>(bare.records) / bare.seconds);
        const double bytes = static_cast<double>(options.artifacts * options.artifact_bytes);
        megabytes.push_back(bytes / 1e6 / std::max(whole.seconds - bare.seconds, 1e-9));
    }
    report.records_per_second = report.spreads.note("records_per_second", records);
    report.artifact_megabytes_per_second =
        report.spreads.note("artifact_megabytes_per_second", megabytes);
    return report;
}

Json encode(const VerifyBenchReport& report) {
    Json json = Json::object({
        {"records", report.records},
        {"seals", report.seals},
        {"artifacts", report.artifacts},
        {"records_per_second", rounded(report.records_per_second, 0)},
        {"artifact_megabytes_per_second", rounded(report.artifact_megabytes_per_second, 0)},
        {"rounds", report.rounds},
    });
    report.spreads.write(json);
    return json;
}

std::string to_text(const VerifyBenchReport& report) {
    return fmt::format(
        "{} records with {} seals, {} artifacts, on one core\n"
        "records verified per second    {:.0f}\n"
        "artifacts hashed, MB a second  {:.0f}\n",
        report.records,
        report.seals,
        report.artifacts,
        report.records_per_second,
        report.artifact_megabytes_per_second);
}

}  // namespace interlock
