// `interlock mcp`: MCP over standard input and output, for agents that start their servers.
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_mcp_command(CommandLine& line);

}  // namespace interlock
