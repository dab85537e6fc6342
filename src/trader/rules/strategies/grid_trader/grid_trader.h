// The grid: post-only buys below and sells above the price on lines one step apart, so that a price
// that wanders to and fro sells each time one step above where it bought. docs/strategies has the
// maths.
#pragma once

#include "trader/rules/config_fields.h"
#include "trader/rules/strategy.h"

namespace interlock {

inline constexpr std::int64_t kGridLevelsMax = 20;  // A side.

enum class TradeSides { both, buy, sell };

struct GridConfig {
    std::int64_t tick_seconds = 60;
    std::int64_t grid_levels = 6;
    Decimal grid_step_pct = Decimal::from_units(12'000'000'000'000'000);
    Timeframe volatility_timeframe = Timeframe::h1;
    Decimal volatility_multiplier = Decimal::from_units(500'000'000'000'000'000);
    Decimal grid_step_min_pct = Decimal::from_units(5'000'000'000'000'000);
    Decimal grid_step_max_pct = Decimal::from_units(30'000'000'000'000'000);
    Decimal step_change_min = Decimal::from_units(250'000'000'000'000'000);
    Decimal recentre_pct = Decimal::from_units(60'000'000'000'000'000);
    Decimal order_notional_quote{100};
    Decimal max_inventory_share = Decimal::from_units(700'000'000'000'000'000);
    TradeSides trade_sides = TradeSides::both;
    Decimal fee_rate = Decimal::from_units(2'500'000'000'000'000);
    Decimal fee_margin_pct = Decimal::from_units(500'000'000'000'000);
    void describe(ConfigFields& fields);
};

// The step of a grid, a fraction of its anchor.
struct GridStepFacts {
    std::optional<Decimal> atr_pct;
    RiskPosture posture = RiskPosture::balanced;
    RiskMode risk_mode = RiskMode::normal;
};
Result<Decimal> grid_step_of(const GridConfig& config, const GridStepFacts& facts);

Json grid_state_schema();
Result<std::shared_ptr<const Strategy>> open_grid_trader(const Json& config);

inline constexpr StrategyType kGridTraderType{
    .name = "grid_trader",
    .label = "Grid trader",
    .fit =
        {
            .expected_market_regime = "sideways, two-way noise with pullbacks beyond a grid step",
            .avoided_market_regime = "persistent trend with pullbacks smaller than a grid step",
            .risk_profile = "moderate: inventory grows against the move, bounded by its share",
            .liquidity_expectation = "tight spread, steady two-sided flow",
            .event_risk_expectation = "avoid scheduled events",
            .volatility_expectation = "normal; low earns little, high runs through the grid",
        },
    .config_schema = config_schema<GridConfig>,
    .state_schema = grid_state_schema,
    .open = open_grid_trader,
};

}  // namespace interlock
