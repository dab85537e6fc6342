#include "bench/bench_feed.h"

#include <fmt/format.h>

#include <algorithm>

#include "loop/rules/gates/sample_world.h"

namespace interlock {
namespace {

constexpr std::int64_t kBenchCandles = 150;

}  // namespace

BenchFeed::BenchFeed(Clock& clock, std::int64_t markets)
    : clock_(clock), markets_(sample_world(std::min(markets, kSampleSymbolsMax)).market) {
    while (std::ssize(markets_.markets) < markets) {
        MarketFacts more = markets_.markets.front();
        more.symbol = Symbol::parse(fmt::format("B{}USDT", markets_.markets.size())).value();
        markets_.markets.push_back(std::move(more));
    }
    std::ranges::sort(markets_.markets, {}, &MarketFacts::symbol);
}

std::vector<Symbol> BenchFeed::symbols() const {
    std::vector<Symbol> symbols;
    for (const MarketFacts& market : markets_.markets) {
        symbols.push_back(market.symbol);
    }
    return symbols;
}

MarketSet BenchFeed::deep_facts(
    std::span<const Symbol> symbols, std::span<const Symbol> deep) const {
    const Timestamp now = clock_.now();
    MarketSet wanted;
    for (const Symbol& symbol : symbols) {
        if (const MarketFacts* market = markets_.find(symbol)) {
            wanted.markets.push_back(*market);
            wanted.markets.back().exchange_at = now;
            wanted.markets.back().received_at = now;
            if (std::ranges::find(deep, symbol) == deep.end()) {
                wanted.markets.back().bids.clear();
                wanted.markets.back().asks.clear();
            }
        }
    }
    return wanted;
}

MarketSignals BenchFeed::signals(
    const Symbol& symbol, std::span<const Timeframe> timeframes) const {
    MarketSignals signals;
    if (markets_.find(symbol) == nullptr) {
        return signals;
    }
    // A calm market that goes nowhere, the same for every timeframe.
    for (const Timeframe timeframe : kTimeframes) {
        if (std::ranges::find(timeframes, timeframe) == timeframes.end()) {
            continue;
        }
        TimeframeSignals& at = signals.list.emplace_back();
        at.timeframe = timeframe;
        at.candles = kBenchCandles;
        at.closed_at = span_start(timeframe, clock_.now());
        at.close = sample_decimal("50005");
        at.atr = sample_decimal("600");
        at.atr_pct = sample_decimal("0.0119988");
        at.ema_fast = sample_decimal("50010");
        at.ema_slow = sample_decimal("50000");
        at.trend_strength = sample_decimal("0.016666667");
        at.efficiency = sample_decimal("0.2");
        at.pullback_pct = sample_decimal("0.015");
        at.volatility = sample_decimal("0.004");
        at.bollinger_bandwidth = sample_decimal("0.012");
    }
    return signals;
}

std::optional<Decimal> BenchFeed::bandwidth_quantile(
    const Symbol& symbol, const BandwidthWish&) const {
    return markets_.find(symbol) == nullptr ? std::nullopt : std::optional(sample_decimal("0.01"));
}

}  // namespace interlock
