#include "market/rules/indicators.h"

#include <algorithm>

#include "market/rules/market_stats.h"

namespace interlock {
namespace {

constexpr __int128 kQuantum = 1'000'000'000;   // 1e-9 in units of a Decimal.
constexpr std::int64_t kLogPerQuantum = 1000;  // 1e-12 to 1e-9.

// Nearest, ties to even; the divisor is positive.
__int128 divide_even(__int128 value, __int128 divisor) {
    __int128 quotient = value / divisor;
    __int128 rest = value % divisor;
    if (rest < 0) {
        rest += divisor;
        --quotient;
    }
    const __int128 complement = divisor - rest;
    const bool up = rest > complement || (rest == complement && quotient % 2 != 0);
    return up ? quotient + 1 : quotient;
}

Decimal quantised(Decimal value) {
    return Decimal::from_units(divide_even(value.units(), kQuantum) * kQuantum);
}

std::optional<Decimal> quantised(const std::optional<Decimal>& value) {
    return value ? std::optional(quantised(*value)) : std::nullopt;
}

std::optional<Decimal> ratio(Decimal above, Decimal below) {
    const auto value = divide_half_even(above, below);
    return value ? std::optional(*value) : std::nullopt;
}

bool is_price(Decimal price) {
    return price.is_positive() && price <= kIndicatorPriceMax;
}

// Below this bound no sum or product here can leave 128 bits.
bool are_sound(Candles candles) {
    return std::all_of(candles.begin(), candles.end(), [](const Candle& candle) {
        return is_price(candle.high) && is_price(candle.low) && is_price(candle.open) &&
               is_price(candle.close) && candle.low <= candle.high;
    });
}

bool has_enough(Candles candles, std::int64_t count) {
    return count > 0 && static_cast<std::int64_t>(candles.size()) >= count && are_sound(candles);
}

// ln(later / earlier) × 10^12; both are cut by the same power of two to what log_ratio takes.
std::int64_t log_return(Decimal later, Decimal earlier) {
    __int128 above = later.units();
    __int128 below = earlier.units();
    while (std::max(above, below) >= (static_cast<__int128>(1) << 62)) {
        above >>= 1;
        below >>= 1;
    }
    return log_ratio(
        std::max<std::int64_t>(1, static_cast<std::int64_t>(above)),
        std::max<std::int64_t>(1, static_cast<std::int64_t>(below)));
}

Decimal from_log(std::int64_t log) {
    return Decimal::from_units(divide_even(log, kLogPerQuantum) * kQuantum);
}

std::optional<Decimal> share_between(Decimal high, Decimal low, Decimal of) {
    return ratio(Decimal::from_units(high.units() - low.units()), of);
}

}  // namespace

Decimal true_range(const Candle& candle, const Candle* before) {
    Decimal high = candle.high;
    Decimal low = candle.low;
    if (before != nullptr) {
        high = std::max(high, before->close);
        low = std::min(low, before->close);
    }
    return Decimal::from_units(high.units() - low.units());
}

std::optional<Decimal> wilder_atr(Candles candles, std::int64_t period) {
    if (!has_enough(candles, period)) {
        return std::nullopt;
    }
    const auto first = static_cast<std::size_t>(period);
    __int128 sum = 0;
    for (std::size_t i = 0; i < first; ++i) {
        sum += true_range(candles[i], i == 0 ? nullptr : &candles[i - 1]).units();
    }
    __int128 atr = divide_even(sum, period);
    for (std::size_t i = first; i < candles.size(); ++i) {
        const __int128 range = true_range(candles[i], &candles[i - 1]).units();
        atr = divide_even(atr * (period - 1) + range, period);
    }
    return Decimal::from_units(atr);
}

std::optional<Decimal> exponential_mean(Candles candles, std::int64_t period) {
    if (!has_enough(candles, period)) {
        return std::nullopt;
    }
    const auto first = static_cast<std::size_t>(period);
    __int128 sum = 0;
    for (const Candle& candle : candles.first(first)) {
        sum += candle.close.units();
    }
    __int128 mean = divide_even(sum, period);
    for (const Candle& candle : candles.subspan(first)) {
        mean = divide_even(mean * (period - 1) + candle.close.units() * 2, period + 1);
    }
    return Decimal::from_units(mean);
}

std::optional<Bollinger> bollinger_bands(
    Candles candles, std::int64_t period, std::int64_t deviations) {
    if (!has_enough(candles, period)) {
        return std::nullopt;
    }
    const Candles latest = candles.last(static_cast<std::size_t>(period));
    __int128 sum = 0;
    for (const Candle& candle : latest) {
        sum += candle.close.units();
    }
    const __int128 mid = divide_even(sum, period);
    __int128 squares = 0;
    for (const Candle& candle : latest) {
        const Decimal away = Decimal::from_units(candle.close.units() - mid);
        const auto square = multiply_half_even(away, away);
        if (!square || __builtin_add_overflow(squares, square->units(), &squares)) {
            return std::nullopt;
        }
    }
    // A variance has 18 decimals, its root 9: the whole root of the units is the root in 1e-9.
    const __int128 deviation = whole_root(divide_even(squares, period)) * kQuantum;
    return Bollinger{
        .mid = Decimal::from_units(mid),
        .upper = Decimal::from_units(mid + deviation * deviations),
        .lower = Decimal::from_units(mid - deviation * deviations),
    };
}

std::optional<Decimal> bandwidth_of(const Bollinger& bands) {
    return share_between(bands.upper, bands.lower, bands.mid);
}

std::vector<Decimal> sorted_bandwidths(Candles candles) {
    constexpr auto kPeriod = static_cast<std::size_t>(kBollingerPeriod);
    std::vector<Decimal> bandwidths;
    if (candles.size() < kPeriod) {
        return bandwidths;
    }
    const std::size_t windows = std::min(candles.size() - kPeriod + 1, kBandwidths);
    bandwidths.reserve(windows);
    for (std::size_t i = candles.size() - kPeriod + 1 - windows; i + kPeriod <= candles.size();
         ++i) {
        const auto bands =
            bollinger_bands(candles.subspan(i, kPeriod), kBollingerPeriod, kBollingerDeviations);
        if (const auto width = bands ? bandwidth_of(*bands) : std::nullopt) {
            bandwidths.push_back(quantised(*width));
        }
    }
    std::sort(bandwidths.begin(), bandwidths.end());
    return bandwidths;
}

std::optional<Decimal> quantile_of(std::span<const Decimal> ascending, Decimal level) {
    constexpr Decimal kOne{1};
    if (ascending.size() < kBandwidthsMin || level.is_negative() || level > kOne) {
        return std::nullopt;
    }
    const __int128 place = static_cast<__int128>(ascending.size() - 1) * level.units();
    const auto below = static_cast<std::size_t>(place / kOne.units());
    const std::size_t above = std::min(below + 1, ascending.size() - 1);
    const Decimal apart = Decimal::from_units(ascending[above].units() - ascending[below].units());
    const auto part = multiply_half_even(apart, Decimal::from_units(place % kOne.units()));
    if (!part) {
        return std::nullopt;
    }
    return quantised(Decimal::from_units(ascending[below].units() + part->units()));
}

std::optional<Decimal> kaufman_efficiency(Candles candles, std::size_t closes) {
    if (closes < 2 || !has_enough(candles, static_cast<std::int64_t>(closes))) {
        return std::nullopt;
    }
    const Candles latest = candles.last(closes);
    __int128 path = 0;
    for (std::size_t i = 1; i < latest.size(); ++i) {
        const __int128 move = latest[i].close.units() - latest[i - 1].close.units();
        path += move < 0 ? -move : move;
    }
    if (path == 0) {
        return Decimal();
    }
    const __int128 net = latest.back().close.units() - latest.front().close.units();
    return ratio(Decimal::from_units(net < 0 ? -net : net), Decimal::from_units(path));
}

std::optional<Decimal> deepest_pullback(Candles candles, std::size_t closes) {
    if (closes < 2 || !has_enough(candles, static_cast<std::int64_t>(closes))) {
        return std::nullopt;
    }
    const Candles latest = candles.last(closes);
    Decimal top = latest.front().close;
    Decimal bottom = top;
    Decimal fall;
    Decimal rise;
    for (const Candle& candle : latest) {
        top = std::max(top, candle.close);
        bottom = std::min(bottom, candle.close);
        const auto below = share_between(top, candle.close, top);
        const auto above = share_between(candle.close, bottom, bottom);
        if (!below || !above) {
            return std::nullopt;
        }
        fall = std::max(fall, *below);
        rise = std::max(rise, *above);
    }
    const Decimal first = latest.front().close;
    const Decimal last = latest.back().close;
    return last > first ? fall : last < first ? rise : std::max(fall, rise);
}

ReturnDeviation return_deviation(Candles candles, Timeframe timeframe) {
    ReturnDeviation deviation;
    if (!are_sound(candles)) {
        return deviation;
    }
    const Candles latest = candles.last(std::min(candles.size(), kVolatilityReturns + 1));
    ReturnWindow window;
    for (std::size_t i = 1; i < latest.size(); ++i) {
        window.add(log_return(latest[i].close, latest[i - 1].close));
    }
    deviation.samples = window.count();
    deviation.per_candle = from_log(window.deviation(1));
    deviation.per_year = from_log(
        window.deviation(Duration::of_days(365).microseconds / length_of(timeframe).microseconds));
    return deviation;
}

VolatilityRegime regime_of(const ReturnDeviation& deviation) {
    constexpr __int128 kPercent = 10'000'000'000'000'000;
    if (deviation.samples < kRegimeSamplesMin) {
        return VolatilityRegime::normal;
    }
    if (deviation.per_year < Decimal::from_units(kRegimeLowPercent * kPercent)) {
        return VolatilityRegime::low;
    }
    return deviation.per_year >= Decimal::from_units(kRegimeHighPercent * kPercent)
               ? VolatilityRegime::high
               : VolatilityRegime::normal;
}

TimeframeSignals signals_from(Candles candles, Timeframe timeframe) {
    TimeframeSignals signals;
    signals.timeframe = timeframe;
    signals.candles = static_cast<std::int64_t>(candles.size());
    if (candles.empty()) {
        return signals;
    }
    const Candle& latest = candles.back();
    signals.closed_at = latest.opened_at + length_of(timeframe);
    signals.close = latest.close;
    const auto atr = wilder_atr(candles, kAtrPeriod);
    const auto fast = exponential_mean(candles, kEmaFastPeriod);
    const auto slow = exponential_mean(candles, kEmaSlowPeriod);
    signals.atr = quantised(atr);
    signals.ema_fast = quantised(fast);
    signals.ema_slow = quantised(slow);
    if (atr) {
        signals.atr_pct = quantised(ratio(*atr, latest.close));
    }
    if (atr && fast && slow) {
        // Nothing ever moved: there is no trend.
        const Decimal apart = Decimal::from_units(fast->units() - slow->units());
        signals.trend_strength = atr->is_zero() ? Decimal() : quantised(ratio(apart, *atr));
    }
    signals.efficiency = quantised(kaufman_efficiency(candles, kMoveCloses));
    signals.pullback_pct = quantised(deepest_pullback(candles, kMoveCloses));
    if (const auto bands = bollinger_bands(candles, kBollingerPeriod, kBollingerDeviations)) {
        signals.bollinger_mid = quantised(bands->mid);
        signals.bollinger_upper = quantised(bands->upper);
        signals.bollinger_lower = quantised(bands->lower);
        signals.bollinger_bandwidth = quantised(bandwidth_of(*bands));
    }
    const ReturnDeviation deviation = return_deviation(candles, timeframe);
    if (deviation.samples >= 2) {
        signals.volatility = deviation.per_candle;
    }
    signals.regime = regime_of(deviation);
    return signals;
}

}  // namespace interlock
