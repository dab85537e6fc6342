// S9's adjust loop: the same plan with smaller entries, if that is all it takes.
#include <array>

#include "core/dry_run/dry_run.h"
#include "core/gates/plan_scratch.h"

namespace interlock {
namespace {

constexpr __int128 kQuarter = 250'000'000'000'000'000;
// Largest first: the first that passes is the answer.
constexpr std::array<Decimal, kAdjustRoundsMax> kFactors{
    Decimal::from_units(3 * kQuarter),
    Decimal::from_units(2 * kQuarter),
    Decimal::from_units(kQuarter)};

// Nothing when a size cannot be scaled: no market to know the step of, or nothing left of it.
std::optional<Decimal> scaled_qty(
    const IntentScratch& intent, const MarketFacts* market, Decimal factor) {
    if (market == nullptr) {
        return std::nullopt;
    }
    const auto exact = multiply_round_down(intent.intent->qty, factor);
    if (!exact) {
        return std::nullopt;
    }
    const Decimal step = market->rules.step_size;
    const auto qty = step.is_positive() ? floor_to_step(*exact, step) : exact;
    return qty && qty->is_positive() ? std::optional(*qty) : std::nullopt;
}

std::optional<Plan> scaled_plan(const Plan& plan, const PlanScratch& scratch, Decimal factor) {
    Plan scaled = plan;
    for (std::size_t i = 0; i < scratch.intents.size(); ++i) {
        const IntentScratch& intent = scratch.intents[i];
        if (!intent.is_entry) {
            continue;
        }
        const auto qty = scaled_qty(intent, scratch.symbol_of(intent).market, factor);
        if (!qty) {
            return std::nullopt;
        }
        scaled.intents[i].qty = *qty;
        scaled.intents[i].order_client_id = {};  // Derived from the quantity, so no longer its own.
    }
    return scaled;
}

bool passes(const DryRunInput& input, const GateInput& gates, const Plan& plan) {
    const GateInput smaller{
        .state = gates.state,
        .market = gates.market,
        .plan = plan,
        .decision_id = gates.decision_id,
        .tick_id = gates.tick_id,
        .has_idempotency_key = gates.has_idempotency_key,
        .wanted_mode = gates.wanted_mode,
        .from_outside = gates.from_outside,
    };
    if (!run_gates(smaller).pass) {
        return false;
    }
    return run_dry_run({.state = input.state,
                        .market = input.market,
                        .plan = plan,
                        .slippage_bps = input.slippage_bps,
                        .fee_bps = input.fee_bps,
                        .conflicts = {}})
        .pass;
}

}  // namespace

Adjustment adjust_plan(const DryRunInput& input, const GateInput& gates) {
    Adjustment adjustment;
    if (!input.conflicts.empty() || input.plan.intents.size() > kIntentsMax) {
        return adjustment;
    }
    const PlanScratch scratch = apply_plan(
        {.state = input.state,
         .market = input.market,
         .plan = input.plan,
         .assumptions = assumptions_of(input.state.limits)});
    if (scratch.is_reduce_only()) {
        return adjustment;  // There is no entry to make smaller.
    }
    for (const Decimal factor : kFactors) {
        ++adjustment.rounds;
        auto plan = scaled_plan(input.plan, scratch, factor);
        if (plan && passes(input, gates, *plan)) {
            adjustment.plan = std::move(plan);
            return adjustment;
        }
    }
    return adjustment;
}

}  // namespace interlock
