// What the operator does with the relay: look at instances, messages and gateways, settle dead
// letters, say whose a chat, a user or a channel is. Each is a call of the operation table.
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_relay_words(CommandLine& line, CLI::App& relay);

}  // namespace interlock
