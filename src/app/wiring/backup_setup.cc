#include "app/wiring/backup_setup.h"

namespace interlock {

Result<BackupSetup> open_backups(BackupParts parts) {
    BackupSetup setup;
    setup.backups = std::make_unique<BackupService>(
        BackupService::Parts{parts.submit, parts.keys, parts.plane.ledger});
    setup.restored = std::make_unique<RestoreService>(RestoreService::Parts{
        .runner = parts.plane.runner,
        .submit = std::move(parts.submit),
        .principals = parts.principals.records(),
        .directory = parts.plane.directory,
        .loop = *parts.plane.loop,
        .feed = parts.feed,
        .venues = std::move(parts.venues)});
    TRY(setup.restored->open());
    return setup;
}

}  // namespace interlock
