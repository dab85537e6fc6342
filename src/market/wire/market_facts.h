// What was known of one market when a decision was made
// (docs/contracts/agent-loop.md#market-facts): touch, age, volatility and spread statistics.
// Statistics that need log or sqrt are computed where facts are gathered and quantised to 1e-9, so
// that a replay needs no floating point.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "market/wire/market_rules.h"

namespace interlock {

// One price of a side of the book, and how much stands there.
struct DepthLevel {
    Decimal price;
    Decimal qty;
    friend bool operator==(const DepthLevel&, const DepthLevel&) = default;
};
// Of a side. What lies deeper counts as not there.
inline constexpr std::size_t kDepthLevelsMax = 10;

struct MarketFacts {
    Symbol symbol;
    std::optional<Decimal> best_bid;  // Nothing: that side is empty.
    std::optional<Decimal> best_ask;
    Timestamp exchange_at;  // By the venue's clock.
    Timestamp received_at;  // By ours.
    // Status not TRADING, or maintenance; an empty, one-sided or crossed book counts as halted too
    // (is_halted below).
    bool status_halted = false;
    Decimal vol_1m;  // A fraction: 0.001 is 10 bps; 0 with fewer than two returns.
    std::int64_t vol_samples = 0;
    Decimal spread_median_5m_bps;  // Of the last five minutes; 0 with no sample.
    std::int64_t spread_samples = 0;
    bool is_hydrated = false;      // History was loaded at start: no warming up.
    bool is_high_vol = false;      // 24 h, annualised, above 1.0.
    std::vector<DepthLevel> bids;  // Best first; empty: no depth is known, so nothing can be taken.
    std::vector<DepthLevel> asks;
    MarketRules rules;
    friend bool operator==(const MarketFacts&, const MarketFacts&) = default;
};

bool is_halted(const MarketFacts& facts);
// (bid + ask) / 2, half-even at 18 decimals; nothing when a side is missing.
std::optional<Decimal> mid_of(const MarketFacts& facts);
// 1e4 × (ask − bid) / mid, rounded up; nothing without a mid.
std::optional<Decimal> spread_bps_of(const MarketFacts& facts);
// as_of − min(exchange_at, received_at), never negative, in seconds with microseconds.
Decimal staleness_seconds_of(const MarketFacts& facts, Timestamp as_of);

// The facts of several markets, by symbol, ascending; unknown symbols are simply not in it.
inline constexpr std::size_t kMarketsMax = 1000;
struct MarketSet {
    std::vector<MarketFacts> markets;
    const MarketFacts* find(const Symbol& symbol) const;
    friend bool operator==(const MarketSet&, const MarketSet&) = default;
};

Json encode(const MarketFacts& facts);
Result<MarketFacts> decode_market_facts(const Json& json);
Json encode(const MarketSet& set);
Result<MarketSet> decode_market_set(const Json& json);

}  // namespace interlock
