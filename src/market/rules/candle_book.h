// The candles of one market in every timeframe, built from its prices in the order of time, and
// what they say (market/rules/indicators.h).
//
// A price inside the minute under way costs a few comparisons: minutes are built from prices,
// longer candles from closed minutes. Signals are computed when they are asked for and kept until a
// candle of their timeframe closes.
//
// Gaps: a span without a price makes no candle, and none is invented. The indicators run over the
// candles there are; a jump shows as true range against the close before it. A candle closes with
// the first price of a later span. When nothing was seen for as long as the kept candles cover,
// they say nothing of today and are dropped.
//
// One thread at a time; signals() writes its cache.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "market/rules/market_model.h"
#include "market/wire/candle.h"
#include "market/wire/timeframe_signals.h"

namespace interlock {

// A timeframe. The slowest mean starts at 26 candles, and after 150 its start weighs below 1e-4;
// 120 bandwidths need 139; a start loads 200.
inline constexpr std::size_t kCandlesKept = 200;
// What history is loaded from a model: candles a timeframe, and looks at the market in each.
inline constexpr std::int64_t kHydratedCandles = 200;
inline constexpr std::int64_t kHydrationLooks = 8;

class CandleBook {
public:
    // A price at a time, not before the ones noted so far: an earlier one than the minute under way
    // is dropped, and so is a price that is not positive.
    void note_price(Timestamp at, Decimal price) {
        if (at < minute_end_ && at >= minute_.opened_at && price.is_positive()) {
            minute_.high = std::max(minute_.high, price);
            minute_.low = std::min(minute_.low, price);
            minute_.close = price;
            return;
        }
        turn_minute(at, price);
    }
    // History of one timeframe from elsewhere, in place of what was built of it: closed candles,
    // oldest first, and the part of the span under way. Candles that do not fit in are dropped.
    struct History {
        std::vector<Candle> closed;
        std::optional<Candle> open;
    };
    void load(Timeframe timeframe, const History& history);

    // The latest closed ones, oldest first, at most kCandlesKept.
    std::span<const Candle> closed(Timeframe timeframe) const;
    const TimeframeSignals& signals(Timeframe timeframe) const;
    // Those asked for, ascending and each once.
    MarketSignals signals(std::span<const Timeframe> timeframes) const;
    // Of the latest bandwidths of its Bollinger bands; nothing with too few candles.
    std::optional<Decimal> bandwidth_quantile(const BandwidthWish& wish) const;

private:
    struct Series {
        // Up to twice the bound, so that the oldest leave in one move now and then.
        std::vector<Candle> closed;
        Candle open;
        bool has_open = false;
        mutable TimeframeSignals signals;
        mutable bool is_fresh = false;
        mutable std::vector<Decimal> bandwidths;  // Ascending; filled when a quantile is wanted.
        mutable bool has_bandwidths = false;
    };
    static constexpr std::size_t at(Timeframe timeframe) {
        return static_cast<std::size_t>(timeframe);
    }
    void turn_minute(Timestamp time, Decimal price);
    void fold_minute();
    void close(Timeframe timeframe, const Candle& candle);

    Candle minute_;
    Timestamp minute_end_;  // Not after opened_at: there is no minute yet.
    std::array<Series, kTimeframes.size()> series_;
};

// Halfway between bid and ask; nothing for a halted, empty or crossed touch.
std::optional<Decimal> mid_price(const MarketTouch& touch, Decimal tick_size);

// Where a model's market is; what came before `step` is its history.
struct ModelMoment {
    const MarketModel& model;
    std::size_t market = 0;
    std::int64_t step = 0;
};
// One timeframe as though the market had been watched all along. Candles come of a few looks each,
// so their extremes are a little nearer than the true ones.
void hydrate(CandleBook& book, Timeframe timeframe, const ModelMoment& moment);

}  // namespace interlock
