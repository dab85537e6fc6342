// What the market is doing, told from the signals of four timeframes: a regime with the numbers
// that led there, as plain sentences and as facts. docs/supervisor.md has the formulas.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "trader/rules/supervisor/shares.h"
#include "trader/rules/supervisor/supervisor_facts.h"

namespace interlock {

inline constexpr std::array<Timeframe, 4> kSupervisedTimeframes{
    Timeframe::m1, Timeframe::m5, Timeframe::m15, Timeframe::h1};
// Signals whose last candle closed longer ago than so many candles count as missing.
inline constexpr std::int64_t kSignalAgeCandlesMax = 3;

// A trend begins when the minute is persistent and five and fifteen minutes confirm it; it goes on
// while those two hold half-way.
inline constexpr Decimal kPersistenceFirst = percent(55);
inline constexpr Decimal kPersistenceConfirm = percent(45);
inline constexpr Decimal kPersistenceStay = percent(30);
// The strength, in average true ranges, that counts as full.
inline constexpr Decimal kStrengthFull{2};
// Timeframes of 5m, 15m and 1h that are wild before the market is; one of them keeps it so.
inline constexpr std::int64_t kWildEnter = 2;
inline constexpr std::int64_t kWildStay = 1;

struct TimeframeReading {
    Timeframe timeframe = Timeframe::m1;
    bool is_known = false;
    int direction = 0;    // Of the trend: -1, 0 or 1.
    Decimal persistence;  // (min(|strength| / 2, 1) + efficiency) / 2.
    std::optional<Decimal> pullback_pct;
    bool is_wild = false;
};

struct MarketNarrative {
    MarketRegime regime = MarketRegime::unclear;
    Decimal evidence;   // 0 to 1: how plainly the numbers say so.
    Decimal consensus;  // -1 to 1: signed persistence, (1m + 2 × 5m + 2 × 15m) / 5.
    std::vector<TimeframeReading> readings;  // In the order of kSupervisedTimeframes.
    std::vector<std::string> sentences;

    const TimeframeReading& of(Timeframe timeframe) const;
    bool is_trend() const {
        return regime == MarketRegime::trend_up || regime == MarketRegime::trend_down;
    }
    // The deepest pullback of 1m, 5m and 15m; nothing unless all three are known.
    std::optional<Decimal> deepest_pullback() const;
};
Json encode(const MarketNarrative& narrative);

MarketNarrative narrate(const SupervisorFacts& facts);

}  // namespace interlock
