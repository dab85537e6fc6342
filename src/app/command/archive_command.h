// `interlock audit archive`.
#pragma once

#include <CLI/CLI.hpp>

#include "app/command/command.h"

namespace interlock {

void add_archive_command(CLI::App& audit, CommandLine& line);

}  // namespace interlock
