#include "trader/backtest/backtest_tally.h"

#include <algorithm>

namespace interlock {
namespace {

constexpr __int128 kUnitsPerLog = 1'000'000;          // Decimal units in 1e-12.
constexpr __int128 kUnitsPerQuantum = 1'000'000'000;  // Decimal units in 1e-9.
constexpr std::int64_t kHoursPerYear = 365 * 24;
constexpr std::int64_t kDaysPerYear = 365;

Result<Decimal> fraction_of(Decimal part, Decimal whole) {
    return whole.is_positive() ? divide_half_even(part, whole) : Result<Decimal>(Decimal());
}

// Results are told to nine places.
Decimal quantised(Decimal value) {
    return Decimal::from_units(value.units() / kUnitsPerQuantum * kUnitsPerQuantum);
}

// mean / deviation × √periods, to four places.
std::optional<Decimal> sharpe_of(
    __int128 sum, std::int64_t count, const ReturnWindow& window, std::int64_t periods) {
    const std::int64_t deviation = window.deviation(1);
    if (deviation == 0) {
        return std::nullopt;
    }
    const std::int64_t root_e6 = whole_root(static_cast<__int128>(periods) * 1'000'000'000'000);
    const __int128 ratio_e4 = sum * root_e6 / 100 / (static_cast<__int128>(count) * deviation);
    return Decimal::from_units(ratio_e4 * 100'000'000'000'000);
}

}  // namespace

void BacktestTally::note_span(Spans& spans, Timestamp at, Decimal equity_before) {
    const std::int64_t span = at.microseconds / spans.length;
    if (span == spans.current) {
        return;
    }
    if (spans.has_close && spans.close.is_positive()) {
        const __int128 change = equity_before.units() - spans.close.units();
        const auto ratio = divide_half_even(Decimal::from_units(change), spans.close);
        if (ratio) {
            const auto value = static_cast<std::int64_t>(ratio->units() / kUnitsPerLog);
            ++spans.count;
            spans.sum += value;
            spans.window.add(value);
        }
    }
    // The first span begins with the first mark: its opening stands for a close.
    spans.close = equity_before;
    spans.has_close = true;
    spans.current = span;
}

Result<void> BacktestTally::mark(const Mark& mark) {
    if (!has_mark_) {
        has_mark_ = true;
        last_ = mark;
        peak_ = mark.equity;
        peak_at_ = mark.at;
        first_price_ = mark.price;
        figures_.first_at = mark.at;
        figures_.equity_first = mark.equity;
        for (Spans* spans : {&hours_, &days_}) {
            spans->current = mark.at.microseconds / spans->length;
            spans->close = mark.equity;
            spans->has_close = true;
        }
    }
    note_span(hours_, mark.at, last_.equity);
    note_span(days_, mark.at, last_.equity);
    if (mark.equity > peak_) {
        peak_ = mark.equity;
        peak_at_ = mark.at;
    }
    TRY_ASSIGN(
        const Decimal drawdown,
        fraction_of(Decimal::from_units(peak_.units() - mark.equity.units()), peak_));
    if (drawdown > figures_.drawdown.fraction) {
        figures_.drawdown = {drawdown, peak_at_, mark.at};
    }
    const std::int64_t passed = mark.at.microseconds - last_.at.microseconds;
    exposure_time_ += last_exposure_.units() / kUnitsPerQuantum * passed;
    time_ += passed;
    TRY_ASSIGN(last_exposure_, fraction_of(mark.exposure, mark.equity));
    figures_.exposure_max = std::max(figures_.exposure_max, last_exposure_);
    note_curve(mark, drawdown, last_exposure_);
    last_ = mark;
    return {};
}

void BacktestTally::note_curve(const Mark& mark, Decimal drawdown, Decimal exposure) {
    std::int64_t bucket = mark.at.microseconds / curve_width_;
    if (!curve_.empty() && bucket == curve_bucket_) {
        CurvePoint& point = curve_.back();
        point.at = mark.at;
        point.price = mark.price;
        point.low = std::min(point.low, mark.low);
        point.high = std::max(point.high, mark.high);
        point.equity = mark.equity;
        point.drawdown = std::max(point.drawdown, drawdown);
        point.exposure = exposure;
        return;
    }
    while (curve_.size() >= kCurvePointsMax) {
        halve_curve();
        bucket = mark.at.microseconds / curve_width_;
    }
    curve_bucket_ = bucket;
    curve_.push_back({mark.at, mark.price, mark.low, mark.high, mark.equity, drawdown, exposure});
}

void BacktestTally::halve_curve() {
    curve_width_ *= 2;
    std::vector<CurvePoint> wider;
    wider.reserve(kCurvePointsMax);
    for (const CurvePoint& point : curve_) {
        const bool is_same = !wider.empty() && wider.back().at.microseconds / curve_width_ ==
                                                   point.at.microseconds / curve_width_;
        if (!is_same) {
            wider.push_back(point);
            continue;
        }
        CurvePoint merged = point;
        merged.low = std::min(merged.low, wider.back().low);
        merged.high = std::max(merged.high, wider.back().high);
        merged.drawdown = std::max(merged.drawdown, wider.back().drawdown);
        wider.back() = merged;
    }
    curve_ = std::move(wider);
}

Result<void> BacktestTally::take_fill(const BacktestFill& fill) {
    BacktestFigures& out = figures_;
    TRY_ASSIGN(out.fees, add(out.fees, fill.fee_quote));
    TRY_ASSIGN(out.turnover, add(out.turnover, fill.notional));
    TRY_ASSIGN(out.realized, add(out.realized, fill.realized));
    out.maker_fills += fill.fill.is_maker ? 1 : 0;
    if (fill.fill.side == Side::sell) {
        ++out.round_trips;
        out.round_trips_won += fill.realized > fill.fee_quote ? 1 : 0;
    }
    if (out.fills++ % drawn_every_ != 0) {
        return {};
    }
    if (drawn_.size() >= kDrawnFillsMax) {
        for (std::size_t i = 0; 2 * i < drawn_.size(); ++i) {
            drawn_[i] = drawn_[2 * i];
        }
        drawn_.resize((drawn_.size() + 1) / 2);
        drawn_every_ *= 2;
        if ((out.fills - 1) % drawn_every_ != 0) {
            return {};
        }
    }
    drawn_.push_back(
        {fill.fill.at,
         fill.fill.side,
         fill.fill.price,
         fill.fill.qty,
         fill.fee_quote,
         fill.realized});
    return {};
}

void BacktestTally::finish_spans(BacktestFigures& figures) const {
    const bool is_daily = days_.count >= kSharpeDaysMin;
    const Spans& spans = is_daily ? days_ : hours_;
    if (!is_daily && hours_.count < kSharpeHoursMin) {
        return;
    }
    figures.sharpe_of = is_daily ? "daily" : "hourly";
    figures.sharpe_returns = spans.count;
    figures.sharpe =
        sharpe_of(spans.sum, spans.count, spans.window, is_daily ? kDaysPerYear : kHoursPerYear);
}

Result<BacktestFigures> BacktestTally::figures() const {
    BacktestFigures figures = figures_;
    figures.last_at = last_.at;
    figures.equity_last = last_.equity;
    const auto change = [](Decimal later, Decimal earlier) {
        return fraction_of(Decimal::from_units(later.units() - earlier.units()), earlier);
    };
    TRY_ASSIGN(figures.total_return, change(last_.equity, figures.equity_first));
    TRY_ASSIGN(figures.hold_return, change(last_.price, first_price_));
    figures.total_return = quantised(figures.total_return);
    figures.hold_return = quantised(figures.hold_return);
    figures.drawdown.fraction = quantised(figures.drawdown.fraction);
    figures.exposure_max = quantised(figures.exposure_max);
    if (time_ > 0) {
        figures.exposure_mean = Decimal::from_units(exposure_time_ / time_ * kUnitsPerQuantum);
    }
    finish_spans(figures);
    return figures;
}

}  // namespace interlock
