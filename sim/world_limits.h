// The limits of a simulated world's accounts: in most worlds one of them is so tight that plans
// meet it all the time, because a limit nobody comes near is not tested by anything.
#pragma once

#include <cstdint>
#include <vector>

#include "account/ports/venue.h"
#include "account/wire/risk_limits.h"

namespace interlock::sim {

// By the seed; empty: the defaults.
std::vector<LimitChange> draw_limits(std::uint64_t seed);

// The venue's prices, with a limit on orders far tighter than the paper exchange's own, and with
// books so thin that orders of these accounts' size come to their end.
class RatedFeed final : public MarketFeed {
public:
    explicit RatedFeed(const MarketFeed& feed) : feed_(feed) {}

    static constexpr std::int64_t kOrdersPer10s = 40;
    static constexpr std::int64_t kThinner = 64;

    std::vector<Symbol> symbols() const override { return feed_.symbols(); }
    MarketSet deep_facts(
        std::span<const Symbol> symbols, std::span<const Symbol> deep) const override {
        MarketSet set = feed_.deep_facts(symbols, deep);
        for (MarketFacts& market : set.markets) {
            market.rules.orders_per_10s_max = kOrdersPer10s;
            make_thin(market.bids, market.rules.step_size);
            make_thin(market.asks, market.rules.step_size);
        }
        return set;
    }
    MarketSignals signals(
        const Symbol& symbol, std::span<const Timeframe> timeframes) const override {
        return feed_.signals(symbol, timeframes);
    }
    std::optional<Decimal> bandwidth_quantile(
        const Symbol& symbol, const BandwidthWish& wish) const override {
        return feed_.bandwidth_quantile(symbol, wish);
    }

private:
    static void make_thin(std::vector<DepthLevel>& levels, Decimal step) {
        for (DepthLevel& level : levels) {
            const __int128 steps = level.qty.units() / kThinner / step.units();
            level.qty = Decimal::from_units(steps * step.units());
        }
        std::erase_if(levels, [](const DepthLevel& level) { return level.qty.is_zero(); });
    }

    const MarketFeed& feed_;
};

}  // namespace interlock::sim
