// The five gates (docs/contracts/agent-loop.md#gates): pure functions from facts and a plan to
// verdicts.
//
// Every gate always runs and reports every breach it sees, so a planner can correct a plan in one
// go. A fact that is missing fails closed (I5). No flag waives a gate (I3).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "account/wire/intent.h"
#include "account/wire/state_facts.h"
#include "base/json.h"
#include "market/wire/market_facts.h"

namespace interlock {

enum class Gate { risk_limits, runway_budget, exposure_leverage, market_sanity, policy_guardrails };
inline constexpr std::size_t kGateCount = 5;
std::string_view to_word(Gate gate);

// One reason why a gate says no; on the wire "gate:code:symbol" ("-" without a symbol).
struct Breach {
    Gate gate = Gate::policy_guardrails;
    std::string_view code;  // Stable; a constant. kBreachCodes lists all of them.
    Symbol symbol;          // Empty: concerns the whole plan.
    std::string extra;      // Behind the code, "duplicate_of=<decision>"; mostly empty.
    std::string detail;     // One sentence with both numbers, for people.
};
std::string to_text(const Breach& breach);

struct GateCheck {
    Gate gate = Gate::risk_limits;
    bool pass = false;
    std::string detail;  // "ok", "reduce_only_exempt", or the first breach's sentence.
};

struct GateReport {
    bool pass = false;
    std::array<GateCheck, kGateCount> checks;
    std::vector<Breach> breaches;
    std::vector<std::string> warnings;  // "thin_edge:BTCUSDT", …
};

struct GateInput {
    const StateFacts& state;
    const MarketSet& market;
    const Plan& plan;
    // What the caller gave; policy_guardrails wants all of them.
    const DecisionId& decision_id;
    const TickId& tick_id;
    bool has_idempotency_key = true;
    TradeMode wanted_mode = TradeMode::paper;
    bool from_outside = true;  // An outside planner: empty plans and duplicates are refused.
};

GateReport run_gates(const GateInput& input);

// The `validation` object of py_validate_plan.
Json encode(const GateReport& report);

// The estimated fill of one intent: price, fee and whether it takes. Shared with the dry run.
struct FillEstimate {
    Decimal price;
    Decimal notional;
    Decimal fee;
    bool is_maker = false;
};
struct FillAssumptions {
    Decimal slippage_bps;
    Decimal taker_fee_bps;
    Decimal maker_fee_bps;
};
Result<FillEstimate> estimate_fill(
    const Intent& intent, const MarketFacts& market, const FillAssumptions& assumptions);

}  // namespace interlock
