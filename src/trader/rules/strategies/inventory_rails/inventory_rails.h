// The maker engine of the bots (docs/strategies/inventory_rails.md): post-only levels on both sides
// of its last fill, as far apart as a profit threshold and the width of the Bollinger bands say,
// while its inventory stays between rails. docs/strategies/inventory_rails.md has the maths.
#pragma once

#include "trader/rules/config_fields.h"
#include "trader/rules/strategy.h"

namespace interlock {

inline constexpr std::int64_t kRailsLevelsMax = 20;  // A side.
// Post-only refusals in a row are answered so often by going a tick further away; then the side
// waits until they are no longer in a row (kRefusalGapMax).
inline constexpr std::int64_t kRepricesMax = 3;

struct RailsConfig {
    std::int64_t tick_seconds = 10;
    Decimal amount;  // A, base units; zero quotes nothing.
    Decimal pnl_perc{1};
    Timeframe timeframe = Timeframe::h1;
    Decimal tight_quantile = Decimal::from_units(200'000'000'000'000'000);
    Decimal volatility{1};
    std::int64_t num_bids_ask = 3;
    PriceStop stop_buy;
    PriceStop stop_sell;
    Decimal fee_rate = Decimal::from_units(1'000'000'000'000'000);  // Of a maker.
    void describe(ConfigFields& fields);
    // d0 = pnl_perc / 100.
    Decimal base_step() const { return Decimal::from_units(pnl_perc.units() / 100); }
};

Json rails_state_schema();
Result<std::shared_ptr<const Strategy>> open_inventory_rails(const Json& config);

inline constexpr StrategyType kInventoryRailsType{
    .name = "inventory_rails",
    .label = "Inventory rails maker",
    .fit =
        {
            .expected_market_regime = "two-way trade around a level, spreads that pay a maker",
            .avoided_market_regime = "persistent trend away from the last fill",
            .risk_profile = "moderate: inventory between none and twice its budget",
            .liquidity_expectation = "steady two-sided flow that reaches resting orders",
            .event_risk_expectation = "avoid scheduled events",
            .volatility_expectation = "any; levels widen with the bands",
        },
    .config_schema = config_schema<RailsConfig>,
    .state_schema = rails_state_schema,
    .open = open_inventory_rails,
};

}  // namespace interlock
