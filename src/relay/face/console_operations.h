// The console platform for whoever runs the host: `interlock chat` speaks, presses and reads
// through these. There only where the configuration has a bot of the platform "local".
#pragma once

#include "host/face/operation.h"
#include "relay/ports/console_chat.h"

namespace interlock {

inline constexpr std::int64_t kConsoleChangesMax = 100;  // Of one answer.

void register_console_operations(OperationTable& table, ConsoleChat& console);

}  // namespace interlock
