// What a planner has to know of the markets before its first order. Part of the canonical state
// (docs/contracts/agent-loop.md).
#pragma once

#include "account/wire/state_facts.h"
#include "base/json.h"
#include "market/wire/market_facts.h"

namespace interlock {

// Every approved market with its grid and its least order.
Json planning_symbols(const StateFacts& state, const MarketSet& market);

}  // namespace interlock
