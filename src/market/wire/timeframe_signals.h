// What the closed candles of one timeframe say of a market: the numbers strategies and the
// supervisor decide by. Computed where facts are gathered, quantised to 1e-9 and recorded with the
// decision, so that a replay needs neither candles nor floating point (agent-loop.md#market-facts).
// docs/strategies/indicators.md has the formulas.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "market/wire/candle.h"

namespace interlock {

enum class VolatilityRegime { low, normal, high };
std::string_view to_word(VolatilityRegime regime);

struct TimeframeSignals {
    Timeframe timeframe = Timeframe::m1;
    std::int64_t candles = 0;  // Closed ones that were there to compute from.
    Timestamp closed_at;       // End of the latest of them.
    std::optional<Decimal> close;
    // Nothing: too few candles.
    std::optional<Decimal> atr;             // Wilder, 14.
    std::optional<Decimal> atr_pct;         // atr / close, a fraction.
    std::optional<Decimal> ema_fast;        // 12.
    std::optional<Decimal> ema_slow;        // 26.
    std::optional<Decimal> trend_strength;  // (ema_fast − ema_slow) / atr: signed.
    std::optional<Decimal> efficiency;      // |net move| / Σ|moves| over 20 closes: 0 to 1.
    std::optional<Decimal> pullback_pct;    // Deepest move against the trend over 20, a fraction.
    std::optional<Decimal> bollinger_mid;   // 20 closes, 2 deviations.
    std::optional<Decimal> bollinger_upper;
    std::optional<Decimal> bollinger_lower;
    std::optional<Decimal> bollinger_bandwidth;  // (upper − lower) / mid, a fraction.
    // Of the latest bandwidths, at the level that was asked for; nothing when nobody asked.
    std::optional<Decimal> bandwidth_quantile;
    std::optional<Decimal> volatility;  // Deviation of log returns, per candle, a fraction.
    VolatilityRegime regime = VolatilityRegime::normal;
    friend bool operator==(const TimeframeSignals&, const TimeframeSignals&) = default;
};
Json encode(const TimeframeSignals& signals);
Result<TimeframeSignals> decode_timeframe_signals(const Json& json);

// Of one market, ascending by timeframe; only those that were asked for.
struct MarketSignals {
    std::vector<TimeframeSignals> list;
    const TimeframeSignals* find(Timeframe timeframe) const;
    friend bool operator==(const MarketSignals&, const MarketSignals&) = default;
};
// Which quantile of a timeframe's Bollinger bandwidths is wanted.
struct BandwidthWish {
    Timeframe timeframe = Timeframe::h1;
    Decimal quantile;  // Above 0 and below 1.
};
// Notes the answer beside the other signals of its timeframe, when those are there.
void note_quantile(
    MarketSignals& signals, const BandwidthWish& wish, std::optional<Decimal> quantile);

Json encode(const MarketSignals& signals);
Result<MarketSignals> decode_market_signals(const Json& json);

}  // namespace interlock
