// `interlock drill kill`: proves on a busy server that stopping stops, and how fast.
#pragma once

#include "bench/kill_drill.h"
#include "bin/command.h"

namespace interlock {

// `refused` when an effect arrived after the switch was recorded. --data names the folder under
// which the drill makes its own.
ExitCode run_drill_kill_command(const GlobalOptions& global, KillDrillOptions options);

void add_drill_command(CommandLine& line);

}  // namespace interlock
