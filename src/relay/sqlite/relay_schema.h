// The relay's own tables beside those of the ledger, which the same file holds so that
// `interlock audit verify` reads its chains.
//
// Their version lies in `meta` under 'relay_version', because SQLite's own version number counts
// the ledger's tables.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "engine/sqlite/sqlite_db.h"

namespace interlock {

inline constexpr std::int64_t kRelaySchemaVersion = 1;

// Brings a database that migrate() has prepared to kRelaySchemaVersion. Refuses one that a newer
// interlock wrote before changing anything.
Result<void> migrate_relay(SqliteDb& db);

// On top of configure_writer(): what is deleted is also overwritten, pages that become free
// included, because the text of a message leaves the disk once its gateway has it.
Result<void> configure_relay_writer(SqliteDb& db);

}  // namespace interlock
