#include "account/rules/dust.h"

namespace interlock {

bool is_dust(Decimal position, const MarketFacts& market) {
    if (!position.is_positive()) {
        return false;
    }
    const MarketRules& rules = market.rules;
    const auto on_grid =
        rules.step_size.is_positive() ? floor_to_step(position, rules.step_size) : position;
    if (!on_grid || on_grid->is_zero() || *on_grid < rules.qty_min) {
        return true;
    }
    const auto mid = mid_of(market);
    const auto worth = mid ? multiply_round_up(*on_grid, *mid) : rules.notional_min;
    return worth && *worth < rules.notional_min;
}

bool is_negligible(Decimal cost, Decimal net_deposits) {
    constexpr Decimal kBpsPerOne(10'000);
    const auto scaled = multiply_round_up(cost, kBpsPerOne);
    return cost.is_positive() && scaled && *scaled <= net_deposits;
}

}  // namespace interlock
