#include "bots/rules/fifo_lots.h"

#include <algorithm>

#include "account/rules/exact.h"
#include "base/check.h"
#include "base/errors.h"

namespace interlock {
namespace {

// amount × part / whole, half-even. What is left of a lot is the exact rest, so only the split
// depends on the rounding.
Result<Decimal> share_of(Decimal amount, Decimal part, Decimal whole) {
    if (part == whole) {
        return amount;
    }
    if (auto share = Exact(amount).times_even(part).over_even(whole).result()) {
        return share;
    }
    return Exact(part).over_even(whole).times_even(amount).result();
}

}  // namespace

PnlFill pnl_fill_of(const BookedFill& booked) {
    const VenueFill& fill = booked.fill;
    return {
        .trade_id = fill.trade_id,
        .at = fill.at,
        .side = fill.side,
        .qty = fill.qty,
        .price = fill.price,
        .fee = fill.fee,
        .fee_asset = fill.fee_asset,
        .fee_price = booked.fee_price};
}

Result<FifoLots::Fee> FifoLots::fee_of(const PnlFill& fill) const {
    Fee fee;
    if (fill.fee.is_zero()) {
        return fee;
    }
    if (fill.fee_asset == quote_) {
        fee.quote = fill.fee;
        fee.value = fill.fee;
    } else if (fill.fee_asset == base_) {
        fee.base = fill.fee;
        TRY_ASSIGN(fee.value, multiply_half_even(fill.fee, fill.price));
    } else if (fill.fee_price) {
        TRY_ASSIGN(fee.quote, multiply_round_up(fill.fee, *fill.fee_price));
        fee.value = fee.quote;
    } else {
        fee.is_unconverted = true;
    }
    return fee;
}

Result<PnlOutcome> FifoLots::apply(const PnlFill& fill) {
    if (!fill.qty.is_positive() || !fill.price.is_positive()) {
        return fail(errors::unusable_fill, "a trade needs a quantity and a price above zero");
    }
    TRY_ASSIGN(const Fee fee, fee_of(fill));
    PnlOutcome outcome;
    TRY_ASSIGN(outcome.notional, multiply_half_even(fill.qty, fill.price));
    outcome.fee_quote = fee.value;
    outcome.is_fee_unconverted = fee.is_unconverted;
    if (fill.side == Side::buy) {
        TRY(buy(fill, fee, outcome));
    } else {
        TRY(sell(fill, fee, outcome));
    }
    return outcome;
}

Result<void> FifoLots::buy(const PnlFill& fill, const Fee& fee, const PnlOutcome& outcome) {
    PnlLot lot;
    TRY_ASSIGN(lot.qty, subtract(fill.qty, fee.base));
    if (!lot.qty.is_positive()) {
        return fail(errors::unusable_fill, "a trade's fee is all it bought, or more");
    }
    TRY_ASSIGN(lot.cost, add(outcome.notional, fee.quote));
    if (lot.cost.is_negative()) {
        return fail(errors::unusable_fill, "a trade's rebate is more than it cost");
    }
    TRY_ASSIGN(const Decimal qty, add(qty_, lot.qty));
    TRY_ASSIGN(cost_, add(cost_, lot.cost));
    qty_ = qty;
    lots_.push_back(lot);
    return {};
}

Result<void> FifoLots::sell(const PnlFill& fill, const Fee& fee, PnlOutcome& outcome) {
    TRY_ASSIGN(const Decimal wanted, add(fill.qty, fee.base));
    if (!wanted.is_positive()) {
        return fail(errors::unusable_fill, "a trade's rebate is all it sold, or more");
    }
    outcome.matched_qty = std::min(wanted, qty_);
    TRY_ASSIGN(outcome.unmatched_qty, subtract(wanted, outcome.matched_qty));
    if (outcome.matched_qty.is_zero()) {
        return {};  // Coins of unknown cost make no result at all.
    }
    TRY_ASSIGN(const Decimal proceeds, subtract(outcome.notional, fee.quote));
    TRY_ASSIGN(const Decimal share, share_of(proceeds, outcome.matched_qty, wanted));
    TRY_ASSIGN(const Decimal cost, cost_of_oldest(outcome.matched_qty));
    TRY_ASSIGN(outcome.realised, subtract(share, cost));
    take_oldest(outcome.matched_qty, cost);
    return {};
}

Result<Decimal> FifoLots::cost_of_oldest(Decimal qty) const {
    Exact cost;
    Decimal left = qty;
    for (const PnlLot& lot : lots_) {
        if (lot.qty > left) {
            TRY_ASSIGN(const Decimal part, share_of(lot.cost, left, lot.qty));
            cost += part;
            break;
        }
        cost += lot.cost;
        TRY_ASSIGN(left, subtract(left, lot.qty));
    }
    return cost.result();
}

// Parts of sums that are known to fit, so nothing here can fail.
void FifoLots::take_oldest(Decimal qty, Decimal cost) {
    CHECK(qty <= qty_);
    qty_ = subtract(qty_, qty).value();
    cost_ = subtract(cost_, cost).value();
    while (!lots_.empty() && lots_.front().qty <= qty) {
        qty = subtract(qty, lots_.front().qty).value();
        cost = subtract(cost, lots_.front().cost).value();
        lots_.pop_front();
    }
    if (qty.is_positive()) {
        PnlLot& cut = lots_.front();
        cut.qty = subtract(cut.qty, qty).value();
        cut.cost = subtract(cut.cost, cost).value();
    }
}

}  // namespace interlock
