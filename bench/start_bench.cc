#include "bench/start_bench.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "bench/http_turns.h"
#include "bench/scratch_folder.h"
#include "bench/server_process.h"
#include "bench/start_trading.h"

namespace interlock {
namespace {

constexpr std::chrono::seconds kTradingPatience{60};

std::int64_t microseconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::steady_clock::now() - begin)
        .count();
}

}  // namespace

Result<StartBenchReport> run_start_bench(const StartBenchOptions& options) {
    TRY_ASSIGN(const ScratchFolder folder, ScratchFolder::create(options.folder));
    // The data folder first gets a past.
    HttpTurnsOptions past;
    past.program = options.program;
    past.folder = folder.path();
    past.callers = 64;
    past.turns = options.turns;
    past.duration_max = std::chrono::minutes(30);
    past.is_killed = options.is_killed;
    past.afterwards = [](ServerProcess& server, const std::string& access_key) {
        return trade_once(server, {std::string(kBenchTenant), access_key});
    };
    TRY_ASSIGN(const HttpTurnsReport made, run_http_turns(past));
    const TradingAccess access{std::string(kBenchTenant), made.access_key};
    StartBenchReport report;
    report.turns = static_cast<std::int64_t>(options.turns);
    report.rounds = options.rounds;
    std::vector<std::int64_t> took_us;
    std::vector<std::int64_t> tradeable_us;
    for (int round = 0; round < options.rounds; ++round) {
        TRY_ASSIGN(
            ServerProcess server,
            ServerProcess::start(
                {.program = options.program, .folder = folder.path(), .sink = {}}));
        const auto ready_at = std::chrono::steady_clock::now();
        took_us.push_back(server.start_took().microseconds);
        // One request through it, so that what is needed for the first call is counted, too.
        TRY(server.read_metric("interlock_turns_total"));
        TRY_ASSIGN(const std::int64_t resident, read_resident_bytes(server.pid()));
        report.resident_bytes = std::max(report.resident_bytes, resident);
        TRY(await_trading(server, access, kTradingPatience));
        tradeable_us.push_back(server.start_took().microseconds + microseconds_since(ready_at));
        if (options.is_killed) {
            server.process().send_signal(SIGKILL);
            (void)server.process().wait();
        } else {
            server.stop();
        }
    }
    report.first = {took_us.front()};
    report.spreads.note("ready_p50_us", took_us);
    report.spreads.note("tradeable_p50_us", tradeable_us);
    report.ready = summarize(std::move(took_us));
    report.tradeable = summarize(std::move(tradeable_us));
    return report;
}

Json encode(const StartBenchReport& report) {
    Json json = Json::object({
        {"ready_p50_us", report.ready.p50_us},
        {"ready_max_us", report.ready.max_us},
        {"tradeable_p50_us", report.tradeable.p50_us},
        {"tradeable_max_us", report.tradeable.max_us},
        {"first_us", report.first.microseconds},
        {"resident_bytes", report.resident_bytes},
        {"turns", report.turns},
        {"rounds", report.rounds},
    });
    report.spreads.write(json);
    return json;
}

std::string to_text(const StartBenchReport& report) {
    const auto ms = [](std::int64_t us) { return static_cast<double>(us) / 1e3; };
    return fmt::format(
        "{} starts on a data folder with {} turns and an account that traded\n"
        "start to ready   first {:.1f} ms, p50 {:.1f} ms, max {:.1f} ms\n"
        "start to trading p50 {:.1f} ms, max {:.1f} ms: a plan of that account passes the gates\n"
        "idle memory      {:.1f} MB resident\n",
        report.rounds,
        report.turns,
        ms(report.first.microseconds),
        ms(report.ready.p50_us),
        ms(report.ready.max_us),
        ms(report.tradeable.p50_us),
        ms(report.tradeable.max_us),
        static_cast<double>(report.resident_bytes) / 1e6);
}

}  // namespace interlock
