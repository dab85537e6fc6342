// `interlock approvals list|show|approve|reject`: what waits for a human, and the human's word on
// it.
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_approvals_command(CommandLine& line);

}  // namespace interlock
