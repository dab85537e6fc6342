// The whole command line of `interlock` but `help`: global options, the commands written by hand,
// and after them those that the operation table has besides.
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_all_commands(CommandLine& line);

}  // namespace interlock
