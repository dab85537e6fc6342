// Whether anything of a tenant may trade, and if not, why. Pure; what the switches say comes in,
// one reason goes out, the strongest first:
//
//     stopped for all > stopped here > disabled for all > disabled here > of the account
#pragma once

#include <optional>

#include "contracts/kill/blocked.h"
#include "contracts/loop/state_facts.h"
#include "core/kill/kill_step.h"

namespace interlock {

struct StopFacts {
    const KillState& own;  // For the system tenant the same as `global`.
    const KillState& global;
    bool is_latched = false;  // Up before its record is, and without one when the store failed.
    bool is_latched_globally = false;
};
std::optional<Blocked> why_stopped(const StopFacts& facts);

// What of the account itself keeps it from trading, or from entering anew.
std::optional<Blocked> why_account_blocked(bool trading_enabled, const StateFacts& facts);

}  // namespace interlock
