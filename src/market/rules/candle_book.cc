#include "market/rules/candle_book.h"

#include "market/rules/indicators.h"

namespace interlock {
namespace {

// A few looks from the span's first step to the last one asked for; nothing when there was no
// price.
std::optional<Candle> sampled_candle(
    const ModelMoment& moment, std::int64_t first, std::int64_t last) {
    const Decimal tick_size = moment.model.markets()[moment.market].tick_size;
    std::optional<Candle> candle;
    std::int64_t before = first - 1;
    for (std::int64_t look = 0; look < kHydrationLooks; ++look) {
        const std::int64_t step = first + (last - first) * look / (kHydrationLooks - 1);
        if (step == before) {
            continue;
        }
        before = step;
        const auto price = mid_price(moment.model.touch_at(moment.market, step), tick_size);
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
            series.has_bandwidths = false;
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
    series.has_bandwidths = false;
}

void CandleBook::load(Timeframe timeframe, const History& history) {
    Series& series = series_[at(timeframe)];
    series = {};
    const auto fits = [&](const Candle& candle) {
        return candle.opened_at == span_start(timeframe, candle.opened_at) &&
               (series.closed.empty() || series.closed.back().opened_at < candle.opened_at);
    };
    for (const Candle& candle : history.closed) {
        if (fits(candle)) {
            close(timeframe, candle);
        }
    }
    if (history.open && fits(*history.open)) {
        series.open = *history.open;
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

std::optional<Decimal> CandleBook::bandwidth_quantile(const BandwidthWish& wish) const {
    const Series& series = series_[at(wish.timeframe)];
    if (!series.has_bandwidths) {
        series.bandwidths = sorted_bandwidths(closed(wish.timeframe));
        series.has_bandwidths = true;
    }
    return quantile_of(series.bandwidths, wish.quantile);
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

void hydrate(CandleBook& book, Timeframe timeframe, const ModelMoment& moment) {
    const std::int64_t steps = length_of(timeframe).microseconds / kMarketStep.microseconds;
    const std::int64_t current = step_of(span_start(timeframe, time_of_step(moment.step)));
    CandleBook::History history;
    history.closed.reserve(static_cast<std::size_t>(kHydratedCandles));
    for (std::int64_t back = kHydratedCandles; back > 0; --back) {
        const std::int64_t first = current - back * steps;
        if (const auto candle = sampled_candle(moment, first, first + steps - 1)) {
            history.closed.push_back(*candle);
        }
    }
    if (current < moment.step) {
        history.open = sampled_candle(moment, current, moment.step - 1);
    }
    book.load(timeframe, history);
}

}  // namespace interlock
