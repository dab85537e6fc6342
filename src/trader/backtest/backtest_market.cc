#include "trader/backtest/backtest_market.h"

#include <algorithm>

#include "base/errors.h"
#include "market/rules/market_noise.h"

namespace interlock {
namespace {

constexpr std::int64_t kUnitsPerRowUnit = 10'000'000'000;  // Of a Decimal's units.
constexpr std::int64_t kBpsE2 = 1'000'000;

std::int64_t to_int64(__int128 value) {
    constexpr __int128 kMax = std::int64_t{1} << 62;
    return static_cast<std::int64_t>(std::min(value, kMax));
}

Result<std::int64_t> row_units(Decimal step, std::string_view what) {
    const __int128 units = step.units();
    if (units <= 0 || units % kUnitsPerRowUnit != 0) {
        return fail(
            errors::invalid_request,
            std::string(what) + " must be a positive multiple of 0.00000001.");
    }
    return to_int64(units / kUnitsPerRowUnit);
}

// The largest power of ten, at most `step`, that divides the value.
std::int64_t finer(std::int64_t step, std::int64_t value) {
    while (step > 1 && value % step != 0) {
        step /= 10;
    }
    return step;
}

}  // namespace

BacktestSteps steps_of(std::span<const BacktestRow> rows) {
    BacktestSteps steps{kRowUnit, kRowUnit};
    for (const BacktestRow& row : rows) {
        for (const std::int64_t price :
             {row.open, row.high, row.low, row.close, row.price, row.bid, row.ask}) {
            steps.tick = finer(steps.tick, price);
        }
        for (const std::int64_t quantity : {row.quantity, row.bid_quantity, row.ask_quantity}) {
            steps.lot = finer(steps.lot, quantity);
        }
        const __int128 price = std::max({row.high, row.price, row.ask});
        while (steps.lot > 1 && price * steps.lot > static_cast<__int128>(kRowUnit) * kRowUnit) {
            steps.lot /= 10;
        }
    }
    return steps;
}

Result<BacktestMoments> BacktestMoments::make(
    const MarketRules& rules, const BacktestAssumptions& assumptions) {
    BacktestMoments moments;
    moments.assumptions_ = assumptions;
    TRY_ASSIGN(moments.tick_, row_units(rules.tick_size, "The tick size"));
    TRY_ASSIGN(moments.lot_, row_units(rules.step_size, "The step size"));
    return moments;
}

std::int64_t BacktestMoments::ticks_of(std::int64_t units) const {
    return (units + tick_ / 2) / tick_;
}

// At least one tick, to the nearest.
std::int64_t BacktestMoments::spread_of(std::int64_t ticks) const {
    const __int128 exact = static_cast<__int128>(ticks) * assumptions_.spread_bps_e2;
    return std::max<std::int64_t>(1, to_int64((exact + kBpsE2 / 2) / kBpsE2));
}

std::int64_t BacktestMoments::depth_at(std::int64_t ticks) const {
    const __int128 price = static_cast<__int128>(ticks) * tick_;
    const __int128 units = static_cast<__int128>(assumptions_.depth_quote) * kRowUnit * kRowUnit /
                           std::max<__int128>(1, price);
    return std::clamp<std::int64_t>(to_int64(units / lot_), 1, kBookLotsMax.count);
}

void BacktestMoments::look_at(std::int64_t ticks) {
    if (ticks != looked_at_) {
        looked_at_ = ticks;
        spread_ = spread_of(ticks);
        depth_ = depth_at(ticks);
    }
}

bool BacktestMoments::is_low_first(const BacktestRow& row) const {
    const std::int64_t to_low = row.open - row.low;
    const std::int64_t to_high = row.high - row.open;
    if (to_low != to_high) {
        return to_low < to_high;
    }
    return mix_bits(assumptions_.seed, static_cast<std::uint64_t>(row.at.microseconds), 1) % 2 == 0;
}

std::size_t BacktestMoments::take_candle(const BacktestRow& row) {
    const bool low_first = is_low_first(row);
    const std::array<std::int64_t, kMomentsPerRowMax> prices{
        row.open, low_first ? row.low : row.high, low_first ? row.high : row.low, row.close};
    const std::int64_t length = row.closed_at.microseconds - row.at.microseconds;
    const std::int64_t volume = row.quantity / lot_ / static_cast<std::int64_t>(kMomentsPerRowMax);
    for (std::size_t i = 0; i < kMomentsPerRowMax; ++i) {
        BacktestMoment& moment = moments_[i];
        const std::int64_t ticks = std::max<std::int64_t>(2, ticks_of(prices[i]));
        look_at(ticks);
        const Lots depth{std::clamp<std::int64_t>(volume, 1, depth_)};
        moment.at.microseconds = row.at.microseconds + length * static_cast<std::int64_t>(i) / 3;
        moment.bid = {{std::max<std::int64_t>(1, ticks - spread_ / 2)}, depth};
        moment.ask = {{moment.bid.price.count + spread_}, depth};
        moment.trade = {};
    }
    return kMomentsPerRowMax;
}

std::size_t BacktestMoments::take_trade(const BacktestRow& row) {
    BacktestMoment& moment = moments_[0];
    moment.at = row.at;
    const std::int64_t ticks = std::max<std::int64_t>(2, ticks_of(row.price));
    look_at(ticks);
    const Lots depth{depth_};
    const bool is_sold = row.taker == BookSide::sell;
    moment.bid = {{is_sold ? ticks : std::max<std::int64_t>(1, ticks - spread_)}, depth};
    moment.ask = {{is_sold ? ticks + spread_ : ticks}, depth};
    moment.trade = {{ticks}, {std::min(row.quantity / lot_, kBookLotsMax.count)}, row.taker};
    return 1;
}

std::size_t BacktestMoments::take_quote(const BacktestRow& row) {
    BacktestMoment& moment = moments_[0];
    moment.at = row.at;
    const auto level = [&](std::int64_t price, std::int64_t quantity) {
        return MarketLevel{{ticks_of(price)}, {std::min(quantity / lot_, kBookLotsMax.count)}};
    };
    moment.bid = level(row.bid, row.bid_quantity);
    moment.ask = level(row.ask, row.ask_quantity);
    if (moment.bid.quantity.count == 0) {
        moment.bid = {};
    }
    if (moment.ask.quantity.count == 0) {
        moment.ask = {};
    }
    const bool is_crossed = moment.ask.price.count > 0 && moment.bid.price >= moment.ask.price;
    if (is_crossed) {
        moment.ask.price.count = moment.bid.price.count + 1;  // Finer than the tick.
    }
    const MarketLevel trade = level(row.price, row.quantity);
    moment.trade = {};
    if (trade.price.count > 0) {
        moment.trade = {trade.price, trade.quantity, row.taker};
    }
    return 1;
}

std::span<const BacktestMoment> BacktestMoments::of(const BacktestRow& row) {
    switch (row.kind) {
        case BacktestRow::Kind::candle:
            return {moments_.data(), take_candle(row)};
        case BacktestRow::Kind::trade:
            return {moments_.data(), take_trade(row)};
        case BacktestRow::Kind::quote:
            break;
    }
    return {moments_.data(), take_quote(row)};
}

}  // namespace interlock
