// The selector: which strategy of a concern fits the market, and whether anything should change. A
// pure function of the facts; it never says "buy". What it wants to change it can only ask for as a
// control decision, like any agent.
//
// docs/supervisor.md has the formulas and the order of the rules.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trader/rules/supervisor/market_narrative.h"
#include "trader/wire/control_decision.h"

namespace interlock {

// Told in every record. Raise it when the same facts may lead to another decision.
inline constexpr std::string_view kSelectorVersion = "hermes.v1";
// How much better than the active strategy a target must fit.
inline constexpr Decimal kFitMargin = percent(10);
// The active strategy is paused when nothing fits a trend and it fits less than this.
inline constexpr Decimal kFitPause = percent(45);

struct FitScore {
    StrategyId strategy_id;
    std::string strategy_type;
    Decimal fit;           // 0 to 1, four decimals.
    std::string excluded;  // Why it cannot be switched to; empty: it can.
};

enum class SupervisorAction { keep, switch_strategy, pause, resume, set_risk_mode };
std::string_view to_word(SupervisorAction action);

struct SupervisorDecision {
    SupervisorAction action = SupervisorAction::keep;
    std::string rule;  // Which rule spoke: "trend_takes_over", "minimum_hold", …
    std::string reason;
    Decimal confidence;                // 0 to 1, four decimals; of a keep, of what was not done.
    std::optional<StrategyId> target;  // Of a switch.
    std::optional<RiskMode> risk_mode;
    MarketNarrative narrative;
    std::vector<FitScore> fits;  // Of every candidate, ascending by id.
};
Json encode(const SupervisorDecision& decision);

SupervisorDecision supervise(const SupervisorFacts& facts);

// Fit of one candidate, whether or not it may be chosen.
Decimal fit_of(
    const SupervisorFacts& facts, const MarketNarrative& narrative, const CandidateFacts& of);

// What the next round remembers. `is_applied`: the decision was dispatched and applied.
SupervisorMemory remember(
    const SupervisorFacts& facts, const SupervisorDecision& decision, bool is_applied);

// What an agent would send for it; CHECKs that it is no keep.
Json control_payload(
    const SupervisorFacts& facts, const SupervisorDecision& decision, const DecisionId& id);

}  // namespace interlock
