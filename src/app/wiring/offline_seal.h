// For tools that write records while no server runs: they do what a start and a stop do to the
// chains, so that what they add stands between seals like everything else.
#pragma once

#include "engine/ports/clock.h"
#include "engine/ports/head_mirror.h"
#include "engine/ports/ledger_store.h"
#include "engine/system/data_folder.h"

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
