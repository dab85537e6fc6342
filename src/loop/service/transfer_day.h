// What an account's treasury books moved on the UTC day, so that many small transfers need the same
// approval as one large one.
#pragma once

#include "loop/service/loop_store.h"

namespace interlock {

// The sum of all transfers of the account since the day of our clock began.
Result<Decimal> transferred_today(Turn& turn, const VenueAccount& account);
Result<void> note_transfer(Turn& turn, const VenueAccount& account, Decimal amount);

}  // namespace interlock
