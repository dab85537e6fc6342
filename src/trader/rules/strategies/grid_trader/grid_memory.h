// What a grid remembers from tick to tick: where its lines are, and which orders it expects to
// find.
#pragma once

#include <cstdint>

#include "base/decimal.h"
#include "base/json.h"

namespace interlock {

struct GridMemory {
    // Line k lies at anchor × (1 + k × step).
    Decimal anchor;
    Decimal step;
    // The line the grid stands around: buys on the lines below it, sells on those above.
    std::int64_t line = 0;
    // Bit n − 1: an order on level n of that side stood or was planned after the last tick.
    std::int64_t buy_levels = 0;
    std::int64_t sell_levels = 0;
    Decimal position;  // Held at the last tick; tells a fill from a cancel.
    std::int64_t slides = 0;
    std::int64_t recentres = 0;

    bool is_set() const { return anchor.is_positive() && step.is_positive(); }
    friend bool operator==(const GridMemory&, const GridMemory&) = default;
};
Json encode(const GridMemory& memory);
// An unset one when there is none, or when a key is missing or out of range: the grid begins anew.
GridMemory read_grid_memory(const Json& json);

}  // namespace interlock
