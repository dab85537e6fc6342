// What a decision did to its account, and what that measures, as they stand when it is recorded
// (docs/contracts/agent-loop.md#what-a-decision-measures).
//
// Only what is the decision's own counts: its orders, what was booked of them, its cancels. The
// account as a whole is no part of it, because other decisions change that at the same time.
#pragma once

#include <vector>

#include "account/rules/order_record.h"
#include "loop/rules/decision.h"

namespace interlock {

// `orders` in the order of the decision's rows. A decision that sent nothing has empty lists.
Result<Json> state_delta(const Decision& decision, const std::vector<OrderRecord>& orders);

// Of the rows and the times of the decision's record and of its delta alone, so that a replay
// measures the same.
struct Recorded {
    const Json& execution;
    const Json& timestamps;
    const Json& state_delta;
};
Result<Json> decision_metrics(const Recorded& recorded);

}  // namespace interlock
