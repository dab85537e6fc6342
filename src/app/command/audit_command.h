// `interlock audit tail|show|export|verify`: the ledger, read beside the server or without one.
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_audit_command(CommandLine& line);

}  // namespace interlock
