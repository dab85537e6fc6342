// `interlock account` and `interlock decision`: what the server knows of an account and of one
// decision.
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_account_commands(CommandLine& line);

}  // namespace interlock
