// interlock supervisor: what the built-in supervisor decided, and whether it still would.
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_supervisor_command(CommandLine& line);

}  // namespace interlock
