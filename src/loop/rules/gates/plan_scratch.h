// A plan applied in order to a scratch copy of the state (docs/contracts/agent-loop.md#gates): what
// the gates and the dry run judge. Nothing here says yes or no.
//
// Only what is certain frees anything: a buy of the plan adds no inventory to sell, a sell adds no
// cash and lowers no exposure, and a cancel releases nothing, because none of them has happened
// yet.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "loop/rules/gates/gates.h"

namespace interlock {

// Why no fill could be estimated.
enum class FillProblem { none, malformed, price_unknown, overflow };

struct SymbolScratch {
    Symbol symbol;
    const MarketFacts* market = nullptr;  // Null: nothing is known of it.
    const SymbolFacts* facts = nullptr;
    std::optional<Decimal> mid;
    Decimal sellable;       // Held less open sells less the plan's sells so far.
    Decimal buys_notional;  // Of the plan.
    std::int64_t orders = 0;
    std::optional<Decimal> best_own_bid;  // Open ones and the plan's that will rest.
    std::optional<Decimal> best_own_ask;
    bool has_buy = false;
    // Of the depth of the book, by the plan so far; only where the book is walked.
    Decimal asks_taken;
    Decimal bids_taken;
};

struct IntentScratch {
    const Intent* intent = nullptr;
    std::size_t symbol_at = 0;  // Into PlanScratch::symbols.
    const StrategyFacts* strategy = nullptr;
    FillProblem problem = FillProblem::none;
    FillEstimate estimate;  // Zeros when there is a problem.
    bool is_entry = true;
    bool crosses_own = false;
    // Of an order that must fill whole (market, FOK), where the book is walked: what of it is
    // there, and that this is not all.
    Decimal carried;
    bool is_too_thin = false;
    bool would_take = false;  // Post-only, at or through the far touch; likewise.
};

struct PlanScratch {
    std::vector<IntentScratch> intents;  // At most kIntentsMax; run_gates refuses longer plans.
    std::vector<SymbolScratch> symbols;  // In order of first use.
    bool has_entry = false;
    Decimal fees;     // Σ f, as far as estimates exist.
    Decimal losses;   // Σ min(g, 0): never positive.
    Decimal adverse;  // Σ q × adverse(p − mid).
    bool overflowed = false;

    bool is_reduce_only() const { return !has_entry; }
    const SymbolScratch& symbol_of(const IntentScratch& intent) const {
        return symbols[intent.symbol_at];
    }
};

struct ScratchInput {
    const StateFacts& state;
    const MarketSet& market;
    const Plan& plan;
    FillAssumptions assumptions;
    // The dry run's way: an order that takes is reckoned at what the depth of the book makes of it
    // instead of at the touch.
    bool walks_book = false;
};
PlanScratch apply_plan(const ScratchInput& input);

// The account's own assumptions.
FillAssumptions assumptions_of(const RiskLimits& limits);

// Quantity positive, limit price positive and set exactly for limit orders.
bool is_well_formed(const Intent& intent);

// A fill as estimate_fill() gives it, without building an Error on the way.
struct FillAssessment {
    FillProblem problem = FillProblem::none;
    FillEstimate estimate;
};
FillAssessment assess_fill(
    const Intent& intent, const MarketFacts& market, const FillAssumptions& assumptions);

}  // namespace interlock
