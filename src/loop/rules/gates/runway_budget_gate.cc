// Gate 2 (docs/contracts/agent-loop.md#runway-and-budget): whether the operating reserve still
// lasts and the rolling surplus holds once this plan has paid its fees.
#include "loop/rules/gates/gate_list.h"
#include "loop/rules/gates/reckoning.h"

namespace interlock {
namespace {

constexpr Decimal kLeastDailyCost = Decimal::from_units(1'000'000'000);  // 1e-9.
constexpr Decimal kRunwayWithoutCosts(36'500);

void check_runway(const GateFacts& facts, GateNotes& notes) {
    const StateFacts& state = facts.state;
    const RiskLimits& limits = state.limits;
    Reckoning reckon;
    Decimal cost = reckon.divide_up(facts.scratch.fees, Decimal(30));
    for (const Decimal part :
         {state.fees_mean_30d,
          state.accrual_mean_30d,
          state.other_costs_per_day,
          limits.infra_cost_per_day,
          limits.data_cost_per_day,
          limits.ops_cost_per_day}) {
        cost = reckon.add(cost, part);
    }
    if (reckon.overflowed()) {
        notes.add_overflow({});
        return;
    }
    const Decimal days_min = limits.hard_min_runway_days;
    if (cost.is_zero()) {
        if (kRunwayWithoutCosts < days_min) {
            notes.add(
                breach_codes::kRunway,
                sentence("runway days", kRunwayWithoutCosts, "must be at least", days_min));
        }
        return;
    }
    cost = std::max(cost, kLeastDailyCost);
    // reserve / cost >= days, multiplied out; rounded to the strict side.
    const Decimal needed = reckon.multiply_up(cost, days_min);
    if (reckon.overflowed()) {
        notes.add_overflow({});
    } else if (state.ops_reserve < needed) {
        notes.add(
            breach_codes::kRunway,
            sentence("the operating reserve", state.ops_reserve, "must be at least", needed) +
                " for " + to_text(days_min) + " days at " + to_text(cost) + " a day");
    }
}

void check_surplus(const GateFacts& facts, GateNotes& notes) {
    Reckoning reckon;
    const Decimal spent = reckon.subtract(facts.scratch.losses, facts.scratch.fees);
    const Decimal surplus = reckon.add(facts.state.rolling_surplus_30d, spent);
    const Decimal least = reckon.subtract(Decimal(), facts.state.limits.max_deficit);
    if (reckon.overflowed()) {
        notes.add_overflow({});
    } else if (surplus < least) {
        notes.add(
            breach_codes::kSurplus,
            sentence("the 30-day surplus would be", surplus, "and must be at least", least));
    }
}

}  // namespace

void check_runway_budget(const GateFacts& facts, GateNotes& notes) {
    note_fill_problems(facts.scratch, notes);
    check_runway(facts, notes);
    check_surplus(facts, notes);
}

}  // namespace interlock
