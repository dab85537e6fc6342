// Who reaches whom: `interlock relay strangers`, `link`, `bind`, `route`, `scope` and `principal`.
#pragma once

#include "app/command/command.h"

namespace interlock {

// Adds them below `interlock relay`.
void add_relay_people_commands(CommandLine& line, CLI::App& relay);

}  // namespace interlock
