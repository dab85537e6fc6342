// For tools that write records while no server runs: they do what a start and a stop do to the
// chains, so that what they add stands between seals like everything else.
#pragma once

#include "adapters/system/data_folder.h"
#include "ports/clock.h"
#include "ports/head_mirror.h"
#include "ports/ledger_store.h"

namespace interlock {

struct OfflineLedger {
    DataFolder& folder;  // Held.
    LedgerStore& store;
    HeadMirror& mirror;
    Clock& clock;
    IdSource& ids;
};
// Verifies every chain since its last seal, continues what does not hold as a break, and seals.
// Before the tool's own runner opens, and once more when its work is done.
Result<void> seal_offline(const OfflineLedger& ledger);

}  // namespace interlock
