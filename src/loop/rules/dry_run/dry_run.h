// The dry run (docs/contracts/agent-loop.md#dry-run): what a gated plan would cost and leave
// behind, and whether its order ids are free. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "loop/rules/gates/gates.h"

namespace interlock {

struct DryRunInput {
    const StateFacts& state;
    const MarketSet& market;
    const Plan& plan;
    // As the caller assumes; floored at the account's own values. Negative ones are refused before.
    Decimal slippage_bps;
    Decimal fee_bps;
    // Derived ids of these intents that the order ledger holds already (in any state with other
    // content, or live), in intent order.
    std::vector<OrderClientId> conflicts;
};

struct Projection {
    Symbol symbol;
    Decimal est_fill_price;
    Decimal est_fee;
    Decimal est_pnl_impact;
    // Of the symbol, after this intent and those before it: what is held at mid, open buys at their
    // limit, the plan's buys at their estimate. The limits are checked without the plan's sells.
    Decimal post_trade_exposure;
};

struct DryRunReport {
    bool pass = false;
    std::vector<Projection> projected;  // One per intent, in order; zeros without a price.
    std::vector<OrderClientId> idempotency_conflicts;
    std::vector<std::string> blocking_reasons;
};

DryRunReport run_dry_run(const DryRunInput& input);
Json encode(const DryRunReport& report);

// The adjust loop: the plan with every entry scaled by the largest of 0.75, 0.5, 0.25 that passes
// gates and dry run; nothing when none does. Where the book carries less than an order, entry or
// reduction, that order is cut to what it carries first, and the factors are 1, 0.75 and 0.5.
// `rounds` says how many were tried. Sizes are rounded down to the step. Neither an id conflict nor
// a post-only order that would take is cured by size: then no round is tried. The smaller plan has
// other order ids, so it goes through validation and dry run again with fresh conflicts.
inline constexpr int kAdjustRoundsMax = 3;
struct Adjustment {
    std::optional<Plan> plan;
    int rounds = 0;
};
Adjustment adjust_plan(const DryRunInput& input, const GateInput& gates);

// The strategies that an outside planner may name in an intent. Throttled ones may only reduce, so
// they stand here when there is no other: nobody loses the way out.
std::vector<StrategyId> planner_strategies(const StateFacts& state);

// The allowed envelope: the largest size per symbol and side that would pass gates and dry run now,
// as a market order of the first of these strategies. One step more fails. A limit order that is no
// more aggressive than the touch costs less and passes at the same size.
struct Envelope {
    Symbol symbol;
    Side side = Side::buy;
    Decimal max_qty;  // 0: nothing passes on this side.
    Decimal max_notional;
    std::vector<std::string> blocked_by;  // When 0: the reasons.
};
std::vector<Envelope> allowed_envelope(const StateFacts& state, const MarketSet& market);
Json encode(const Envelope& envelope);
// The grid that sizes are searched on: the venue's step, or a hundred-millionth where it has none.
Decimal envelope_step(const MarketRules& rules);

}  // namespace interlock
