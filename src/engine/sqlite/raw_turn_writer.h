// The benchmark's yardstick: recorded turns written by a bare prepared-statement loop.
//
// Same schema, same SQL, same pragmas and the same checkpoint policy as the store, and nothing
// else: no checks, no Results, one BEGIN and COMMIT per batch. What the store loses against this is
// what the store costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "engine/ports/clock.h"
#include "engine/ports/ledger_store.h"

namespace interlock {

struct RawWriteOptions {
    // Of a database that does not exist yet, or of a copy of the store as it was before the turns.
    std::string path;
    std::size_t turns_per_batch = 1;
};

struct RawWriteReport {
    Duration elapsed;  // From the first BEGIN to the end of the last COMMIT.
    std::int64_t batches = 0;
};

// `turns` must be all that was committed since an empty store, or since the copy, in order: an
// update of a row that is not there would be cheaper than the real one, so afterwards the rows are
// counted and a shortfall is an Error.
Result<RawWriteReport> write_turns_raw(
    const RawWriteOptions& options, std::span<const TurnCommit> turns, Clock& clock);

}  // namespace interlock
