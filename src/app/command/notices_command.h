// `interlock notices`: what a human is told by letter and where the tenant's webhook points, as
// that human.
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_notices_command(CommandLine& line);

// What `interlock notices show` says of get_notices' answer.
std::string describe_notices(const Json& notices);

}  // namespace interlock
