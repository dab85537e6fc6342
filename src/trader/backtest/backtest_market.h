// From rows to moments: what a market looked like at a time, in whole ticks and lots. The price
// path of a candle and the spread around a trade are assumptions, and this is where they are made
// (docs/backtest.md tells them to people):
//
// A candle is four prices at even distances: open, the extreme nearer to the open, the other
// extreme, close; an even choice falls by the seed. Half the spread lies on each side of a price,
// and a quarter of the candle's volume, but at most the depth, stands on each side.
//
// A trade happened at the touch: a seller's at the bid, a buyer's at the ask, and the other side is
// a spread away. The trade carries its own volume, the touch the depth.
//
// A recorded quote is taken as it is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "market/rules/market_model.h"
#include "market/wire/market_rules.h"
#include "trader/backtest/backtest_rows.h"

namespace interlock {

inline constexpr std::size_t kMomentsPerRowMax = 4;

struct BacktestMoment {
    Timestamp at;
    MarketLevel bid;  // A price of zero: nobody bids.
    MarketLevel ask;
    MarketTrade trade;  // A quantity of zero: no trade.
};

struct BacktestAssumptions {
    std::int64_t spread_bps_e2 = 200;   // In hundredths of a basis point: 2 bps.
    std::int64_t depth_quote = 10'000;  // What stands at the touch, in whole quote units.
    std::uint64_t seed = 1;
};

// The finest steps that the prices and quantities of these rows need, in hundred-millionths; powers
// of ten. A lot is worth one quote unit at most: few rows may not show how fine quantities are.
struct BacktestSteps {
    std::int64_t tick = 0;
    std::int64_t lot = 0;
};
BacktestSteps steps_of(std::span<const BacktestRow> rows);

class BacktestMoments {
public:
    // Fails with invalid_request when tick or lot are not whole hundred-millionths.
    static Result<BacktestMoments> make(
        const MarketRules& rules, const BacktestAssumptions& assumptions);

    // The moments of a row, in time order; they live until the next call. Empty when the row is too
    // small for tick or lot to show anything.
    std::span<const BacktestMoment> of(const BacktestRow& row);

private:
    BacktestMoments() = default;
    std::int64_t ticks_of(std::int64_t units) const;
    // Spread in ticks and depth in lots at a price; the latest are kept, because prices repeat.
    void look_at(std::int64_t ticks);
    std::int64_t spread_of(std::int64_t ticks) const;
    std::int64_t depth_at(std::int64_t ticks) const;
    std::size_t take_candle(const BacktestRow& row);
    std::size_t take_trade(const BacktestRow& row);
    std::size_t take_quote(const BacktestRow& row);
    bool is_low_first(const BacktestRow& row) const;

    BacktestAssumptions assumptions_;
    std::int64_t tick_ = 1;  // In hundred-millionths.
    std::int64_t lot_ = 1;
    std::int64_t looked_at_ = 0;
    std::int64_t spread_ = 1;
    std::int64_t depth_ = 1;
    std::array<BacktestMoment, kMomentsPerRowMax> moments_;
};

// A model without steps of its own: it lists the market and shows nothing, because moments come
// from outside.
class BacktestModel final : public MarketModel {
public:
    explicit BacktestModel(const MarketRules& rules) : rules_{rules} {}
    std::span<const MarketRules> markets() const override { return rules_; }
    MarketTouch touch_at(std::size_t, std::int64_t) const override { return halted_touch(); }
    void view_at(std::size_t, std::int64_t step, MarketView& view) const override {
        view = MarketView{};
        view.at = time_of_step(step);
        view.halted = true;
    }

private:
    static MarketTouch halted_touch() {
        MarketTouch touch;
        touch.halted = true;
        return touch;
    }

    std::array<MarketRules, 1> rules_;
};

}  // namespace interlock
