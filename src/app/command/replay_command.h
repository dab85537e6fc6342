// `interlock replay`: re-runs recorded decisions and compares bytes.
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_replay_command(CommandLine& line);

}  // namespace interlock
