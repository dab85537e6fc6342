// Prices for benchmarks: the nine markets of loop/rules/gates/sample_world.h with quotes that are
// always fresh, so that every plan meets the same market. More markets are copies of the first one.
#pragma once

#include <span>
#include <vector>

#include "account/ports/venue.h"
#include "engine/ports/clock.h"

namespace interlock {

class BenchFeed final : public MarketFeed {
public:
    // `clock` outlives this.
    BenchFeed(Clock& clock, std::int64_t markets);

    std::vector<Symbol> symbols() const override;
    MarketSet deep_facts(
        std::span<const Symbol> symbols, std::span<const Symbol> deep) const override;
    MarketSignals signals(
        const Symbol& symbol, std::span<const Timeframe> timeframes) const override;
    std::optional<Decimal> bandwidth_quantile(
        const Symbol& symbol, const BandwidthWish& wish) const override;

private:
    Clock& clock_;
    MarketSet markets_;
};

}  // namespace interlock
