// What a venue did while nobody here could write it down: after a restore the records are older
// than the venue, and ids that were used since must never be used again (agent-loop.md#order-ids).
#pragma once

#include "account/ports/venue_history.h"
#include "loop/service/loop_service.h"

namespace interlock {

// Orders of our form that the venue took on and our records do not know get a row each, so that no
// id is used twice and their trades are booked with the venue's next report. With any of them the
// account waits for a human. Gives how many there were.
struct HistoryImport {
    LoopService& loop;
    const MarketFeed& feed;
    VenueAccount account;
    VenueHistory history;
};
Result<std::int64_t> import_history(Turn& turn, const HistoryImport& import);

}  // namespace interlock
