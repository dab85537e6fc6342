// A built-in planner: quotes a few post-only orders around the market, buys below and sells above
// what is held. A pure function of the recorded facts, so a replay plans the same bytes (I9).
//
// It scales its sizes by the account's size factor before it plans, as S7 wants of built-in
// planners, and plans nothing while entries are halted except what reduces.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "contracts/loop/intent.h"
#include "contracts/loop/state_facts.h"
#include "contracts/market/market_facts.h"

namespace interlock {

inline constexpr std::int64_t kMakerLevelsMax = 10;

struct MakerSettings {
    StrategyId strategy_id;
    Symbol symbol;
    Decimal order_quote;      // Value of one order, in quote.
    Decimal step_bps;         // Distance of the first level from mid, and between levels.
    std::int64_t levels = 1;  // Per side.
    friend bool operator==(const MakerSettings&, const MakerSettings&) = default;
};
Json encode(const MakerSettings& settings);
Result<MakerSettings> decode_maker_settings(const Json& json);

// What one decision of a tick carries: one side at a time, so that reductions keep their exemption
// from the gates that stop entries (S7, S15).
enum class PlanPart { cancels, sells, buys };
std::string_view to_word(PlanPart part);
Plan part_of(const Plan& plan, PlanPart part);

// The plan of a recorded decision again, from its `planner_input` and facts.
Json planner_input(const MakerSettings& settings, PlanPart part);
Result<Plan> replan(const Json& planner_input, const StateFacts& state, const MarketSet& market);

// Orders that differ from the wanted ones by more than a tenth of a step are cancelled, missing
// ones are planned. An empty plan: nothing to change. An Error: a fact is missing; then nothing is
// planned (I5).
Result<Plan> plan_maker(
    const MakerSettings& settings, const StateFacts& state, const MarketSet& market);

}  // namespace interlock
