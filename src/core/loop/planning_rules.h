// What a planner has to know before its first order: who it may plan as, what it may spend, and
// what each market takes. Part of the canonical state (docs/contracts/agent-loop.md).
#pragma once

#include "base/json.h"
#include "contracts/loop/state_facts.h"
#include "contracts/market/market_facts.h"

namespace interlock {

// The strategies an outside planner may name in an intent now.
Json usable_strategy_ids(const StateFacts& state);

// Every approved market with its grid and its least order.
Json planning_symbols(const StateFacts& state, const MarketSet& market);

}  // namespace interlock
