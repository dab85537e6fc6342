// `interlock tenant|key|human`: who exists on this host, told to a running server.
#pragma once

#include "app/command/command.h"

namespace interlock {

// tenant create|list, key create|list|revoke, human invite|activate|list.
void add_admin_commands(CommandLine& line);

}  // namespace interlock
