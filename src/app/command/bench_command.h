// `interlock bench
// turns|decisions|execute|control|strategies|tick|replay|verify|start|matching|paper|gates|
// backtest|bots|relay`: numbers of this machine, ours and bare ones.
#pragma once

#include <string>

#include "app/command/command.h"
#include "bench/backtest_bench.h"
#include "bench/bots_bench.h"
#include "bench/control_bench.h"
#include "bench/execute_bench.h"
#include "bench/gates_bench.h"
#include "bench/grown_bench.h"
#include "bench/loop_bench.h"
#include "bench/matching_bench.h"
#include "bench/paper_bench.h"
#include "bench/relay_bench.h"
#include "bench/replay_bench.h"
#include "bench/start_bench.h"
#include "bench/strategies_bench.h"
#include "bench/turns_bench.h"
#include "bench/verify_bench.h"

namespace interlock {

// For these, --data names the folder whose disk is measured.
ExitCode run_bench_turns_command(const GlobalOptions& global, TurnsBenchOptions options);
ExitCode run_bench_grown_command(const GlobalOptions& global, GrownBenchOptions options);
ExitCode run_bench_execute_command(const GlobalOptions& global, ExecuteBenchOptions options);
ExitCode run_bench_control_command(const GlobalOptions& global, ControlBenchOptions options);
ExitCode run_bench_strategies_command(const GlobalOptions& global, StrategiesBenchOptions options);
ExitCode run_bench_start_command(const GlobalOptions& global, StartBenchOptions options);
ExitCode run_bench_replay_command(const GlobalOptions& global, ReplayBenchOptions options);
ExitCode run_bench_verify_command(const GlobalOptions& global, VerifyBenchOptions options);
ExitCode run_bench_backtest_command(const GlobalOptions& global, BacktestBenchOptions options);
ExitCode run_bench_bots_command(const GlobalOptions& global, BotsBenchOptions options);
ExitCode run_bench_relay_command(const GlobalOptions& global, RelayBenchOptions options);
// Touches no disk.
ExitCode run_bench_matching_command(
    const GlobalOptions& global, const MatchingBenchOptions& options);
ExitCode run_bench_paper_command(const GlobalOptions& global, const PaperBenchOptions& options);
ExitCode run_bench_tick_command(const GlobalOptions& global, const TickBenchOptions& options);
ExitCode run_bench_gates_command(const GlobalOptions& global, const GatesBenchOptions& options);

void add_bench_command(CommandLine& line);

}  // namespace interlock
