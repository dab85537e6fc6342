// The exposure protector: brings the base share of an account's value back towards a target, in
// small passive orders, so that both sides of a book can be funded again. docs/strategies has the
// rules.
#pragma once

#include "trader/rules/config_fields.h"
#include "trader/rules/strategy.h"

namespace interlock {

struct ProtectorConfig {
    std::int64_t tick_seconds = 60;
    Decimal trail_distance_pct = Decimal::from_units(5'000'000'000'000'000);
    // Below the 0.4 that a new account may hold of one market, or it would ask for the rest for
    // ever.
    Decimal rebalance_target_ratio = Decimal::from_units(300'000'000'000'000'000);
    Decimal rebalance_step_ratio = Decimal::from_units(150'000'000'000'000'000);
    std::int64_t min_rebalance_seconds = 180;
    Decimal min_price_move_pct = Decimal::from_units(5'000'000'000'000'000);
    Decimal min_order_notional_quote{10};
    Decimal max_order_notional_quote{500};
    std::int64_t cooldown_ticks = 2;
    Decimal balance_tolerance = Decimal::from_units(50'000'000'000'000'000);
    std::int64_t order_spacing_ticks = 0;
    Decimal fee_rate = Decimal::from_units(2'500'000'000'000'000);
    void describe(ConfigFields& fields);
};

Json protector_state_schema();
Result<std::shared_ptr<const Strategy>> open_exposure_protector(const Json& config);

inline constexpr StrategyType kExposureProtectorType{
    .name = "exposure_protector",
    .label = "Exposure protector",
    .fit =
        {
            .expected_market_regime = "any, while one side of the book cannot be funded",
            .avoided_market_regime = "a balanced account: it has nothing to do",
            .risk_profile = "low: small passive orders towards a target share",
            .liquidity_expectation = "tight spread, so that passive orders fill",
            .event_risk_expectation = "reduces what an event can cost",
            .volatility_expectation = "any; waits for a move to run out first",
        },
    .config_schema = config_schema<ProtectorConfig>,
    .state_schema = protector_state_schema,
    .open = open_exposure_protector,
};

}  // namespace interlock
