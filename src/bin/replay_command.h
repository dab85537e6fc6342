// `interlock replay`: re-runs recorded decisions and compares bytes.
#pragma once

#include "bin/command.h"

namespace interlock {

void add_replay_command(CommandLine& line);

}  // namespace interlock
