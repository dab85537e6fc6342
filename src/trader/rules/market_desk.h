// What a strategy has before it when it prices and sizes orders on its market: quotes, funds,
// limits and what must wait. Every type plans through here, so the venue's filters, the size
// factor, funds and pacing are kept in one place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loop/rules/gates/reckoning.h"
#include "trader/rules/config_fields.h"
#include "trader/rules/strategy.h"

namespace interlock {

struct Quote {
    Side side = Side::buy;
    Decimal price;
    Decimal qty;
    friend bool operator==(const Quote&, const Quote&) = default;
};

struct MarketDesk {
    // `fee_rate` is a fraction; a buy is costed with it or the account's taker fee, whichever is
    // more. Fails when the market or a number is missing. `input` outlives the desk.
    static Result<MarketDesk> open(const StrategyInput& input, Decimal fee_rate);

    const StrategyInput* input = nullptr;
    const MarketFacts* facts = nullptr;
    // False: halted, one-sided or crossed. Then the three prices are zero and nothing is planned.
    bool is_quoted = false;
    Decimal bid;
    Decimal ask;
    Decimal mid;
    // What the venue takes as a price now.
    Decimal price_min;
    std::optional<Decimal> price_max;

    Decimal position;
    Decimal sell_free;   // Held and in no open sell.
    Decimal sell_total;  // The same with what own sells hold.
    Decimal cash_free;
    Decimal cash_total;  // The same with what own buys lock.
    Decimal base_value;  // position × mid.
    Decimal value;       // base_value + cash_total.
    Decimal cost_factor;

    // Why no order may be opened and open entries are to be cancelled; empty: they may.
    std::string_view entries_stopped;
    bool entries_wait = false;  // An order of uncertain fate somewhere on the account.
    bool buys_wait = false;     // An own order of that side is uncertain or on its way out.
    bool sells_wait = false;
    bool only_cancels = false;              // Halted.
    RiskMode risk_mode = RiskMode::normal;  // The effective one in this market.
    Decimal size_factor;                    // Of entries.
    Decimal entry_below;                    // An entry's value stays below this.
    Decimal exposure_left;                  // All new buys together stay below this.
    std::int64_t orders_allowed = 0;        // By venue limits, their rate, and the bound of a plan.
    std::int64_t standing_allowed = 0;      // Own orders that may stand at once.

    bool waits(Side side) const {
        return side == Side::buy ? buys_wait || entries_wait : sells_wait;
    }
    // base_value / value, to 1e-4; nothing without any value.
    std::optional<Decimal> base_share() const;
    Decimal buy_cost(Decimal notional, Reckoning& reckon) const {
        return reckon.multiply_up(notional, cost_factor);
    }
};

struct SizeWish {
    Decimal value;                       // In quote.
    std::optional<Decimal> value_below;  // The lifted one as well.
    std::optional<Decimal> qty_max;
};
// On tick and step, inside every filter of the market: buys down, sells up, quantities down. A
// value under the venue's least is lifted to it; nothing when that is more than allowed.
std::optional<Quote> shape_quote(
    const MarketDesk& desk, Side side, Decimal price, const SizeWish& wish);
// The wish of an entry: value × size factor, under the limits.
SizeWish entry_wish(const MarketDesk& desk, Decimal value);

// Appends a limit order; false when the plan or the pace has no room or funds do not reach. Keeps
// count of what is left in `desk`.
struct OrderStyle {
    bool post_only = true;
};
bool add_order(Plan& plan, MarketDesk& desk, const Quote& quote, OrderStyle style = {});
// Every own order that is known to stand and not already on its way out, at most kCancelsMax.
void cancel_all(Plan& plan, const StrategyInput& input);
void cancel_side(Plan& plan, const StrategyInput& input, Side side);
void add_cancel(Plan& plan, const OwnOrder& order);

// The supervision block that every type reports.
struct SupervisionSource {
    std::string_view signal;  // "range", "trend_up", "trend_down", "none", …
    const TimeframeSignals* signals = nullptr;
    Decimal order_value = {};  // Of one order; zero: the venue's least.
    bool rebalance_needed = false;
};
Json supervision_facts(const MarketDesk& desk, const SupervisionSource& source);
// "trend_up" or "trend_down" from a strength of 1 on, "range" below, "none" without signals.
std::string_view signal_word(const TimeframeSignals* signals);
Json text_or_null(const std::optional<Decimal>& value);

void describe_tick(ConfigFields& fields, std::int64_t& tick_seconds);
void describe_fee(ConfigFields& fields, Decimal& fee_rate);

}  // namespace interlock
