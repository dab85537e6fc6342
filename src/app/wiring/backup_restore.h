// Puts a backup into a new data folder, after everything in it was checked (ADR 0023). The folder
// gets no sealing key, so the server that opens it is stopped, and what gave rights for a time is
// void, whatever happens on the way.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/wiring/ledger_folder.h"
#include "host/rules/backup_manifest.h"

namespace interlock {

struct RestoreWish {
    std::string backup_folder;
    std::string data_folder;      // Must not exist, or be empty. Empty: only check.
    std::string public_key = {};  // Raw; empty: the backup's own ledger.pub.
    // The lost server's folder, where part of it can be read: the venues' journals and heads.log
    // are newer there than in the backup. Empty: there is none.
    std::string lost_folder = {};
    bool check_artifacts = true;
    // Behind a break on record a chain rests on a key that ledger.pub does not vouch for: whoever
    // restores such a backup must say that the breaks are known.
    bool knows_breaks = false;
    std::function<void(const std::string& what)> on_progress = {};
};
struct RestoreReport {
    SealedManifest sealed;
    FolderReport folder;
    std::vector<std::string> from_lost;  // Files that came from the lost folder.
};
Result<RestoreReport> restore_backup(const RestoreWish& wish);

}  // namespace interlock
