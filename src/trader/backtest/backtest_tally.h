// What a backtest came to: equity marked as time goes on, fills as they are booked, and from them
// return, drawdown, Sharpe, exposure and the curve that is drawn.
//
// Everything is counted in exact decimals and whole numbers, so that the same data gives the same
// bytes. Memory is bounded: the curve halves its resolution when it is full, drawn fills are
// thinned the same way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "market/rules/market_stats.h"
#include "trader/backtest/backtest_loop.h"

namespace interlock {

inline constexpr std::size_t kCurvePointsMax = 1200;
inline constexpr std::size_t kDrawnFillsMax = 2000;
// With fewer returns there is no Sharpe ratio; with this many days it is of daily returns.
inline constexpr std::int64_t kSharpeHoursMin = 24;
inline constexpr std::int64_t kSharpeDaysMin = 30;

struct CurvePoint {
    Timestamp at;  // Of the latest mark inside.
    Decimal price;
    Decimal low;
    Decimal high;
    Decimal equity;
    Decimal drawdown;  // The deepest inside, a fraction.
    Decimal exposure;  // A fraction of equity.
};

struct DrawnFill {
    Timestamp at;
    Side side = Side::buy;
    Decimal price;
    Decimal qty;
    Decimal fee_quote;
    Decimal realized;
};

struct Drawdown {
    Decimal fraction;
    Timestamp peak_at;
    Timestamp trough_at;
};

struct BacktestFigures {
    Timestamp first_at;
    Timestamp last_at;
    Decimal equity_first;
    Decimal equity_last;
    Decimal total_return;  // Fractions.
    Decimal hold_return;   // Of the market itself.
    Drawdown drawdown;
    std::optional<Decimal> sharpe;
    std::string sharpe_of;  // "daily" or "hourly" returns.
    std::int64_t sharpe_returns = 0;
    Decimal exposure_mean;
    Decimal exposure_max;
    std::int64_t fills = 0;
    std::int64_t maker_fills = 0;
    Decimal fees;
    Decimal turnover;
    Decimal realized;              // Of sells against what was paid, before fees.
    std::int64_t round_trips = 0;  // Sells that closed something.
    std::int64_t round_trips_won = 0;
};

class BacktestTally {
public:
    struct Mark {
        Timestamp at;
        Decimal price;  // Mid now, and the range of mids since the last mark.
        Decimal low;
        Decimal high;
        Decimal equity;
        Decimal exposure;  // What is held, in quote.
    };
    Result<void> mark(const Mark& mark);
    Result<void> take_fill(const BacktestFill& fill);

    Result<BacktestFigures> figures() const;
    // Of the curve's bucket under way too.
    const std::vector<CurvePoint>& curve() const { return curve_; }
    const std::vector<DrawnFill>& drawn() const { return drawn_; }
    std::int64_t drawn_every() const { return drawn_every_; }

private:
    // Returns over equal spans, from the last mark of each.
    struct Spans {
        std::int64_t length = 0;  // In microseconds.
        std::int64_t current = 0;
        Decimal close;  // Of the span before the current one.
        bool has_close = false;
        std::int64_t count = 0;
        __int128 sum = 0;  // Of returns in 1e-12.
        ReturnWindow window;
    };
    static void note_span(Spans& spans, Timestamp at, Decimal equity_before);
    void note_curve(const Mark& mark, Decimal drawdown, Decimal exposure);
    void halve_curve();
    void finish_spans(BacktestFigures& figures) const;

    BacktestFigures figures_;
    bool has_mark_ = false;
    Mark last_;
    Decimal peak_;
    Timestamp peak_at_;
    Decimal first_price_;
    Decimal last_exposure_;       // A fraction.
    __int128 exposure_time_ = 0;  // Σ fraction in 1e-9 × microseconds.
    __int128 time_ = 0;
    Spans hours_{.length = Duration::of_hours(1).microseconds, .close = {}, .window = {}};
    Spans days_{.length = Duration::of_days(1).microseconds, .close = {}, .window = {}};
    std::vector<CurvePoint> curve_;
    std::int64_t curve_width_ = Duration::of_seconds(60).microseconds;
    std::int64_t curve_bucket_ = 0;
    std::vector<DrawnFill> drawn_;
    std::int64_t drawn_every_ = 1;
};

}  // namespace interlock
