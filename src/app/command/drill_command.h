// `interlock drill kill`: proves on a busy server that stopping stops, and how fast. `interlock
// drill dos`: the same while strangers try to crowd it out.
#pragma once

#include "app/command/command.h"
#include "bench/dos_drill.h"
#include "bench/kill_drill.h"

namespace interlock {

// `refused` when an effect arrived after the switch was recorded. --data names the folder under
// which the drill makes its own.
ExitCode run_drill_kill_command(const GlobalOptions& global, KillDrillOptions options);

// `refused` when a stop failed or took longer than it may.
ExitCode run_drill_dos_command(const GlobalOptions& global, DosDrillOptions options);

void add_drill_command(CommandLine& line);

}  // namespace interlock
