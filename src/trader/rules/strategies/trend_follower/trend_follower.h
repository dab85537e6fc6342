// The trend follower: buys with an upward trend in steps and sells everything when the trend ends,
// turns, or falls back too far from its top. As `short` it sells what is held into a downward
// trend; on a spot market it never sells more than that. docs/strategies has the rules.
#pragma once

#include "trader/rules/config_fields.h"
#include "trader/rules/strategy.h"

namespace interlock {

enum class TrendSide { long_only, short_only };

struct TrendConfig {
    std::int64_t tick_seconds = 60;
    Timeframe trend_timeframe = Timeframe::m15;
    Decimal trend_strength_min = Decimal::from_units(500'000'000'000'000'000);
    Decimal entry_offset_pct = Decimal::from_units(1'000'000'000'000'000);
    Decimal exit_offset_pct = Decimal::from_units(1'000'000'000'000'000);
    Decimal order_size{100};
    std::int64_t cooldown_ticks = 3;
    TrendSide trade_side = TrendSide::long_only;
    Decimal trailing_stop_pct;
    Decimal max_inventory_share = Decimal::from_units(500'000'000'000'000'000);
    Decimal fee_rate = Decimal::from_units(2'500'000'000'000'000);
    void describe(ConfigFields& fields);
};

Json trend_state_schema();
Result<std::shared_ptr<const Strategy>> open_trend_follower(const Json& config);

inline constexpr StrategyType kTrendFollowerType{
    .name = "trend_follower",
    .label = "Trend follower",
    .fit =
        {
            .expected_market_regime = "persistent directional move with small pullbacks",
            .avoided_market_regime = "sideways, whipsaw",
            .risk_profile = "directional: small losses often, large gains seldom",
            .liquidity_expectation = "depth enough to leave at once when the trend turns",
            .event_risk_expectation = "tolerates events that start a trend, not gaps against it",
            .volatility_expectation = "normal to high in the direction of the trend",
        },
    .config_schema = config_schema<TrendConfig>,
    .state_schema = trend_state_schema,
    .open = open_trend_follower,
};

}  // namespace interlock
