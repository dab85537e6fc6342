// `interlock sim`: the simulator, seed by seed.
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_sim_command(CommandLine& line);

}  // namespace interlock
