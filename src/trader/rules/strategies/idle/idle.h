// The strategy that never trades: what a concern runs when nothing else should, and what a new one
// can be watched with. It still reports how the account stands.
#pragma once

#include "trader/rules/config_fields.h"
#include "trader/rules/strategy.h"

namespace interlock {

struct IdleConfig {
    std::int64_t tick_seconds = 60;
    void describe(ConfigFields& fields);
};

Json idle_state_schema();
Result<std::shared_ptr<const Strategy>> open_idle(const Json& config);

inline constexpr StrategyType kIdleType{
    .name = "idle",
    .label = "Idle",
    .fit =
        {
            .expected_market_regime = "any",
            .avoided_market_regime = "none",
            .risk_profile = "none: it never places an order",
            .liquidity_expectation = "none",
            .event_risk_expectation = "safe through events",
            .volatility_expectation = "any",
        },
    .config_schema = config_schema<IdleConfig>,
    .state_schema = idle_state_schema,
    .open = open_idle,
};

}  // namespace interlock
