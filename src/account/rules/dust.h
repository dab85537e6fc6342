// Holdings too small to matter, which must not hold up the rest of an account.
#pragma once

#include "market/wire/market_facts.h"

namespace interlock {

// What no order could sell now: the venue would not take so small a quantity, or not one worth so
// little at the mid. Without a price only the quantity is known.
bool is_dust(Decimal position, const MarketFacts& market);

// Whether something without a price may be left out of equity: it cost at most one basis point of
// the net deposits. What cost nothing may be worth anything. There are no more such assets than an
// account may hold (kAssetsMax).
bool is_negligible(Decimal cost, Decimal net_deposits);

}  // namespace interlock
