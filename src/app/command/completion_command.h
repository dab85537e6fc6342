// `interlock completion` and `interlock man`: the parser's own description of the commands, for
// shells and for people.
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_completion_command(CommandLine& line);

}  // namespace interlock
