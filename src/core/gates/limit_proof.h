// Proof that each configured limit can say no (`interlock doctor`): for every limit a world is
// built that this one limit rejects, and that passes once it is loosened. A limit that nobody reads
// is found out here instead of on the day it was meant for.
#pragma once

#include <string_view>
#include <vector>

#include "contracts/loop/risk_limits.h"

namespace interlock {

struct LimitProof {
    std::string_view name;
    bool can_reject = false;  // Rejected with the code below, and passed when loosened.
    std::string_view code;    // Of the breach it causes.
    // The configured value switches the guard off (0 where that means off). It was then proven with
    // a value that switches it on.
    bool is_off = false;
};

// One for every LimitSpec, in its order.
std::vector<LimitProof> prove_limits(const RiskLimits& limits);

}  // namespace interlock
