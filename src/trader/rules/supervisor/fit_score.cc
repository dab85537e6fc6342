// How well each type of strategy suits the market, as docs/supervisor.md states it.
#include "trader/rules/supervisor/roles.h"
#include "trader/rules/supervisor/selector.h"

namespace interlock {
namespace {

constexpr Decimal kIdleFit = percent(25);

Decimal grid_fit(const MarketNarrative& market, const CandidateFacts& of, Decimal pullbacks) {
    const Decimal calm = rest_of(size_of(market.consensus));
    const Decimal base = sum_of(part_of(calm, 60), part_of(pullbacks, 40));
    return of.capacity_available.value_or(true) ? base : part_of(base, 50);
}

Decimal trend_fit(const MarketNarrative& market, const CandidateFacts& of, Decimal pullbacks) {
    const bool is_short = of.trade_side == kShortSide;
    const bool with_it = is_short ? market.consensus.is_negative() : market.consensus.is_positive();
    if (!with_it) {
        return {};
    }
    const Decimal base =
        sum_of(part_of(size_of(market.consensus), 70), part_of(rest_of(pullbacks), 30));
    const auto& funds = is_short ? of.sell_capacity : of.buy_capacity;
    return funds && !funds->is_positive() ? part_of(base, 50) : base;
}

Decimal protector_fit(const SupervisorFacts& facts, const CandidateFacts& of) {
    const CandidateFacts* grid = reference_grid(facts);
    const auto& pressure =
        of.inventory_pressure || grid == nullptr ? of.inventory_pressure : grid->inventory_pressure;
    const Decimal pressed = clamp_share(size_of(pressure.value_or(Decimal())));
    const bool is_needed = both_sides_funded(facts) == false;
    return sum_of(part_of(pressed, 50), is_needed ? percent(50) : Decimal());
}

}  // namespace

Role role_of(const CandidateFacts& candidate) {
    const std::string& type = candidate.strategy_type;
    return type == "grid_trader"          ? Role::grid
           : type == "trend_follower"     ? Role::trend
           : type == "exposure_protector" ? Role::protector
           : type == "idle"               ? Role::idle
                                          : Role::none;
}

std::string exclusion_of(const SupervisorFacts& facts, const CandidateFacts& candidate) {
    if (candidate.concern_id != facts.concern_id) {
        return "other_concern";
    }
    if (facts.active_strategy_id == candidate.strategy_id) {
        return "active";
    }
    if (role_of(candidate) == Role::none) {
        return "unknown_type";
    }
    if (candidate.is_latched) {
        return "latched";
    }
    if (candidate.paused) {
        return "paused";
    }
    return candidate.problem.empty() ? "" : "not_runnable";
}

const CandidateFacts* reference_grid(const SupervisorFacts& facts) {
    const CandidateFacts* active = facts.active();
    if (active != nullptr && role_of(*active) == Role::grid) {
        return active;
    }
    for (const CandidateFacts& candidate : facts.candidates) {
        if (role_of(candidate) == Role::grid && exclusion_of(facts, candidate).empty()) {
            return &candidate;
        }
    }
    return nullptr;
}

std::optional<bool> both_sides_funded(const SupervisorFacts& facts) {
    if (facts.risk_mode >= RiskMode::reduce_only) {
        return std::nullopt;  // Entries are stopped: what could be funded does not show.
    }
    const CandidateFacts* asked = reference_grid(facts);
    if (asked == nullptr) {
        asked = facts.active();
    }
    return asked == nullptr ? std::nullopt : asked->capacity_available;
}

Decimal pullback_share(const SupervisorFacts& facts, const MarketNarrative& narrative) {
    const CandidateFacts* grid = reference_grid(facts);
    const auto deepest = narrative.deepest_pullback();
    if (grid == nullptr || !grid->grid_step_pct || !deepest) {
        return percent(50);
    }
    const auto twice = add(*grid->grid_step_pct, *grid->grid_step_pct);
    return twice ? clamp_share(share_of(*deepest, *twice)) : Decimal();
}

Decimal fit_of(
    const SupervisorFacts& facts, const MarketNarrative& narrative, const CandidateFacts& of) {
    const Decimal pullbacks = pullback_share(facts, narrative);
    const bool is_wild = narrative.regime == MarketRegime::wild;
    const auto tempered = [is_wild](Decimal fit) { return told(is_wild ? part_of(fit, 50) : fit); };
    switch (role_of(of)) {
        case Role::grid:
            return tempered(grid_fit(narrative, of, pullbacks));
        case Role::trend:
            return tempered(trend_fit(narrative, of, pullbacks));
        case Role::protector:
            return told(protector_fit(facts, of));
        case Role::idle:
            return kIdleFit;
        case Role::none:
            break;
    }
    return {};
}

}  // namespace interlock
