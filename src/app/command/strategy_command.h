// `interlock strategy` and `interlock concern`: strategies for people, by hand.
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_strategy_commands(CommandLine& line);

}  // namespace interlock
