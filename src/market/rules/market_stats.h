// The statistics of agent-loop.md#market-facts over the quotes of one market: one-minute
// volatility, the five-minute median of the spread, and whether the last day was wild.
//
// All in whole numbers (logarithms as multiples of 10^-12), results quantised to 10^-9: the same
// quotes give the same statistics everywhere.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/decimal.h"
#include "market/rules/market_model.h"

namespace interlock {

inline constexpr std::int64_t kVolSeconds = 60;
inline constexpr std::int64_t kSpreadSeconds = 300;
inline constexpr std::int64_t kCandleSeconds = 300;
inline constexpr std::int64_t kCandlesPerDay = 288;
// A day of five-minute returns whose yearly volatility is above 1.0 is wild.
inline constexpr std::int64_t kHighVolRatioMax = 1;

// ln(later / earlier) × 10^12, cut; both positive and at most 2^62.
std::int64_t log_ratio(std::int64_t later, std::int64_t earlier);
// The largest number whose square is at most `value`; 0 for a negative one.
std::int64_t whole_root(__int128 value);

// Sample deviation of a sliding set of returns, exact under adding and removing.
class ReturnWindow {
public:
    void add(std::int64_t value);
    void remove(std::int64_t value);
    std::int64_t count() const { return count_; }
    // Deviation × √periods, times 10^12; 0 with fewer than two returns.
    std::int64_t deviation(std::int64_t periods) const;

private:
    std::int64_t count_ = 0;
    __int128 sum_ = 0;
    __int128 squares_ = 0;
};

class MarketStats {
public:
    // The touch at the end of a second; seconds only go up. A halted, empty or crossed touch gives
    // no sample, and no return is taken across a missing second.
    void note_second(std::int64_t second, const MarketTouch& touch);

    // Fraction, quantised to 10^-9.
    Decimal vol_1m() const;
    std::int64_t vol_samples() const { return returns_.count(); }
    Decimal spread_median_bps() const;
    std::int64_t spread_samples() const { return static_cast<std::int64_t>(spreads_.size()); }
    bool is_high_vol() const;
    std::int64_t candles() const { return static_cast<std::int64_t>(candles_.size()); }

    // The close of one five-minute candle, for loading history; note_second() goes on from there.
    void note_candle(std::int64_t candle, const MarketTouch& touch);

private:
    // One mid price (twice the mid in ticks, so that it is whole) and the return that led to it.
    struct Sample {
        std::int64_t at = 0;
        std::int64_t twice_mid = 0;
        std::int64_t log_return = 0;
        bool has_return = false;
    };
    static void slide(std::deque<Sample>& samples, ReturnWindow& window, Sample next);
    static void drop_before(std::deque<Sample>& samples, ReturnWindow& window, std::int64_t at);

    std::deque<Sample> seconds_;
    ReturnWindow returns_;
    std::deque<Sample> candles_;
    ReturnWindow candle_returns_;
    struct Spread {
        std::int64_t second = 0;
        std::int64_t bps_e9 = 0;
    };
    std::deque<Spread> spreads_;
};

// Fills the statistics as though every second of the last five minutes and every candle of the
// last day before `step` had been seen.
MarketStats hydrated_stats(const MarketModel& model, std::size_t market, std::int64_t step);

}  // namespace interlock
