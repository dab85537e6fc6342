// What a strategy is told of its own trades: its tally from the account's books, and what the lots
// it would sell next have cost. Gathered for those that ask (Strategy::cost_qty) and recorded with
// the decision.
#pragma once

#include <optional>

#include "account/rules/strategy_tally.h"
#include "base/json.h"

namespace interlock {

struct SymbolBook;

struct OwnTrades {
    // Empty when the strategy never traded on this market, or so long ago that it was forgotten.
    std::optional<StrategyTally> tally;
    // Per unit, of the oldest lots that the quantity asked for would take, or of all when fewer are
    // held; rounded up. Nothing while nothing is held.
    std::optional<Decimal> oldest_unit_cost;
    friend bool operator==(const OwnTrades&, const OwnTrades&) = default;
};
Json encode(const OwnTrades& trades);
Result<OwnTrades> decode_own_trades(const Json& json);

// `book` may be null: then nothing was ever traded or held.
OwnTrades gather_own_trades(
    const SymbolBook* book, const StrategyId& strategy_id, Decimal cost_qty);

}  // namespace interlock
