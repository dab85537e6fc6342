// The five gates one by one, as run_gates() and the dry run call them. Each notes every breach it
// sees; a gate without notes has passed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "loop/rules/gates/breach_codes.h"
#include "loop/rules/gates/gates.h"
#include "loop/rules/gates/plan_scratch.h"

namespace interlock {

// Where one gate writes its breaches. The same reason for the same symbol is written once, however
// many intents share it.
class GateNotes {
public:
    GateNotes(Gate gate, std::vector<Breach>& breaches)
        : gate_(gate), breaches_(breaches), first_(breaches.size()) {}

    void add(std::string_view code, const Symbol& symbol, std::string detail);
    void add(std::string_view code, const Symbol& symbol, std::string detail, std::string extra);
    // For what concerns the whole plan.
    void add(std::string_view code, std::string detail) { add(code, {}, std::move(detail)); }
    void add_overflow(const Symbol& symbol);

    bool has_any() const { return breaches_.size() > first_; }
    // Of this gate; only when it has any.
    const Breach& first() const { return breaches_[first_]; }

private:
    Gate gate_;
    std::vector<Breach>& breaches_;  // Of the report under way; outlives the notes.
    std::size_t first_;
};

struct GateFacts {
    const StateFacts& state;
    const MarketSet& market;
    const PlanScratch& scratch;
};

void check_risk_limits(const GateFacts& facts, GateNotes& notes);
void check_runway_budget(const GateFacts& facts, GateNotes& notes);
void check_exposure_leverage(const GateFacts& facts, GateNotes& notes);
void check_market_sanity(const GateFacts& facts, GateNotes& notes);
void check_policy_guardrails(
    const GateInput& input,
    const PlanScratch& scratch,
    GateNotes& notes,
    std::vector<std::string>& warnings);

// The venue's filters on one order: a part of market_sanity.
void check_order_filters(
    const IntentScratch& intent, const SymbolScratch& symbol, GateNotes& notes);

// Intents without an estimate: their gate cannot judge and says no (I5).
void note_fill_problems(const PlanScratch& scratch, GateNotes& notes);

// "found X, the limit is Y": the sentence of a breach, from its parts.
std::string sentence(
    std::string_view what, Decimal found, std::string_view relation, Decimal limit);

}  // namespace interlock
