// What a server does with backups: vouches for one that is taken of it, and opens a folder that
// came from one.
#pragma once

#include <memory>

#include "app/plane/plane.h"
#include "app/plane/restore_service.h"
#include "host/service/backup_service.h"

namespace interlock {

struct BackupSetup {
    std::unique_ptr<BackupService> backups;
    std::unique_ptr<RestoreService> restored;
};
struct BackupParts {
    Plane& plane;  // Open; its engine does not run yet.
    PrincipalService& principals;
    const SealKeys& keys;
    SubmitTurn submit;
    const MarketFeed& feed;
    std::map<TradeMode, VenueMemory*> venues;
};
// Before anything is answered: a folder from a backup gives nobody the rights of another day.
Result<BackupSetup> open_backups(BackupParts parts);

}  // namespace interlock
