// `interlock vault`: what the vault holds and whether it opens, and a new master key for it.
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_vault_command(CommandLine& line);

}  // namespace interlock
