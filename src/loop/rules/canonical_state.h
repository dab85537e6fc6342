// What a planner sees of its account (docs/contracts/agent-loop.md#what-a-planner-is-told), with
// the allowed envelope and the stops beside it, and of the market.
#pragma once

#include <vector>

#include "account/rules/facts.h"
#include "base/json.h"

namespace interlock {

struct CanonicalStateInput {
    const StateFacts& state;
    const Account& account;
    const std::vector<SymbolBook>& books;
    const MarketSet& market;  // Every market of the universe and the books.
};
Result<Json> canonical_state(const CanonicalStateInput& input);

// One entry of `market`, as of a moment; nothing when a side of the book is empty.
Json market_entry(const MarketFacts& facts, Timestamp as_of);

}  // namespace interlock
