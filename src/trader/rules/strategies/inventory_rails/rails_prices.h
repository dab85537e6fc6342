// The formulas of inventory_rails (docs/strategies/inventory_rails.md#prices): how far apart its
// levels are and where they lie.
#pragma once

#include <optional>
#include <vector>

#include "trader/rules/strategies/inventory_rails/inventory_rails.h"

namespace interlock {

// m: how much wider than tight the bands are, from 1 to 4. 1 while the bands are tight, unknown, or
// have a quantile of zero.
Result<Decimal> widening_of(const TimeframeSignals* signals);

// d = d0 × (1 + g × (m − 1)), × 1.5 while defensive; a fraction of the price.
Result<Decimal> rails_step_of(const RailsConfig& config, Decimal widening, RiskMode risk_mode);

struct LadderFacts {
    Decimal reference;  // F.
    Decimal step;       // d.
    Decimal best_bid;
    Decimal best_ask;
    // No ask is below it; nothing while nothing is held.
    std::optional<Decimal> ask_floor;
    Decimal tick_size;           // Zero is no rule.
    std::int64_t levels = 0;     // A side.
    std::int64_t ticks_off = 0;  // Further away by so many ticks, after refusals.
};
// Prices of one side on the tick, from the touch outwards; each at least one tick beyond the one
// before. Fewer than `levels` where the ladder would reach zero.
Result<std::vector<Decimal>> bid_ladder(const LadderFacts& facts);
Result<std::vector<Decimal>> ask_ladder(const LadderFacts& facts);

// FIFO cost × (1 + d0 + 2 × maker fee).
Result<Decimal> ask_floor_of(Decimal unit_cost, Decimal base_step, Decimal maker_fee);

}  // namespace interlock
