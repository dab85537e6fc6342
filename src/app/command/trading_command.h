// `interlock trading`: the steps that follow a released stop, as a human.
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_trading_command(CommandLine& line);

}  // namespace interlock
