// Facts for tests of the supervisor: a concern with four strategies, and signals of any market.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trader/rules/supervisor/selector.h"

namespace interlock {

inline Decimal supervised(std::string_view text) {
    return Decimal::parse(text).value();
}

inline CandidateFacts candidate_of(std::string id, std::string type) {
    CandidateFacts candidate;
    candidate.strategy_id = StrategyId::trusted(std::move(id));
    candidate.strategy_type = std::move(type);
    candidate.concern_id = ConcernId::trusted("main:abcusdt");
    candidate.mode = InstanceMode::observe;
    candidate.status = "observing";
    candidate.inventory_pressure = Decimal();
    candidate.capacity_available = true;
    candidate.buy_capacity = Decimal(1000);
    candidate.sell_capacity = Decimal(1000);
    candidate.rebalance_needed = false;
    if (candidate.strategy_type == "grid_trader") {
        candidate.grid_step_pct = supervised("0.01");
    }
    return candidate;
}

struct Shape {
    std::string_view strength = "0";
    std::string_view efficiency = "0.1";
    std::string_view pullback = "0.02";
    VolatilityRegime volatility = VolatilityRegime::normal;
};

inline constexpr Shape kRangeShape{"0.2", "0.1", "0.02"};
inline constexpr Shape kRiseShape{"3", "0.8", "0.001"};
inline constexpr Shape kFallShape{"-3", "0.8", "0.001"};

// The grid is active since an hour; `trend` follows rises, `short` falls.
class SupervisorWorld {
public:
    SupervisorWorld() {
        facts.concern_id = ConcernId::trusted("main:abcusdt");
        facts.account_id = AccountId::trusted("main");
        facts.symbol = Symbol::parse("ABCUSDT").value();
        facts.now = Timestamp{1'794'744'000'000'000};
        facts.candidates = {
            candidate_of("grid", "grid_trader"),
            candidate_of("idle", "idle"),
            candidate_of("protector", "exposure_protector"),
            candidate_of("short", "trend_follower"),
            candidate_of("trend", "trend_follower"),
        };
        at("short").trade_side = "short";
        at("trend").trade_side = "long";
        activate("grid");
        market(kRangeShape);
    }

    CandidateFacts& at(std::string_view id) {
        for (CandidateFacts& candidate : facts.candidates) {
            if (candidate.strategy_id.text() == id) {
                return candidate;
            }
        }
        return facts.candidates.front();
    }
    void activate(std::string_view id, Duration since = Duration::of_hours(1)) {
        for (CandidateFacts& candidate : facts.candidates) {
            candidate.mode = InstanceMode::observe;
        }
        at(id).mode = InstanceMode::active;
        facts.active_strategy_id = at(id).strategy_id;
        facts.active_since = facts.now - since;
    }
    void remove(std::string_view id) {
        std::erase_if(facts.candidates, [id](const CandidateFacts& candidate) {
            return candidate.strategy_id.text() == id;
        });
    }
    void market(const Shape& shape) {
        facts.signals.list.clear();
        for (const Timeframe timeframe : kSupervisedTimeframes) {
            facts.signals.list.push_back(signals_of(timeframe, shape));
        }
    }
    void market_at(Timeframe timeframe, const Shape& shape) {
        for (TimeframeSignals& signals : facts.signals.list) {
            if (signals.timeframe == timeframe) {
                signals = signals_of(timeframe, shape);
            }
        }
    }
    TimeframeSignals signals_of(Timeframe timeframe, const Shape& shape) const {
        TimeframeSignals signals;
        signals.timeframe = timeframe;
        signals.candles = 100;
        signals.closed_at = span_start(timeframe, facts.now);
        signals.trend_strength = supervised(shape.strength);
        signals.efficiency = supervised(shape.efficiency);
        signals.pullback_pct = supervised(shape.pullback);
        signals.regime = shape.volatility;
        return signals;
    }
    SupervisorDecision decide() const { return supervise(facts); }

    SupervisorFacts facts;
};

}  // namespace interlock
