// The adjust loop (agent-loop.md#dry-run): the same plan with smaller entries, if that is all it
// takes.
#include <algorithm>
#include <array>

#include "loop/rules/dry_run/dry_run.h"
#include "loop/rules/gates/plan_scratch.h"

namespace interlock {
namespace {

constexpr __int128 kQuarter = 250'000'000'000'000'000;
// Largest first: the first that passes is the answer. The whole is tried of plans that were cut.
constexpr std::array<Decimal, kAdjustRoundsMax + 1> kFactors{
    Decimal(1),
    Decimal::from_units(3 * kQuarter),
    Decimal::from_units(2 * kQuarter),
    Decimal::from_units(kQuarter)};

// The quantity on the market's grid; nothing when nothing is left of it, or when there is no market
// to know the step of.
std::optional<Decimal> on_grid(Decimal exact, const MarketFacts* market) {
    if (market == nullptr) {
        return std::nullopt;
    }
    const Decimal step = market->rules.step_size;
    const auto qty = step.is_positive() ? floor_to_step(exact, step) : exact;
    return qty && qty->is_positive() ? std::optional(*qty) : std::nullopt;
}

void resize(Intent& intent, Decimal qty) {
    if (intent.qty != qty) {
        intent.qty = qty;
        intent.order_client_id = {};  // Derived from the quantity, so no longer its own.
    }
}

// The plan as far as the book carries it.
std::optional<Plan> carried_plan(const Plan& plan, const PlanScratch& scratch) {
    Plan carried = plan;
    for (std::size_t i = 0; i < scratch.intents.size(); ++i) {
        const IntentScratch& intent = scratch.intents[i];
        if (!intent.is_too_thin) {
            continue;
        }
        const auto qty = on_grid(intent.carried, scratch.symbol_of(intent).market);
        if (!qty) {
            return std::nullopt;
        }
        resize(carried.intents[i], *qty);
    }
    return carried;
}

std::optional<Plan> scaled_plan(const Plan& plan, const PlanScratch& scratch, Decimal factor) {
    Plan scaled = plan;
    for (std::size_t i = 0; i < scratch.intents.size(); ++i) {
        const IntentScratch& intent = scratch.intents[i];
        if (!intent.is_entry) {
            continue;
        }
        const auto exact = multiply_round_down(scaled.intents[i].qty, factor);
        const auto qty =
            exact ? on_grid(*exact, scratch.symbol_of(intent).market) : std::optional<Decimal>();
        if (!qty) {
            return std::nullopt;
        }
        resize(scaled.intents[i], *qty);
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
         .assumptions = assumptions_of(input.state.limits),
         .walks_book = true});
    const auto has = [&](bool IntentScratch::* flag) {
        return std::any_of(
            scratch.intents.begin(), scratch.intents.end(), [&](const IntentScratch& intent) {
                return intent.*flag;
            });
    };
    const bool is_cut = has(&IntentScratch::is_too_thin);
    const auto carried = carried_plan(input.plan, scratch);
    // Without an entry there is nothing to make smaller but for what the book does not carry.
    const int rounds_max = !scratch.is_reduce_only() ? kAdjustRoundsMax : is_cut ? 1 : 0;
    if (has(&IntentScratch::would_take) || !carried) {
        return adjustment;
    }
    while (adjustment.rounds < rounds_max) {
        const int round = adjustment.rounds++;
        const Decimal factor = kFactors[static_cast<std::size_t>(is_cut ? round : round + 1)];
        auto plan = scaled_plan(*carried, scratch, factor);
        if (plan && passes(input, gates, *plan)) {
            adjustment.plan = std::move(plan);
            return adjustment;
        }
    }
    return adjustment;
}

}  // namespace interlock
