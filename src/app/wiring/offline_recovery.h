// The operator's recovery of a login on a data folder that no server holds. It waits as long as one
// that a server starts, and its letters go out when a server starts.
#pragma once

#include <string>

#include "app/command/command.h"
#include "host/wire/recovery.h"

namespace interlock {

struct OfflineRecovery {
    std::string tenant;
    std::string email;
    StartRecovery request;
};
// Takes the folder's lock: `conflict` while a server runs.
Result<StartedRecovery> recover_offline(
    const GlobalOptions& global, const OfflineRecovery& recovery);

}  // namespace interlock
