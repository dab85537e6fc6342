#include "market/rules/market_stats.h"

#include <algorithm>

#include "base/check.h"

namespace interlock {
namespace {

constexpr std::int64_t kLogOne = 1'000'000'000'000;
constexpr std::int64_t kLogPerQuantum = 1000;             // 10^-12 to 10^-9.
constexpr std::int64_t kUnitsPerQuantum = 1'000'000'000;  // 10^-9 in units of a Decimal.
constexpr std::int64_t kCandlesPerYear = 365 * kCandlesPerDay;

Decimal from_quanta(std::int64_t quanta) {
    return Decimal::from_units(static_cast<__int128>(quanta) * kUnitsPerQuantum);
}

bool is_sound(const MarketTouch& touch) {
    return !touch.halted && touch.bid.count > 0 && touch.ask > touch.bid;
}

}  // namespace

std::int64_t log_ratio(std::int64_t later, std::int64_t earlier) {
    CHECK(later > 0 && earlier > 0);
    if (later == earlier) {
        return 0;
    }
    // ln(a/b) = 2 artanh((a − b) / (a + b)). The digits beyond 10^-12 keep the sum exact to it.
    constexpr __int128 kOne = static_cast<__int128>(kLogOne) * 1'000'000;
    constexpr __int128 kLogOfTwo = 693'147'180'559'945'309;
    // Powers of two are taken out first: the series is slow for large ratios.
    __int128 above = later;
    __int128 below = earlier;
    __int128 powers = 0;
    for (; above >= 2 * below; below *= 2) {
        powers += kLogOfTwo;
    }
    for (; below >= 2 * above; above *= 2) {
        powers -= kLogOfTwo;
    }
    const __int128 z = (above - below) * kOne / (above + below);
    const __int128 square = z * z / kOne;
    __int128 power = z;
    __int128 sum = z;
    for (int i = 3; power != 0 && i < 100; i += 2) {
        power = power * square / kOne;
        sum += power / i;
    }
    return static_cast<std::int64_t>((2 * sum + powers) / 1'000'000);
}

std::int64_t whole_root(__int128 value) {
    if (value <= 0) {
        return 0;
    }
    std::int64_t low = 0;
    std::int64_t high = std::int64_t{1} << 62;
    while (low < high) {
        const std::int64_t middle = low + (high - low + 1) / 2;
        if (static_cast<__int128>(middle) * middle <= value) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

void ReturnWindow::add(std::int64_t value) {
    ++count_;
    sum_ += value;
    squares_ += static_cast<__int128>(value) * value;
}

void ReturnWindow::remove(std::int64_t value) {
    --count_;
    sum_ -= value;
    squares_ -= static_cast<__int128>(value) * value;
}

std::int64_t ReturnWindow::deviation(std::int64_t periods) const {
    if (count_ < 2) {
        return 0;
    }
    const __int128 variance = (squares_ - sum_ * sum_ / count_) / (count_ - 1);
    return whole_root(variance * periods);
}

void MarketStats::slide(std::deque<Sample>& samples, ReturnWindow& window, Sample next) {
    if (!samples.empty() && samples.back().at == next.at - 1) {
        next.log_return = log_ratio(next.twice_mid, samples.back().twice_mid);
        next.has_return = true;
        window.add(next.log_return);
    }
    samples.push_back(next);
}

void MarketStats::drop_before(std::deque<Sample>& samples, ReturnWindow& window, std::int64_t at) {
    while (!samples.empty() && samples.front().at < at) {
        if (samples.front().has_return) {
            window.remove(samples.front().log_return);
        }
        samples.pop_front();
    }
    // The return into the oldest sample reaches back beyond the window.
    if (!samples.empty() && samples.front().has_return && samples.front().at == at) {
        window.remove(samples.front().log_return);
        samples.front().has_return = false;
    }
}

void MarketStats::note_second(std::int64_t second, const MarketTouch& touch) {
    CHECK(seconds_.empty() || second > seconds_.back().at);
    if (is_sound(touch)) {
        const std::int64_t twice_mid = touch.bid.count + touch.ask.count;
        slide(seconds_, returns_, {second, twice_mid, 0, false});
        const auto bps = static_cast<std::int64_t>(
            static_cast<__int128>(touch.ask.count - touch.bid.count) * 20'000 * kUnitsPerQuantum /
            twice_mid);
        spreads_.push_back({second, bps});
    }
    drop_before(seconds_, returns_, second - kVolSeconds);
    while (!spreads_.empty() && spreads_.front().second <= second - kSpreadSeconds) {
        spreads_.pop_front();
    }
    if (second % kCandleSeconds == 0) {
        note_candle(second / kCandleSeconds, touch);
    }
}

void MarketStats::note_candle(std::int64_t candle, const MarketTouch& touch) {
    if (!candles_.empty() && candle <= candles_.back().at) {
        return;
    }
    if (is_sound(touch)) {
        slide(candles_, candle_returns_, {candle, touch.bid.count + touch.ask.count, 0, false});
    }
    drop_before(candles_, candle_returns_, candle - kCandlesPerDay);
}

Decimal MarketStats::vol_1m() const {
    const std::int64_t log = returns_.deviation(kVolSeconds);
    return from_quanta((log + kLogPerQuantum / 2) / kLogPerQuantum);
}

Decimal MarketStats::spread_median_bps() const {
    if (spreads_.empty()) {
        return {};
    }
    std::vector<std::int64_t> sorted;
    sorted.reserve(spreads_.size());
    for (const Spread& spread : spreads_) {
        sorted.push_back(spread.bps_e9);
    }
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    if (sorted.size() % 2 == 1) {
        return from_quanta(*middle);
    }
    const std::int64_t below = *std::max_element(sorted.begin(), middle);
    return from_quanta(below + (*middle - below) / 2);
}

bool MarketStats::is_high_vol() const {
    return candle_returns_.deviation(kCandlesPerYear) > kHighVolRatioMax * kLogOne;
}

MarketStats hydrated_stats(const MarketModel& model, std::size_t market, std::int64_t step) {
    MarketStats stats;
    const std::int64_t now = step / kStepsPerSecond;
    const std::int64_t candle = now / kCandleSeconds;
    for (std::int64_t at = candle - kCandlesPerDay; at < candle; ++at) {
        stats.note_candle(at, model.touch_at(market, at * kCandleSeconds * kStepsPerSecond));
    }
    for (std::int64_t second = now - kSpreadSeconds; second <= now; ++second) {
        stats.note_second(second, model.touch_at(market, second * kStepsPerSecond));
    }
    return stats;
}

}  // namespace interlock
