// The lots of one market by docs/contracts/pnl.md#how-it-is-reckoned: what is left of every buy,
// oldest first, at its cost with fees, and what each sell made of them.
//
// For reports only. Gates and treasury go by account/rules, where a fee is an expense when it is
// paid and not a part of the cost. Both take the same coins from the same lots, so positions are
// always equal and the two results differ by nothing but the fees that open lots still carry.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "account/wire/booked_fill.h"
#include "base/money.h"
#include "base/time.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind unusable_fill{
    "unusable_fill", 422, false, "Compare the trade with the venue's own record of it."};
}  // namespace errors

// A trade without its names: a report holds all trades of a market at once.
struct PnlFill {
    std::int64_t trade_id = 0;
    Timestamp at;
    Side side = Side::buy;
    Decimal qty;
    Decimal price;
    Decimal fee;
    Asset fee_asset;
    std::optional<Decimal> fee_price;  // Of a fee in a third asset, when the trade happened.
    friend bool operator==(const PnlFill&, const PnlFill&) = default;
};
PnlFill pnl_fill_of(const BookedFill& booked);

struct PnlLot {
    Decimal qty;   // > 0.
    Decimal cost;  // Quote, fees included.
    friend bool operator==(const PnlLot&, const PnlLot&) = default;
};

// What one trade came to.
struct PnlOutcome {
    Decimal notional;
    Decimal fee_quote;  // The whole fee, in quote; zero when it has no price.
    bool is_fee_unconverted = false;
    // Of sells only. `matched_qty` includes the coins of a fee in base.
    Decimal matched_qty;
    Decimal unmatched_qty;
    Decimal realised;  // Of the matched part: its share of the proceeds less fees and cost.
};

class FifoLots {
public:
    FifoLots(Asset base, Asset quote) : base_(base), quote_(quote) {}

    // Trades come in the order they happened. Changes everything or, with an error, nothing:
    // `unusable_fill` for one that cannot have happened, `out_of_range` for sums that do not fit.
    Result<PnlOutcome> apply(const PnlFill& fill);

    const std::deque<PnlLot>& lots() const { return lots_; }
    Decimal qty() const { return qty_; }
    Decimal cost() const { return cost_; }

private:
    struct Fee {
        Decimal base;   // Coins of the market itself.
        Decimal quote;  // Charged in quote: paid in it, or converted.
        Decimal value;  // All of it, in quote.
        bool is_unconverted = false;
    };
    Result<Fee> fee_of(const PnlFill& fill) const;
    Result<void> buy(const PnlFill& fill, const Fee& fee, const PnlOutcome& outcome);
    Result<void> sell(const PnlFill& fill, const Fee& fee, PnlOutcome& outcome);
    Result<Decimal> cost_of_oldest(Decimal qty) const;
    void take_oldest(Decimal qty, Decimal cost);

    Asset base_;
    Asset quote_;
    std::deque<PnlLot> lots_;  // Oldest first.
    Decimal qty_;
    Decimal cost_;
};

}  // namespace interlock
