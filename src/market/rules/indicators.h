// Indicators over the candles of one market, oldest first: exact decimals and whole numbers only,
// so the same candles give the same bytes everywhere. docs/strategies/indicators.md has the
// formulas.
//
// Nothing instead of a number: too few candles, or a price that is no price (zero, negative, above
// kIndicatorPriceMax). Results are exact to 18 decimals; signals_from() quantises them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/decimal.h"
#include "market/wire/candle.h"
#include "market/wire/timeframe_signals.h"

namespace interlock {

inline constexpr std::int64_t kAtrPeriod = 14;
inline constexpr std::int64_t kEmaFastPeriod = 12;
inline constexpr std::int64_t kEmaSlowPeriod = 26;
inline constexpr std::int64_t kBollingerPeriod = 20;
inline constexpr std::int64_t kBollingerDeviations = 2;
inline constexpr std::size_t kMoveCloses = 20;  // Of efficiency and pullback.
inline constexpr std::size_t kVolatilityReturns = 20;
inline constexpr std::int64_t kRegimeSamplesMin = 5;
// Yearly volatility: below the one a market is quiet, from the other on it is wild.
inline constexpr std::int64_t kRegimeLowPercent = 30;
inline constexpr std::int64_t kRegimeHighPercent = 100;
inline constexpr Decimal kIndicatorPriceMax{1'000'000'000'000'000};

using Candles = std::span<const Candle>;

// max(high, close before) − min(low, close before); the first candle has only high − low.
Decimal true_range(const Candle& candle, const Candle* before);
// The mean of the first `period` true ranges, then (before × (period − 1) + range) / period.
std::optional<Decimal> wilder_atr(Candles candles, std::int64_t period);
// The mean of the first `period` closes, then before + (close − before) × 2 / (period + 1).
std::optional<Decimal> exponential_mean(Candles candles, std::int64_t period);

struct Bollinger {
    Decimal mid;
    Decimal upper;
    Decimal lower;
};
// Mean of the last `period` closes ± deviations × their population deviation.
std::optional<Bollinger> bollinger_bands(
    Candles candles, std::int64_t period, std::int64_t deviations);

// The spread of the bands as a fraction of their mean; nothing for a mean of zero.
std::optional<Decimal> bandwidth_of(const Bollinger& bands);
// Of the bands after each of the latest candles, at most kBandwidths, quantised and ascending by
// value.
inline constexpr std::size_t kBandwidths = 120;
std::vector<Decimal> sorted_bandwidths(Candles candles);
// Interpolated between the two neighbours of place (count − 1) × level, quantised. Nothing below
// kBandwidthsMin values, or for a level outside 0 to 1.
inline constexpr std::size_t kBandwidthsMin = 20;
std::optional<Decimal> quantile_of(std::span<const Decimal> ascending, Decimal level);

// |last − first| / Σ|moves| over the last `closes` closes: 0 (to and fro) to 1 (straight); 0 when
// nothing moved.
std::optional<Decimal> kaufman_efficiency(Candles candles, std::size_t closes);
// The deepest fall from a top while the last `closes` closes rose on the whole, or the steepest
// rise from a bottom while they fell; the larger of both when they ended where they began.
std::optional<Decimal> deepest_pullback(Candles candles, std::size_t closes);

// Sample deviation of the log returns between the last closes.
struct ReturnDeviation {
    std::int64_t samples = 0;
    Decimal per_candle;  // 0 with fewer than two.
    Decimal per_year;
};
ReturnDeviation return_deviation(Candles candles, Timeframe timeframe);
VolatilityRegime regime_of(const ReturnDeviation& deviation);

// All of them, quantised to 1e-9 half-even.
TimeframeSignals signals_from(Candles candles, Timeframe timeframe);

}  // namespace interlock
