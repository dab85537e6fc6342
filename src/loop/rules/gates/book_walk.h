// What the known depth of a book carries of an order that takes
// (docs/contracts/agent-loop.md#tools, rule 10): walked level by level from the touch on, behind
// what earlier intents of the same plan would take.
#pragma once

#include <optional>
#include <vector>

#include "account/wire/intent.h"
#include "loop/rules/gates/reckoning.h"
#include "market/wire/market_facts.h"

namespace interlock {

struct WalkWish {
    Side side = Side::buy;
    Decimal qty;
    Decimal behind = {};                // Taken by others before, best prices first.
    std::optional<Decimal> limit = {};  // No level beyond it.
};
struct BookWalk {
    Decimal carried;  // Of the quantity wished for.
    Decimal worth;    // In quote, each level at its price; buys up, sells down.
};
// `levels` best first.
BookWalk walk_book(const std::vector<DepthLevel>& levels, const WalkWish& wish, Reckoning& reckon);

}  // namespace interlock
