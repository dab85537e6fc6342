// The tables of the ledger database and the steps that lead from one version of them to the next.
//
// The version lies in SQLite's `user_version`. Each step runs in a transaction of its own, so a
// crash between two leaves a database of a known version. Columns are plain text and integers
// because people and `interlock audit verify` read them; times are microseconds since 1970.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "engine/sqlite/sqlite_db.h"

namespace interlock {

inline constexpr std::int64_t kSchemaVersion = 7;
// "ilck" in SQLite's application_id: tells our files from any other database.
inline constexpr std::int64_t kApplicationId = 0x696c636b;

// What SQLite calls `auto_vacuum = INCREMENTAL`.
inline constexpr std::int64_t kIncrementalVacuum = 2;

// Brings the database to kSchemaVersion. Refuses one that a newer interlock wrote, and one that is
// not ours, before changing anything.
Result<void> migrate(SqliteDb& db);

// For connections that may not write: the same refusals, and one for a database still to be
// migrated.
Result<void> require_current_schema(SqliteDb& db);

// Write-ahead logging with a sync per commit. Checkpoints are ours to run (wal_checkpointer.h).
Result<void> configure_writer(SqliteDb& db);

}  // namespace interlock
