// `interlock approvals list|show|approve|reject`: what waits for a human, and the human's word on
// it.
#pragma once

#include "bin/command.h"

namespace interlock {

void add_approvals_command(CommandLine& line);

}  // namespace interlock
