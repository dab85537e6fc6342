// The dry run (seed 002 §2.2 D, SEMANTICS S9): what a gated plan would cost and leave behind, and
// whether its order ids are free. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "core/gates/gates.h"

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
    Decimal post_trade_exposure;
};

struct DryRunReport {
    bool pass = false;
    std::vector<Projection> projected;  // One per intent, in order.
    std::vector<OrderClientId> idempotency_conflicts;
    std::vector<std::string> blocking_reasons;
};

DryRunReport run_dry_run(const DryRunInput& input);
Json encode(const DryRunReport& report);

// S9's adjust loop: the plan with every entry scaled by the largest of 0.75, 0.5, 0.25 that passes
// gates and dry run; nothing when none does. `rounds` says how many were tried.
struct Adjustment {
    std::optional<Plan> plan;
    int rounds = 0;
};
Adjustment adjust_plan(const DryRunInput& input, const GateInput& gates);

// The allowed envelope: the largest size per symbol and side that would pass now (S7).
struct Envelope {
    Symbol symbol;
    Side side = Side::buy;
    Decimal max_qty;  // 0: nothing passes on this side.
    Decimal max_notional;
    std::vector<std::string> blocked_by;  // When 0: the reasons.
};
std::vector<Envelope> allowed_envelope(const StateFacts& state, const MarketSet& market);
Json encode(const Envelope& envelope);

}  // namespace interlock
