// What the paper exchange trades against: for every step of time, the quotes and trades of several
// markets in whole ticks and lots.
//
// A model is a pure function of market and step number, so that a market may jump, be looked at in
// the past and be replayed. Step n covers the quarter of a second that begins at n × kMarketStep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"
#include "market/rules/matching/book_order.h"
#include "market/wire/market_rules.h"

namespace interlock {

inline constexpr Duration kMarketStep = Duration::of_milliseconds(250);
inline constexpr std::int64_t kStepsPerSecond = 4;
inline constexpr std::size_t kMarketLevelsMax = 20;  // A side.
inline constexpr std::size_t kMarketTradesMax = 8;   // A step.

constexpr std::int64_t step_of(Timestamp at) {
    const std::int64_t us = at.microseconds;
    const std::int64_t step = us / kMarketStep.microseconds;
    return us % kMarketStep.microseconds < 0 ? step - 1 : step;
}
constexpr Timestamp time_of_step(std::int64_t step) {
    return {step * kMarketStep.microseconds};
}

struct MarketLevel {
    Ticks price;
    Lots quantity;
    friend bool operator==(const MarketLevel&, const MarketLevel&) = default;
};

// A trade between others. `taker` is the side of whoever came later: a seller hits bids.
struct MarketTrade {
    Ticks price;
    Lots quantity;
    BookSide taker = BookSide::buy;
    friend bool operator==(const MarketTrade&, const MarketTrade&) = default;
};

// One market during one step. An empty side means that nobody quotes there.
struct MarketView {
    Timestamp at;  // When these quotes were made; never after the step's own time.
    bool halted = false;
    std::vector<MarketLevel> bids;  // Best first.
    std::vector<MarketLevel> asks;
    std::vector<MarketTrade> trades;
    friend bool operator==(const MarketView&, const MarketView&) = default;
};

// The best prices alone, for statistics; zero means that a side is empty.
struct MarketTouch {
    Ticks bid;
    Ticks ask;
    bool halted = false;
    friend bool operator==(const MarketTouch&, const MarketTouch&) = default;
};

class MarketModel {
public:
    virtual ~MarketModel() = default;
    // A market's place here is its number in the calls below. Ascending by symbol.
    virtual std::span<const MarketRules> markets() const = 0;
    virtual MarketTouch touch_at(std::size_t market, std::int64_t step) const = 0;
    // Overwrites `view`; takes it in and out so that its memory is used again.
    virtual void view_at(std::size_t market, std::int64_t step, MarketView& view) const = 0;
};

}  // namespace interlock
