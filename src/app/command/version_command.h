// `interlock version`: which build this is, and of which libraries it is made.
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_version_command(CommandLine& line);

}  // namespace interlock
