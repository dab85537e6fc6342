// `interlock tenant|key|human`: who exists on this host, told to a running server.
#pragma once

#include "bin/command.h"

namespace interlock {

// tenant create|list, key create|list|revoke, human invite|activate|list.
void add_admin_commands(CommandLine& line);

}  // namespace interlock
