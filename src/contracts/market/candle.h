// Candles: what a market did in equal spans of time.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/decimal.h"
#include "base/result.h"
#include "base/time.h"

namespace interlock {

enum class Timeframe { m1, m5, m15, h1, h4, d1 };
inline constexpr std::array<Timeframe, 6> kTimeframes{
    Timeframe::m1, Timeframe::m5, Timeframe::m15, Timeframe::h1, Timeframe::h4, Timeframe::d1};
std::string_view to_word(Timeframe timeframe);  // "1m", "5m", "15m", "1h", "4h", "1d".
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
