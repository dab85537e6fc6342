// Who keeps instances of its own (the maker bots do) and knows what the trader cannot: whether they
// tick, and what holds them up besides their market. Declared here and implemented above, so that
// the trader calls nobody who calls it.
#pragma once

#include <optional>

#include "base/result.h"
#include "engine/service/turn.h"
#include "host/wire/blocked.h"
#include "trader/wire/strategy_instance.h"

namespace interlock {

class StrategyKeeper {
public:
    virtual ~StrategyKeeper() = default;
    // Any thread. Nothing of instances that it does not keep.
    virtual std::optional<Blocked> why_held_up(const StrategyInstance& instance) const = 0;
    // Whether the instances that it keeps on this account tick, as staged in this turn.
    virtual Result<bool> is_ticking(Turn& turn, const VenueAccount& account) const = 0;
};

}  // namespace interlock
