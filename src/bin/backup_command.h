// `interlock backup` and `interlock restore`.
#pragma once

#include "bin/command.h"

namespace interlock {

void add_backup_commands(CommandLine& line);

}  // namespace interlock
