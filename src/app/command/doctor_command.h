// `interlock doctor`: is this machine, this configuration and this data folder fit to run on?
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_doctor_command(CommandLine& line);

}  // namespace interlock
