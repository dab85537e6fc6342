// `interlock receipt`: one decision as a signed file, and checking such a file anywhere.
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_receipt_command(CommandLine& line);

}  // namespace interlock
