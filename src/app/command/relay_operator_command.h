// What the operator of the host does with the relay: `interlock relay status`, `gateway add`,
// `route add` and so on, each one call to the running server.
#pragma once

#include "app/command/command.h"

namespace interlock {

// Adds them below `interlock relay`.
void add_relay_operator_commands(CommandLine& line, CLI::App& relay);

}  // namespace interlock
