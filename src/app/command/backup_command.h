// `interlock backup` and `interlock restore`.
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_backup_commands(CommandLine& line);

}  // namespace interlock
