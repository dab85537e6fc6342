// What keeps a process's secrets from leaving it by the machine's own doors.
#pragma once

#include "base/result.h"

namespace interlock {

// Every file made from here on is for this user only. Before anything else runs.
void close_new_files();

// No core file, no look into the memory by other processes of this user: a core of a server holds
// sessions, tokens and keys.
Result<void> forbid_core_dumps();

}  // namespace interlock
