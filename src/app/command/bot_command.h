// `interlock bot`: a tenant's maker bot from the command line of its host, with a word for every
// endpoint (bot_words.h). Calls are the operator's, over the operator's socket; what is a human's
// own, as the configuration is, asks for a login.
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_bot_command(CommandLine& line);

// What the reads show to people.
std::string describe_bot_status(const Json& status);
std::string describe_bot_positions(const Json& positions);
std::string describe_bot_balances(const Json& balances);

}  // namespace interlock
