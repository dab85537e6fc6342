// What the server says about a backup of its folder, and what a human says after a restore.
#pragma once

#include "api/operation.h"
#include "services/backup_service.h"
#include "services/restore_service.h"

namespace interlock {

void register_backup_operations(
    OperationTable& table, BackupService& backups, RestoreService& restored);

}  // namespace interlock
