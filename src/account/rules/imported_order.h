// Orders of ours that only the venue remembers, because our records were restored from an earlier
// day: what they become here, and who is told.
#pragma once

#include "account/rules/order_record.h"
#include "account/rules/recovery.h"

namespace interlock {

// Its trades are still to be booked.
OrderRecord imported_order(const VenueAccount& account, const VenueOrder& seen);

// What was found needs a human at once; asking the venue again would settle nothing.
RecoveryStep escalate(RecoveryState state, const RecoveryCause& cause);

}  // namespace interlock
