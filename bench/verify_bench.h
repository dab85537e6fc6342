// `interlock bench verify`: how fast a ledger is verified from its first record: chain, seals, the
// roots of rows and heads; and, apart, the artifacts that records refer to. The targets are 200,000
// records and 300 MB a second on one core.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "bench/spread.h"

namespace interlock {

struct VerifyBenchOptions {
    std::string folder;  // Where the ledger is made; empty: the working directory.
    std::int64_t records = 200'000;
    std::int64_t artifacts = 2000;
    std::int64_t artifact_bytes = 64 * 1024;
    int rounds = 3;
};

struct VerifyBenchReport {
    std::int64_t records = 0;
    std::int64_t seals = 0;
    std::int64_t artifacts = 0;
    double records_per_second = 0;             // Medians of the rounds.
    double artifact_megabytes_per_second = 0;  // Beyond the time of the records.
    int rounds = 0;
    Spreads spreads = {};
};
// Fails when the ledger does not verify.
Result<VerifyBenchReport> run_verify_bench(const VerifyBenchOptions& options);

Json encode(const VerifyBenchReport& report);
std::string to_text(const VerifyBenchReport& report);

}  // namespace interlock
