// What the server says about a backup of its folder, and what a human says after a restore.
#pragma once

#include "app/plane/restore_service.h"
#include "host/face/operation.h"
#include "host/service/backup_service.h"

namespace interlock {

void register_backup_operations(
    OperationTable& table, BackupService& backups, RestoreService& restored);

}  // namespace interlock
