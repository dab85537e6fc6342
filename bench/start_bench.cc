#include "bench/start_bench.h"

#include <signal.h>

#include <algorithm>
#include <vector>

#include "bench/http_turns.h"
#include "bench/scratch_folder.h"
#include "bench/server_process.h"

namespace interlock {

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
    TRY(run_http_turns(past));
    StartBenchReport report;
    report.turns = static_cast<std::int64_t>(options.turns);
    report.rounds = options.rounds;
    std::vector<std::int64_t> took_us;
    for (int round = 0; round < options.rounds; ++round) {
        TRY_ASSIGN(
            ServerProcess server,
            ServerProcess::start(
                {.program = options.program, .folder = folder.path(), .sink = {}}));
        took_us.push_back(server.start_took().microseconds);
        // One request through it, so that what is needed for the first call is counted, too.
        TRY(server.read_metric("interlock_turns_total"));
        TRY_ASSIGN(const std::int64_t resident, read_resident_bytes(server.pid()));
        report.resident_bytes = std::max(report.resident_bytes, resident);
        if (options.is_killed) {
            server.process().send_signal(SIGKILL);
            (void)server.process().wait();
        } else {
            server.stop();
        }
    }
    report.first = {took_us.front()};
    report.ready = summarize(std::move(took_us));
    return report;
}

}  // namespace interlock
