#include "trader/rules/strategies/inventory_rails/rails_prices.h"

#include <algorithm>

#include "base/errors.h"
#include "loop/rules/gates/reckoning.h"

namespace interlock {
namespace {

constexpr Decimal kOne{1};
constexpr Decimal kWideningMax{4};
constexpr Decimal kDefensiveStep = Decimal::from_units(1'500'000'000'000'000'000);

template <class T>
Result<T> checked(const Reckoning& reckon, T value) {
    if (reckon.overflowed()) {
        return fail(errors::out_of_range, "A price is too large to reckon with.");
    }
    return value;
}

// d × count; both are small.
Decimal times(Decimal value, std::int64_t count, Reckoning& reckon) {
    return reckon.multiply_up(value, Decimal(count));
}

}  // namespace

Result<Decimal> widening_of(const TimeframeSignals* signals) {
    if (signals == nullptr || !signals->bollinger_bandwidth || !signals->bandwidth_quantile ||
        !signals->bandwidth_quantile->is_positive() ||
        *signals->bollinger_bandwidth <= *signals->bandwidth_quantile) {
        return kOne;
    }
    Reckoning reckon;
    const Decimal wide =
        reckon.divide_up(*signals->bollinger_bandwidth, *signals->bandwidth_quantile);
    // What no decimal holds is wider than the bound.
    return reckon.overflowed() ? kWideningMax : std::clamp(wide, kOne, kWideningMax);
}

Result<Decimal> rails_step_of(const RailsConfig& config, Decimal widening, RiskMode risk_mode) {
    Reckoning reckon;
    const Decimal gain = reckon.multiply_up(config.volatility, reckon.subtract(widening, kOne));
    Decimal step = reckon.multiply_up(config.base_step(), reckon.add(kOne, gain));
    if (risk_mode == RiskMode::defensive) {
        step = reckon.multiply_up(step, kDefensiveStep);
    }
    return checked(reckon, step);
}

Result<Decimal> ask_floor_of(Decimal unit_cost, Decimal base_step, Decimal maker_fee) {
    Reckoning reckon;
    const Decimal both_fees = reckon.add(maker_fee, maker_fee);
    const Decimal factor = reckon.add(kOne, reckon.add(base_step, both_fees));
    return checked(reckon, reckon.multiply_up(unit_cost, factor));
}

Result<std::vector<Decimal>> bid_ladder(const LadderFacts& facts) {
    Reckoning reckon;
    const Decimal below = reckon.multiply_down(facts.reference, reckon.subtract(kOne, facts.step));
    const Decimal first = std::min(below, facts.best_bid);
    const Decimal off = times(facts.tick_size, facts.ticks_off, reckon);
    std::vector<Decimal> prices;
    for (std::int64_t level = 0; level < facts.levels; ++level) {
        const Decimal share = reckon.subtract(kOne, times(facts.step, level, reckon));
        Decimal price = reckon.subtract(reckon.multiply_down(first, share), off);
        if (!price.is_positive() || reckon.overflowed()) {
            break;
        }
        if (facts.tick_size.is_positive()) {
            price = floor_to_step(price, facts.tick_size).value_or(Decimal());
        }
        if (!prices.empty()) {
            price = std::min(price, reckon.subtract(prices.back(), facts.tick_size));
        }
        if (!price.is_positive() || (!prices.empty() && price >= prices.back())) {
            break;
        }
        prices.push_back(price);
    }
    return checked(reckon, std::move(prices));
}

Result<std::vector<Decimal>> ask_ladder(const LadderFacts& facts) {
    Reckoning reckon;
    const Decimal above = reckon.multiply_up(facts.reference, reckon.add(kOne, facts.step));
    const Decimal first = std::max({above, facts.best_ask, facts.ask_floor.value_or(Decimal())});
    const Decimal off = times(facts.tick_size, facts.ticks_off, reckon);
    std::vector<Decimal> prices;
    for (std::int64_t level = 0; level < facts.levels; ++level) {
        const Decimal share = reckon.add(kOne, times(facts.step, level, reckon));
        Decimal price = reckon.add(reckon.multiply_up(first, share), off);
        if (facts.tick_size.is_positive()) {
            const auto on_tick = ceil_to_step(price, facts.tick_size);
            if (!on_tick) {
                break;
            }
            price = *on_tick;
        }
        if (!prices.empty()) {
            price = std::max(price, reckon.add(prices.back(), facts.tick_size));
        }
        if (!prices.empty() && price <= prices.back()) {
            break;
        }
        prices.push_back(price);
    }
    return checked(reckon, std::move(prices));
}

}  // namespace interlock
