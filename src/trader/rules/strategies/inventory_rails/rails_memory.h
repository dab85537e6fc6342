// What inventory_rails remembers from tick to tick: with how much inventory it began, and the price
// it began at.
#pragma once

#include "base/decimal.h"
#include "base/json.h"

namespace interlock {

struct RailsMemory {
    Decimal start;      // Engine inventory at the first tick, base units.
    Decimal start_net;  // The strategy's net trade at that time.
    Decimal reference;  // The mid at that time; zero: it has not begun.
    bool has_traded = false;

    bool is_set() const { return reference.is_positive(); }
    friend bool operator==(const RailsMemory&, const RailsMemory&) = default;
};
Json encode(const RailsMemory& memory);
// An unset one when there is none, or when a key is missing or out of range: the engine begins
// anew.
RailsMemory read_rails_memory(const Json& json);

}  // namespace interlock
