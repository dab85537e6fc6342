// Whether anything of a tenant may trade, and if not, why. Pure; every display asks this function
// and its two sisters, why_account_blocked and why_market_blocked, so that no two displays
// disagree. One reason goes out, the strongest first:
//
//     store failed > stopped for all > stopped here > disabled for all > disabled here
//         > of the account > of the market > of the strategy's amounts
#pragma once

#include <optional>
#include <string>

#include "host/rules/kill_step.h"
#include "host/wire/blocked.h"

namespace interlock {

struct StopFacts {
    const KillState& own;  // For the system tenant the same as `global`.
    const KillState& global;
    bool is_latched = false;  // Up before its record is, and without one when the store failed.
    bool is_latched_globally = false;
    std::string store_failure = {};  // Why a commit failed; empty when none did.
    // What of an audit chain does not hold and was accepted by nobody: no release is granted then.
    std::string own_break = {};
    std::string global_break = {};  // Of `_system`, in words that every tenant may read.
};
std::optional<Blocked> why_stopped(const StopFacts& facts);

}  // namespace interlock
