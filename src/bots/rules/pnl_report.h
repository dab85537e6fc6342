// Profit and loss of an account over a window, by docs/contracts/pnl.md#how-it-is-reckoned: per
// market and in total, from all trades ever booked, so that what was bought before the window has
// its cost.
//
// What cannot be known is never made up. Coins sold that were never bought here are left out and
// counted; a fee without a price, a trade that cannot be used or a position without a market price
// makes the result `incomplete`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "bots/rules/fifo_lots.h"
#include "market/wire/symbol.h"

namespace interlock {

inline constexpr std::int64_t kLookbackDaysMin = 1;
inline constexpr std::int64_t kLookbackDaysMax = 365;
inline constexpr std::int64_t kLookbackDaysDefault = 30;

// [to − lookback_days, to], both ends included.
struct PnlWindow {
    Timestamp to;
    std::int64_t lookback_days = kLookbackDaysDefault;
    Timestamp from() const { return to - Duration::of_days(lookback_days); }
    bool holds(Timestamp at) const { return from() <= at && at <= to; }
};

struct PnlMarket {
    Symbol symbol;
    Asset base;
    Asset quote;
    std::optional<Decimal> mid;  // Now; values what is still held.
};

// Everything but `unrealised` and what makes a result incomplete is of the window.
struct PnlFigures {
    Decimal realised;
    Decimal fees;  // In quote.
    Decimal volume;
    std::int64_t fills = 0;
    std::int64_t sells = 0;  // With a result: at least a part had a cost.
    std::int64_t wins = 0;   // Of those, above zero.
    Decimal unmatched_qty;   // Sold, never bought here; zero in a total, which adds no coins.
    std::optional<Decimal> unrealised = Decimal();  // Nothing: a position without a price.
    // Ever, because an old fee may be missing in the cost of a lot that is sold now.
    std::map<Asset, Decimal> unconverted_fees;
    std::int64_t unusable_fills = 0;
    // Further tellings of a trade; those that contradict the first one count as unusable too.
    std::int64_t repeated_fills = 0;

    bool is_incomplete() const {
        return !unrealised || !unconverted_fees.empty() || unusable_fills > 0;
    }
    // Wins of sells, half-even; nothing without a sell.
    std::optional<Decimal> win_rate() const;
    friend bool operator==(const PnlFigures&, const PnlFigures&) = default;
};

struct SymbolPnl {
    PnlMarket market;
    PnlFigures figures;
    Decimal position;
    Decimal position_cost;
};

// `fills` are all trades of the market, in any order, repeats included. Fails only when sums leave
// the range of a decimal.
Result<SymbolPnl> symbol_pnl(
    const PnlMarket& market, const PnlWindow& window, std::vector<PnlFill> fills);

struct TotalPnl {
    Asset quote;
    std::int64_t symbols = 0;
    std::vector<Symbol> other_quote;  // Left out: their figures are in another currency.
    std::vector<Symbol> unmatched;    // Markets that sold what was never bought here.
    PnlFigures figures;
    bool is_incomplete() const { return figures.is_incomplete() || !other_quote.empty(); }
};
Result<TotalPnl> total_pnl(Asset quote, std::span<const SymbolPnl> symbols);

// One line of the log each, without the line's end. Decimals are strings, as everywhere of ours.
struct PnlRunName {
    std::string run_id;
    PnlWindow window;
};
std::string pnl_line(const PnlRunName& run, const SymbolPnl& symbol);
std::string pnl_line(const PnlRunName& run, const TotalPnl& total);

}  // namespace interlock
