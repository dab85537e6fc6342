// `interlock bench turns|start`: the numbers of this machine, ours beside the bare ones.
#pragma once

#include <string>

#include "bench/start_bench.h"
#include "bench/turns_bench.h"
#include "bin/command.h"

namespace interlock {

// For both, --data names the folder whose disk is measured.
ExitCode run_bench_turns_command(const GlobalOptions& global, TurnsBenchOptions options);
ExitCode run_bench_start_command(const GlobalOptions& global, StartBenchOptions options);

void add_bench_command(CommandLine& line);

}  // namespace interlock
