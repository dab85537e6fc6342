// The dry run as a planner is told it and as the ledger hashes it: the report with the order ids
// that executing the plan will use. The loop and the replay share it, so both make the same bytes.
#pragma once

#include "loop/rules/dry_run/dry_run.h"

namespace interlock {

Json encode_rehearsal(const DryRunReport& report, const DecisionId& decision_id, const Plan& plan);

}  // namespace interlock
