// How a gated intent becomes an order: its record, the worst price it is reserved at, and whether
// it counts as aggressive. Shared by everything that executes plans.
#pragma once

#include "account/rules/order_record.h"
#include "account/wire/intent.h"
#include "account/wire/risk_limits.h"
#include "base/result.h"
#include "market/wire/market_facts.h"

namespace interlock {

struct OrderOrigin {
    const VenueAccount& account;
    const DecisionId& decision_id;
    const TickId& tick_id;
    Timestamp at;
};
// Not sent yet and without its reserve and touch price.
OrderRecord new_order(const OrderOrigin& origin, const Intent& intent);

// The worst price an order may cost: its limit, or for a market order the touch with the collar
// that the gates allowed.
Result<Decimal> reserve_price(
    const Intent& intent, const MarketFacts* market, const RiskLimits& limits);

// The best price of the side the intent would take from; nothing when that side is empty.
std::optional<Decimal> touch_price(const Intent& intent, const MarketFacts* market);

// Would take at once, or nobody can tell.
bool is_aggressive(const Intent& intent, const MarketFacts* market, const RiskLimits& limits);

}  // namespace interlock
