// `interlock demo`: five scenes of what can go wrong, then a server with a tenant, an owner, an
// access key and a sink, ready to be tried.
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_demo_command(CommandLine& line);

}  // namespace interlock
