// What a venue demands of orders on one market: its filters, in exact decimals. A zero disables a
// rule, as at the exchanges themselves.
#pragma once

#include <cstdint>
#include <map>

#include "base/json.h"
#include "base/money.h"
#include "market/wire/symbol.h"

namespace interlock {

struct MarketRules {
    Symbol symbol;
    Asset base;
    Asset quote;
    Decimal tick_size;
    Decimal price_min;
    Decimal price_max;
    Decimal step_size;
    Decimal qty_min;
    Decimal qty_max;
    Decimal market_qty_max;
    Decimal notional_min;
    Decimal notional_max;
    // PERCENT_PRICE: a price must lie within mid × these; 0 disables.
    Decimal percent_up;
    Decimal percent_down;
    std::int64_t open_orders_max = 200;
    // The venue's ORDERS limits, for the whole account; 0 disables.
    std::int64_t orders_per_10s_max = 0;
    std::int64_t orders_per_day_max = 0;
    friend bool operator==(const MarketRules&, const MarketRules&) = default;
};

Json encode(const MarketRules& rules);
Result<MarketRules> decode_market_rules(const Json& json);

}  // namespace interlock
