// `interlock bot`: a tenant's maker bot from the command line of its host. Calls are the
// operator's, over the operator's socket; changes of the configuration are a human's or an agent's
// business and go over HTTP or MCP.
#pragma once

#include "bin/command.h"

namespace interlock {

void add_bot_command(CommandLine& line);

// What the reads show to people.
std::string describe_bot_status(const Json& status);
std::string describe_bot_positions(const Json& positions);
std::string describe_bot_balances(const Json& balances);

}  // namespace interlock
