// What one strategy's own orders on one market came to: its net trade, its last fill, and how often
// in a row the venue refused its post-only orders. Strategies get it as a fact (trader/rules), so
// that none has to guess from balances what was its own doing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "account/wire/intent.h"
#include "base/decimal.h"
#include "base/json.h"
#include "base/time.h"
#include "engine/wire/ids.h"

namespace interlock {

// Strategies of one market that are remembered.
inline constexpr std::size_t kStrategyTalliesMax = 16;
// Refusals further apart than this are not in a row.
inline constexpr Duration kRefusalGapMax = Duration::of_minutes(1);

struct LastFill {
    Decimal price;
    Side side = Side::buy;
    std::int64_t trade_id = 0;
    Timestamp at;
    friend bool operator==(const LastFill&, const LastFill&) = default;
};

// Plans of one side in a row of which the venue refused a post-only order as a taker. The orders of
// one plan count once.
struct RefusalRun {
    std::int64_t count = 0;
    Timestamp planned_at;  // Of the latest.
    friend bool operator==(const RefusalRun&, const RefusalRun&) = default;
};

struct StrategyTally {
    StrategyId strategy_id;
    Decimal net_qty = {};  // Base bought less base sold, fees in base counted.
    std::optional<LastFill> last_fill = std::nullopt;
    RefusalRun buy_refusals = {};
    RefusalRun sell_refusals = {};
    friend bool operator==(const StrategyTally&, const StrategyTally&) = default;
};

// In a list that ascends by strategy.
const StrategyTally* find_tally(
    const std::vector<StrategyTally>& tallies, const StrategyId& strategy_id);
StrategyTally* find_tally(std::vector<StrategyTally>& tallies, const StrategyId& strategy_id);
// The one there is, or a new one in its place.
StrategyTally& tally_for(std::vector<StrategyTally>& tallies, const StrategyId& strategy_id);
Decimal net_qty_of(const std::vector<StrategyTally>& tallies, const StrategyId& strategy_id);

// A trade that is told late does not replace a later one as the last.
void note_traded(StrategyTally& tally, Decimal net_qty, const LastFill& fill);
void note_refused(StrategyTally& tally, Side side, Timestamp planned_at);
// An order of an earlier plan than the refused one proves nothing.
void note_taken(StrategyTally& tally, Side side, Timestamp planned_at);

Json encode(const StrategyTally& tally);
Result<StrategyTally> decode_strategy_tally(const Json& json);

}  // namespace interlock
