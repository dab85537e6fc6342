// Books one trade: money, lots, fees, realised result, reserve accrual and the order's own record,
// all or nothing.
#include "account/rules/account.h"
#include "account/rules/exact.h"
#include "account/rules/postings.h"
#include "base/check.h"
#include "base/errors.h"

namespace interlock {
namespace {

// What a fill does beyond the account's money; found out before anything is changed.
struct FillPlan {
    AccountMoney money;
    Lot bought;          // Empty for sells.
    Decimal sold;        // Taken from the lots; zero for buys.
    Decimal fee_taken;   // Taken from the lots of the fee's own market.
    Exact realized;      // Of this market.
    Exact fee_realized;  // Of the coins given as fee.
    Exact fee_quote;
    Decimal notional;
    bool fee_unconverted = false;
};

Result<void> check_fill(const FillTarget& target, const VenueFill& fill) {
    const VenueOrderRequest& asked = target.order.request;
    if (fill.symbol != target.book.symbol || fill.symbol != asked.symbol ||
        fill.side != asked.side || fill.order_client_id != asked.order_client_id) {
        return fail(errors::books_drift, "a trade does not belong to the order it names");
    }
    if (!fill.qty.is_positive() || !fill.price.is_positive()) {
        return fail(errors::books_drift, "a trade needs a quantity and a price above zero");
    }
    return {};
}

// A fee in an asset that is neither base nor quote.
Result<void> plan_third_fee(FillPlan& plan, const FillTarget& target, const FillInput& input) {
    const VenueFill& fill = input.fill;
    TRY_ASSIGN(const Decimal missing, subtract(fill.fee, held(plan.money, fill.fee_asset)));
    if (missing.is_positive()) {
        // The venue took coins we never saw arrive: they came from outside.
        TRY(post(plan.money, fill.fee_asset, &AssetBooks::external, missing));
    }
    TRY_ASSIGN(const Decimal outflow, negate(fill.fee));
    TRY(post(plan.money, fill.fee_asset, &AssetBooks::fees, outflow));
    if (input.fee_price) {
        plan.fee_quote = Exact(fill.fee).times_up(*input.fee_price);
    } else {
        plan.fee_unconverted = true;
        Decimal& unconverted = plan.money.unconverted_fees[fill.fee_asset];
        TRY_ASSIGN(unconverted, add(unconverted, fill.fee));
    }
    const SymbolBook* lots = input.fee_book;
    if (lots == nullptr || lots->base != fill.fee_asset || lots->quote != target.account.quote) {
        return {};
    }
    plan.fee_taken = std::min(std::max(fill.fee, Decimal()), lots->position);
    TRY_ASSIGN(const Decimal cost, cost_of_oldest(*lots, plan.fee_taken));
    // Without a price the coins leave at cost: no result is made up.
    plan.fee_realized =
        input.fee_price ? Exact(plan.fee_taken).times_even(*input.fee_price) - cost : Exact();
    return {};
}

Result<void> plan_buy(FillPlan& plan, const FillTarget& target, const FillInput& input) {
    const VenueFill& fill = input.fill;
    const SymbolBook& book = target.book;
    TRY_ASSIGN(const Decimal outflow, negate(plan.notional));
    TRY(post(plan.money, book.quote, &AssetBooks::market, outflow));
    TRY(post(plan.money, book.base, &AssetBooks::market, fill.qty));
    plan.bought = {
        .qty = fill.qty, .cost = plan.notional, .trade_id = fill.trade_id, .at = fill.at};
    TRY_ASSIGN(const Decimal fee_outflow, negate(fill.fee));
    if (fill.fee_asset == book.base) {
        if (fill.fee >= fill.qty) {
            return fail(errors::books_drift, "a trade's fee is all it bought, or more");
        }
        TRY(post(plan.money, book.base, &AssetBooks::fees, fee_outflow));
        TRY_ASSIGN(const Decimal fee_quote, multiply_half_even(fill.fee, fill.price));
        plan.fee_quote = fee_quote;
        TRY_ASSIGN(plan.bought.qty, subtract(fill.qty, fill.fee));
        TRY_ASSIGN(plan.bought.cost, subtract(plan.notional, fee_quote));
        return {};
    }
    if (fill.fee_asset == book.quote || fill.fee.is_zero()) {
        TRY(post(plan.money, book.quote, &AssetBooks::fees, fee_outflow));
        plan.fee_quote = fill.fee;
        return {};
    }
    return plan_third_fee(plan, target, input);
}

Result<void> plan_sell(FillPlan& plan, const FillTarget& target, const FillInput& input) {
    const VenueFill& fill = input.fill;
    const SymbolBook& book = target.book;
    TRY_ASSIGN(const Decimal outflow, negate(fill.qty));
    TRY(post(plan.money, book.base, &AssetBooks::market, outflow));
    TRY(post(plan.money, book.quote, &AssetBooks::market, plan.notional));
    plan.sold = fill.qty;
    Exact proceeds = plan.notional;
    TRY_ASSIGN(const Decimal fee_outflow, negate(fill.fee));
    if (fill.fee_asset == book.base && !fill.fee.is_zero()) {
        TRY(post(plan.money, book.base, &AssetBooks::fees, fee_outflow));
        TRY_ASSIGN(plan.sold, add(fill.qty, fill.fee));
        // The fee's coins are given away at the price of the trade, and that is the expense.
        plan.fee_quote = Exact(fill.fee).times_even(fill.price);
        proceeds += plan.fee_quote;
    } else if (fill.fee_asset == book.quote || fill.fee.is_zero()) {
        TRY(post(plan.money, book.quote, &AssetBooks::fees, fee_outflow));
        plan.fee_quote = fill.fee;
    } else {
        TRY(plan_third_fee(plan, target, input));
    }
    TRY_ASSIGN(const Decimal cost, cost_of_oldest(book, plan.sold));
    plan.realized = proceeds - cost;
    return {};
}

// The day's figures and the reserve's share of a gain.
Result<FillApplied> plan_result(FillPlan& plan, const Account& account) {
    FillApplied applied{.applied = true};
    applied.notional = plan.notional;
    applied.fee_unconverted = plan.fee_unconverted;
    TRY_ASSIGN(applied.realized_gross, (plan.realized + plan.fee_realized).result());
    TRY_ASSIGN(applied.fee_quote, plan.fee_quote.result());
    TRY_ASSIGN(
        applied.accrual,
        reserve_accrual(applied.realized_gross, account.limits.reserve_accrual_rate));
    TRY_ASSIGN(plan.money.treasury, accrue_reserve(plan.money.treasury, applied.accrual));
    // The day the account is at, whatever the venue's clock says: one that lags would book a loss
    // to a day whose limit nobody checks any more. The venue's time stays in the trade's record.
    DayBucket& day = plan.money.days.back();
    if (applied.realized_gross.is_negative()) {
        TRY_ASSIGN(day.losses, subtract(day.losses, applied.realized_gross));
    } else {
        TRY_ASSIGN(day.gains, add(day.gains, applied.realized_gross));
    }
    TRY_ASSIGN(day.fees, add(day.fees, applied.fee_quote));
    TRY_ASSIGN(day.accrual, add(day.accrual, applied.accrual));
    TRY_ASSIGN(day.volume, add(day.volume, plan.notional));
    day.fills += 1;
    return applied;
}

}  // namespace

FillInput priced_fill(
    const VenueFill& fill,
    const Account& account,
    std::vector<SymbolBook>& books,
    const MarketSet& market) {
    FillInput input{.fill = fill};
    if (fill.fee_asset == account.quote) {
        return input;
    }
    for (const MarketFacts& facts : market.markets) {
        if (facts.rules.base == fill.fee_asset && facts.rules.quote == account.quote) {
            input.fee_price = mid_of(facts);
        }
    }
    for (SymbolBook& book : books) {
        if (book.base == fill.fee_asset && book.symbol != fill.symbol) {
            input.fee_book = &book;
        }
    }
    return input;
}

BookedTrade booked_trade(
    const FillInput& input, const SymbolBook& book, const FillApplied& applied) {
    const Asset fee_asset = input.fill.fee_asset;
    return {
        .fill = input.fill,
        .third_fee_price =
            fee_asset == book.base || fee_asset == book.quote ? std::nullopt : input.fee_price,
        .realized = applied.realized_gross,
        .fee_quote = applied.fee_quote,
    };
}

Result<FillApplied> apply_fill(FillTarget target, const FillInput& input) {
    const VenueFill& fill = input.fill;
    TRY(check_fill(target, fill));
    if (has_trade(target.order, fill.trade_id)) {
        return FillApplied{};
    }
    FillPlan plan;
    plan.money = target.account.money;
    TRY_ASSIGN(plan.notional, multiply_half_even(fill.qty, fill.price));
    TRY(fill.side == Side::buy ? plan_buy(plan, target, input) : plan_sell(plan, target, input));
    TRY_ASSIGN(FillApplied applied, plan_result(plan, target.account));
    TRY_ASSIGN(const Decimal realized, (plan.realized + target.book.realized).result());
    TRY_ASSIGN(FillNoted noted, note_fill(target.order, fill));
    TRY_ASSIGN(noted.order.fee_quote, add(noted.order.fee_quote, applied.fee_quote));
    const StrategyId strategy_id = target.order.strategy_id;
    TRY_ASSIGN(const Decimal moved, subtract(plan.bought.qty, plan.sold));
    TRY_ASSIGN(const Decimal net, add(net_qty_of(target.book.tallies, strategy_id), moved));
    SymbolBook* fee_book = plan.fee_taken.is_positive() ? input.fee_book : nullptr;
    Decimal fee_book_realized;
    if (fee_book != nullptr) {
        TRY_ASSIGN(fee_book_realized, (plan.fee_realized + fee_book->realized).result());
    }
    TRY(add_lot(target.book, plan.bought));
    // From here on nothing can fail: the cost of both was asked for above.
    CHECK(take_lots(target.book, plan.sold).has_value());
    if (fee_book != nullptr) {
        CHECK(take_lots(*fee_book, plan.fee_taken).has_value());
        fee_book->realized = fee_book_realized;
    }
    target.book.realized = realized;
    if (!strategy_id.empty()) {
        note_traded(
            tally_for(target.book.tallies, strategy_id),
            net,
            {.price = fill.price, .side = fill.side, .trade_id = fill.trade_id, .at = fill.at});
    }
    target.account.money = std::move(plan.money);
    target.account.version += 1;
    target.order = std::move(noted.order);
    applied.drift = std::move(noted.drift);
    return applied;
}

}  // namespace interlock
