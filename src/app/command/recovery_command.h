// The commands of `interlock human` by which people get back in, and what an activation shares with
// them.
#pragma once

#include <string>

#include "app/command/command.h"
#include "app/wiring/server_client.h"
#include "base/json.h"
#include "base/secret_string.h"

namespace interlock {

void add_recovery_commands(CLI::App& human, CommandLine& line);

// Asked for twice on the terminal, or the first line of standard input.
Result<SecretString> new_password(bool from_stdin);

// After an activation or a recovery: ends the session that came with it, says so, and shows the
// recovery codes this once.
void print_new_login(
    const GlobalOptions& global,
    ServerClient& server,
    const Json& made,
    const std::string& sentence);

}  // namespace interlock
