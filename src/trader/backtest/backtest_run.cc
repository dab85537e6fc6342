#include "trader/backtest/backtest_run.h"

#include <algorithm>

#include "base/errors.h"

namespace interlock {
namespace {

constexpr std::int64_t kSecond = Duration::of_seconds(1).microseconds;
// Statistics look back this far; what a still market did before needs no seconds.
constexpr std::int64_t kSecondsKept = kSpreadSeconds + 1;

Decimal decimal_of_row(std::int64_t units) {
    constexpr std::int64_t kUnitsOfARow = 10'000'000'000;
    return Decimal::from_units(static_cast<__int128>(units) * kUnitsOfARow);
}

// Everything one run needs, from the first row to the last.
class Run {
public:
    Run(BacktestOptions options, BacktestData& data, BacktestMoments moments)
        : options_(std::move(options)),
          data_(data),
          moments_(std::move(moments)),
          model_(options_.rules) {}

    Result<void> go(const std::function<void(const BacktestProgress&)>& on_progress) {
        BacktestRow row;
        std::int64_t told = 0;
        while (true) {
            const BacktestData::Next next = data_.next(row);
            if (next == BacktestData::Next::failed) {
                return std::unexpected(data_.error());
            }
            if (next == BacktestData::Next::end || (options_.to && row.at >= *options_.to)) {
                return finish();
            }
            hold_ = row.kind == BacktestRow::Kind::candle
                        ? std::max(kBacktestHold, row.closed_at - row.at)
                        : kBacktestHold;
            for (const BacktestMoment& moment : moments_.of(row)) {
                TRY(take(moment));
            }
            if (events_ - told >= kBacktestProgressEvents && on_progress) {
                told = events_;
                on_progress({data_.bytes_read(), data_.bytes_total(), events_, now_});
            }
        }
    }

    Result<BacktestResult> result();

private:
    Result<void> begin(Timestamp at);
    Result<void> take(const BacktestMoment& moment);
    Result<void> open_loop();
    Result<void> trade();
    Result<void> mark();
    Result<void> take_booked();
    Result<void> finish();
    void note_seconds(Timestamp at);
    void write(const BacktestMoment& moment);
    Decimal mid_of_ticks(std::int64_t twice_mid) const {
        return Decimal::from_units(options_.rules.tick_size.units() * twice_mid / 2);
    }

    BacktestOptions options_;
    BacktestData& data_;
    BacktestMoments moments_;
    BacktestModel model_;
    CandleBook candles_;
    std::unique_ptr<PaperExchange> exchange_;
    std::unique_ptr<BacktestLoop> loop_;  // Null while warming up.
    BacktestTally tally_;
    Timestamp now_;
    Timestamp start_;  // Trading begins.
    MarketTouch touch_;
    Duration hold_;
    std::int64_t noted_ = 0;  // The last second that is in the statistics.
    std::int64_t events_ = 0;
    std::int64_t warmup_events_ = 0;
    Timestamp next_beat_;
    Timestamp next_tick_;
    // Twice the mid, in ticks: now, and its range since the last mark.
    std::int64_t twice_mid_ = 0;
    std::int64_t low_ = 0;
    std::int64_t high_ = 0;
};

Result<void> Run::begin(Timestamp at) {
    PaperExchangeOptions options;
    options.fees = options_.fees;
    options.accounts_max = 1;
    options.finished_orders_max = 1000;
    options.fills_max = 1000;
    TRY_ASSIGN(exchange_, PaperExchange::make(model_, options, at));
    start_ = options_.from.value_or(at + options_.warmup);
    noted_ = at.microseconds / kSecond;
    return {};
}

// Each second that passed saw the touch before it, for as long as that touch holds.
void Run::note_seconds(Timestamp at) {
    const std::int64_t second = at.microseconds / kSecond;
    if (second <= noted_) {
        return;
    }
    const std::int64_t held = std::min(second, (now_ + hold_).microseconds / kSecond);
    for (std::int64_t s = noted_ + 1; s <= held; ++s) {
        const bool is_old = held - s > kSecondsKept;
        if (is_old && s % kCandleSeconds != 0) {
            const std::int64_t next_candle = (s / kCandleSeconds + 1) * kCandleSeconds;
            s = std::min(next_candle, held - kSecondsKept) - 1;
            continue;
        }
        exchange_->note_second(0, s, touch_);
    }
    noted_ = second;
}

void Run::write(const BacktestMoment& moment) {
    MarketView& view = exchange_->view_to_write(0);
    view.at = moment.at;
    view.halted = false;
    const auto set = [](std::vector<MarketLevel>& side, const MarketLevel& level) {
        side.resize(level.price.count > 0 ? 1 : 0);
        if (!side.empty()) {
            side.front() = level;
        }
    };
    set(view.bids, moment.bid);
    set(view.asks, moment.ask);
    view.trades.resize(moment.trade.quantity.count > 0 ? 1 : 0);
    if (!view.trades.empty()) {
        view.trades.front() = moment.trade;
    }
    touch_ = {.bid = moment.bid.price, .ask = moment.ask.price};
}

Result<void> Run::take(const BacktestMoment& moment) {
    if (exchange_ == nullptr) {
        TRY(begin(moment.at));
    } else {
        note_seconds(moment.at);
    }
    now_ = moment.at;
    ++events_;
    write(moment);
    if (touch_.bid.count > 0 && touch_.ask.count > 0) {
        twice_mid_ = touch_.bid.count + touch_.ask.count;
        low_ = low_ == 0 ? twice_mid_ : std::min(low_, twice_mid_);
        high_ = std::max(high_, twice_mid_);
        candles_.note_price(now_, mid_of_ticks(twice_mid_));
    }
    exchange_->play(0, now_);
    if (loop_ == nullptr) {
        if (now_ < start_ || twice_mid_ == 0) {
            ++warmup_events_;
            return {};
        }
        TRY(open_loop());
    }
    return trade();
}

Result<void> Run::open_loop() {
    TRY_ASSIGN(
        loop_,
        BacktestLoop::open(
            *exchange_,
            candles_,
            {.rules = options_.rules,
             .deposit = options_.deposit,
             .base_deposit = options_.base_deposit,
             .limits = options_.limits,
             .strategy = options_.strategy,
             .strategy_type = options_.strategy_type,
             .posture = options_.posture},
            mid_of_ticks(twice_mid_)));
    next_beat_ = now_;
    next_tick_ = now_;
    low_ = twice_mid_;
    high_ = twice_mid_;
    return {};
}

Result<void> Run::trade() {
    if (loop_->has_news()) {
        TRY(loop_->take_fills());
        TRY(take_booked());
    }
    if (now_ >= next_beat_) {
        next_beat_ = now_ + kBacktestBeatEvery;
        TRY(loop_->beat(now_));
        TRY(mark());
    }
    if (now_ >= next_tick_) {
        next_tick_ = now_ + options_.strategy->tick_every();
        TRY(loop_->tick(now_));
        TRY(take_booked());
    }
    return {};
}

Result<void> Run::take_booked() {
    if (loop_->has_booked()) {
        for (const BacktestFill& fill : loop_->take_booked()) {
            TRY(tally_.take_fill(fill));
        }
    }
    return {};
}

Result<void> Run::mark() {
    if (twice_mid_ == 0) {
        return {};
    }
    const Decimal price = mid_of_ticks(twice_mid_);
    TRY_ASSIGN(const Decimal held, multiply_half_even(loop_->book().position, price));
    loop_->look_at_market();
    const auto equity = loop_->equity();
    if (!equity) {
        return {};  // A side of the market is empty: there is no price to mark with.
    }
    TRY(tally_.mark(
        {.at = now_,
         .price = price,
         .low = mid_of_ticks(low_),
         .high = mid_of_ticks(high_),
         .equity = *equity,
         .exposure = held}));
    low_ = twice_mid_;
    high_ = twice_mid_;
    return {};
}

Result<void> Run::finish() {
    if (loop_ == nullptr) {
        return fail(
            errors::invalid_request,
            events_ == 0
                ? "The data has no row to trade on."
                : "The data ends before trading begins: nothing was left after warming up.");
    }
    TRY(loop_->beat(now_));
    return mark();
}

Result<BacktestResult> Run::result() {
    BacktestResult result;
    TRY_ASSIGN(result.figures, tally_.figures());
    TRY_ASSIGN(result.drift, loop_->reconcile_with_venue(now_));
    result.data = data_.notes();
    result.events = events_;
    result.warmup_events = warmup_events_;
    result.counts = loop_->counts();
    result.stops = loop_->stops();
    result.stop_count = loop_->stop_count();
    result.tier = to_word(loop_->tier());
    result.last_error = loop_->last_error();
    result.last_word = loop_->last_word();
    result.position = loop_->book().position;
    result.open_orders = static_cast<std::int64_t>(loop_->book().open.size());
    result.curve = tally_.curve();
    result.drawn = tally_.drawn();
    result.drawn_every = tally_.drawn_every();
    result.options = std::move(options_);
    return result;
}

}  // namespace

MarketRules backtest_rules(const Symbol& symbol, const Asset& base, const Asset& quote) {
    MarketRules rules;
    rules.symbol = symbol;
    rules.base = base;
    rules.quote = quote;
    rules.qty_max = Decimal(9'000'000);
    rules.market_qty_max = Decimal(1'000'000);
    rules.notional_min = Decimal(5);
    rules.notional_max = Decimal(9'000'000);
    rules.percent_up = Decimal::from_units(Decimal(12).units() / 10);
    rules.percent_down = Decimal::from_units(Decimal(8).units() / 10);
    rules.price_max = Decimal(1'000'000'000);
    return rules;
}

Result<BacktestResult> run_backtest(
    BacktestOptions options, const std::function<void(const BacktestProgress&)>& on_progress) {
    if (options.strategy == nullptr) {
        return fail(errors::invalid_request, "There is no strategy to run.");
    }
    TRY_ASSIGN(
        const auto data,
        BacktestData::open(
            {.paths = options.paths,
             .symbol = options.rules.symbol,
             .bad_rows_max = options.bad_rows_max}));
    TRY_ASSIGN(const auto rows, data->peek(kBacktestPeekRows));
    const BacktestSteps steps = steps_of(rows);
    MarketRules& rules = options.rules;
    if (rules.tick_size.is_zero()) {
        rules.tick_size = decimal_of_row(steps.tick);
    }
    if (rules.step_size.is_zero()) {
        rules.step_size = decimal_of_row(steps.lot);
    }
    rules.price_min = rules.tick_size;
    rules.qty_min = std::max(rules.qty_min, rules.step_size);
    TRY_ASSIGN(BacktestMoments moments, BacktestMoments::make(rules, options.assumptions));
    Run run(std::move(options), *data, std::move(moments));
    TRY(run.go(on_progress));
    return run.result();
}

}  // namespace interlock
