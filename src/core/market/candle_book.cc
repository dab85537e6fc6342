#include "core/market/candle_book.h"

#include "core/indicators/indicators.h"

namespace interlock {
namespace {

// A few looks from the span's first step to the last one asked for; nothing when there was no
// price.
std::optional<Candle> sampled_candle(
    const MarketModel& model, std::size_t market, std::int64_t first, std::int64_t last) {
    const Decimal tick_size = model.markets()[market].tick_size;
    std::optional<Candle> candle;
    std::int64_t before = first - 1;
    for (std::int64_t look = 0; look < kHydrationLooks; ++look) {
        const std::int64_t step = first + (last - first) * look / (kHydrationLooks - 1);
        if (step == before) {
            continue;
        }
        before = step;
        const auto price = mid_price(model.touch_at(market, step), tick_size);
        if (!price) {
            continue;
        }
        if (!candle) {
            candle = Candle{time_of_step(first), *price, *price, *price, *price};
        }
        candle->high = std::max(candle->high, *price);
        candle->low = std::min(candle->low, *price);
        candle->close = *price;
    }
    return candle;
}

}  // namespace

void CandleBook::turn_minute(Timestamp time, Decimal price) {
    const bool has_minute = minute_end_ > minute_.opened_at;
    if (!price.is_positive() || (has_minute && time < minute_.opened_at)) {
        return;
    }
    if (has_minute) {
        fold_minute();
    }
    for (const Timeframe timeframe : kTimeframes) {
        Series& series = series_[at(timeframe)];
        const Timestamp start = span_start(timeframe, time);
        if (series.has_open && series.open.opened_at < start) {
            close(timeframe, series.open);
            series.has_open = false;
        }
        const std::int64_t kept =
            length_of(timeframe).microseconds * static_cast<std::int64_t>(kCandlesKept);
        if (!series.closed.empty() &&
            (start - series.closed.back().opened_at).microseconds > kept) {
            series.closed.clear();
            series.is_fresh = false;
        }
    }
    minute_ = {span_start(Timeframe::m1, time), price, price, price, price};
    minute_end_ = minute_.opened_at + length_of(Timeframe::m1);
}

// The minute is over: it goes into the candle under way of every timeframe, its own included.
void CandleBook::fold_minute() {
    for (const Timeframe timeframe : kTimeframes) {
        Series& series = series_[at(timeframe)];
        if (!series.has_open) {
            series.open = minute_;
            series.open.opened_at = span_start(timeframe, minute_.opened_at);
            series.has_open = true;
            continue;
        }
        series.open.high = std::max(series.open.high, minute_.high);
        series.open.low = std::min(series.open.low, minute_.low);
        series.open.close = minute_.close;
    }
}

void CandleBook::close(Timeframe timeframe, const Candle& candle) {
    Series& series = series_[at(timeframe)];
    if (series.closed.size() == 2 * kCandlesKept) {
        series.closed.erase(series.closed.begin(), series.closed.begin() + kCandlesKept);
    }
    series.closed.push_back(candle);
    series.is_fresh = false;
}

bool CandleBook::can_load(Timeframe timeframe, const Candle& candle) const {
    const Series& series = series_[at(timeframe)];
    const bool is_before_prices = minute_end_ <= minute_.opened_at;
    const bool is_next = series.closed.empty() || series.closed.back().opened_at < candle.opened_at;
    return is_before_prices && is_next && !series.has_open &&
           candle.opened_at == span_start(timeframe, candle.opened_at);
}

void CandleBook::load(Timeframe timeframe, const Candle& candle) {
    if (can_load(timeframe, candle)) {
        close(timeframe, candle);
    }
}

void CandleBook::load_open(Timeframe timeframe, const Candle& candle) {
    if (can_load(timeframe, candle)) {
        Series& series = series_[at(timeframe)];
        series.open = candle;
        series.has_open = true;
    }
}

std::span<const Candle> CandleBook::closed(Timeframe timeframe) const {
    const std::vector<Candle>& all = series_[at(timeframe)].closed;
    return std::span(all).last(std::min(all.size(), kCandlesKept));
}

const TimeframeSignals& CandleBook::signals(Timeframe timeframe) const {
    const Series& series = series_[at(timeframe)];
    if (!series.is_fresh) {
        series.signals = signals_from(closed(timeframe), timeframe);
        series.is_fresh = true;
    }
    return series.signals;
}

MarketSignals CandleBook::signals(std::span<const Timeframe> timeframes) const {
    MarketSignals signals_of;
    for (const Timeframe timeframe : kTimeframes) {
        if (std::find(timeframes.begin(), timeframes.end(), timeframe) != timeframes.end()) {
            signals_of.list.push_back(signals(timeframe));
        }
    }
    return signals_of;
}

std::optional<Decimal> mid_price(const MarketTouch& touch, Decimal tick_size) {
    if (touch.halted || touch.bid.count <= 0 || touch.ask <= touch.bid) {
        return std::nullopt;
    }
    __int128 twice = 0;
    const __int128 ticks = static_cast<__int128>(touch.bid.count) + touch.ask.count;
    if (__builtin_mul_overflow(ticks, tick_size.units(), &twice)) {
        return std::nullopt;
    }
    return Decimal::from_units(twice / 2);
}

CandleBook hydrated_candles(const MarketModel& model, std::size_t market, std::int64_t step) {
    CandleBook book;
    for (const Timeframe timeframe : kTimeframes) {
        const std::int64_t steps = length_of(timeframe).microseconds / kMarketStep.microseconds;
        const std::int64_t current = step_of(span_start(timeframe, time_of_step(step)));
        for (std::int64_t back = kHydratedCandles; back > 0; --back) {
            const std::int64_t first = current - back * steps;
            if (const auto candle = sampled_candle(model, market, first, first + steps - 1)) {
                book.load(timeframe, *candle);
            }
        }
        if (current < step) {
            if (const auto candle = sampled_candle(model, market, current, step - 1)) {
                book.load_open(timeframe, *candle);
            }
        }
    }
    if (const auto price =
            mid_price(model.touch_at(market, step), model.markets()[market].tick_size)) {
        book.note_price(time_of_step(step), *price);
    }
    return book;
}

}  // namespace interlock
