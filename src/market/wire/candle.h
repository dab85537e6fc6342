// Candles: what a market did in equal spans of time.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/decimal.h"
#include "base/result.h"
#include "base/time.h"

namespace interlock {

enum class Timeframe { m1, m3, m5, m15, m30, h1, h2, h4, h6, h12, d1 };
inline constexpr std::array kTimeframes{
    Timeframe::m1,
    Timeframe::m3,
    Timeframe::m5,
    Timeframe::m15,
    Timeframe::m30,
    Timeframe::h1,
    Timeframe::h2,
    Timeframe::h4,
    Timeframe::h6,
    Timeframe::h12,
    Timeframe::d1,
};
// By the number of the timeframe.
inline constexpr std::array<std::string_view, kTimeframes.size()> kTimeframeWords{
    "1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "12h", "1d"};
std::string_view to_word(Timeframe timeframe);
Result<Timeframe> parse_timeframe(std::string_view word);
Duration length_of(Timeframe timeframe);
// The beginning of the span that `at` lies in; spans are counted from the epoch.
Timestamp span_start(Timeframe timeframe, Timestamp at);

struct Candle {
    Timestamp opened_at;
    Decimal open;
    Decimal high;
    Decimal low;
    Decimal close;
    friend bool operator==(const Candle&, const Candle&) = default;
};

}  // namespace interlock
