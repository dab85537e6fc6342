// `interlock kill on|off|status`: stop everything, ask for the release, see what is stopped.
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_kill_command(CommandLine& line);

}  // namespace interlock
