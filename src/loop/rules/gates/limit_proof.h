// Proof that each configured limit can say no (`interlock doctor`): for every limit a world is
// built that this one limit rejects, and that passes once it is loosened. A limit that nobody reads
// is found out here instead of on the day it was meant for.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "account/wire/risk_limits.h"
#include "market/wire/market_rules.h"

namespace interlock {

struct LimitProof {
    std::string_view name;
    bool can_reject = false;  // Rejected with the code below, and passed when loosened.
    std::string_view code;    // Of the breach it causes.
    // The configured value switches the guard off (0 where that means off). It was then proven with
    // a value that switches it on.
    bool is_off = false;
    bool is_idle = false;  // No market of the venue gives it anything to act on.
};

// One for every LimitSpec, in its order, at a venue with these markets.
std::vector<LimitProof> prove_limits(
    const RiskLimits& limits, std::span<const MarketRules> markets);

}  // namespace interlock
