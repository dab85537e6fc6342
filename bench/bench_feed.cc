#include "bench/bench_feed.h"

#include "core/gates/sample_world.h"

namespace interlock {

BenchFeed::BenchFeed(Clock& clock)
    : clock_(clock), markets_(sample_world(kSampleSymbolsMax).market) {}

std::vector<Symbol> BenchFeed::symbols() const {
    std::vector<Symbol> symbols;
    for (const MarketFacts& market : markets_.markets) {
        symbols.push_back(market.symbol);
    }
    return symbols;
}

MarketSet BenchFeed::facts(std::span<const Symbol> symbols) const {
    const Timestamp now = clock_.now();
    MarketSet wanted;
    for (const Symbol& symbol : symbols) {
        if (const MarketFacts* market = markets_.find(symbol)) {
            wanted.markets.push_back(*market);
            wanted.markets.back().exchange_at = now;
            wanted.markets.back().received_at = now;
        }
    }
    return wanted;
}

MarketSignals BenchFeed::signals(const Symbol&, std::span<const Timeframe>) const {
    return {};
}

}  // namespace interlock
