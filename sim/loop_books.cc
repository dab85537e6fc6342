// Our books and the venue's at the quiet end of a simulation: holdings, open orders and trades must
// be the same, exactly.
#include "sim/loop_invariant.h"

namespace interlock::sim {

void LoopInvariant::check_books() {
    for (const auto& [account, held] : accounts_) {
        if (held.account && held.books) {
            compare_with_venue(account, held);
        }
    }
}

void LoopInvariant::compare_with_venue(const VenueAccount& account, const Held& held) {
    const auto truth = venue_.truth(account);
    if (!truth) {
        broken("books", "the venue does not know " + account.tenant_id.text());
        return;
    }
    std::map<Asset, Decimal> holdings = held.account->money.holdings;
    for (const VenueBalance& balance : truth->balances) {
        const Decimal theirs = or_huge(add(balance.free, balance.locked));
        const Decimal ours = holdings[balance.asset];
        holdings.erase(balance.asset);
        if (ours != theirs) {
            broken(
                "books",
                account.tenant_id.text() + " holds " + to_text(ours) + " " +
                    std::string(balance.asset.text()) + ", the venue says " + to_text(theirs));
        }
    }
    for (const auto& [asset, ours] : holdings) {
        if (!ours.is_zero()) {
            broken(
                "books",
                account.tenant_id.text() + " holds " + to_text(ours) + " " +
                    std::string(asset.text()) + ", the venue knows of none");
        }
    }
    compare_orders(held, *truth);
    compare_fills(held, *truth);
    compare_slippage(account, *truth);
}

// What a decision's record says of an order's price is what the venue traded at, against the touch
// that the order was decided on.
void LoopInvariant::compare_slippage(const VenueAccount& account, const VenueReport& truth) {
    constexpr Decimal kRounding = Decimal::from_units(1'000'000'000);
    struct Traded {
        Decimal qty;
        Decimal quote;
    };
    std::map<OrderClientId, Traded> traded;
    for (const VenueFill& fill : truth.fills) {
        Traded& sum = traded[fill.order_client_id];
        sum.qty = or_huge(add(sum.qty, fill.qty));
        sum.quote = or_huge(add(sum.quote, or_huge(multiply_half_even(fill.qty, fill.price))));
    }
    for (const auto& [name, told] : recorded_) {
        if (name.first != account) {
            continue;
        }
        const Traded& sum = traded[name.second];
        if (sum.qty != told.filled_qty || sum.quote != told.filled_quote) {
            broken("slippage", name.second.text() + " is recorded with other fills than it had");
        }
        const OrderRecord& order = orders_.at(name);
        if (!told.slippage_bps || !order.touch_price || sum.qty.is_zero()) {
            continue;
        }
        const Decimal at_touch = or_huge(multiply_half_even(sum.qty, *order.touch_price));
        const bool buys = order.request.side == Side::buy;
        const Decimal worse =
            or_huge(buys ? subtract(sum.quote, at_touch) : subtract(at_touch, sum.quote));
        const Decimal bps = or_huge(
            divide_half_even(or_huge(multiply_half_even(worse, Decimal(10'000))), at_touch));
        const Decimal off = or_huge(subtract(bps, *told.slippage_bps));
        if (off > kRounding || or_huge(negate(off)) > kRounding) {
            broken(
                "slippage",
                name.second.text() + " is recorded with " + to_text(*told.slippage_bps) +
                    " basis points, the venue made it " + to_text(bps));
        }
    }
}

void LoopInvariant::compare_orders(const Held& held, const VenueReport& truth) {
    std::set<OrderClientId> live;
    for (const SymbolBook& book : held.books->books) {
        for (const OrderRecord& order : book.open) {
            live.insert(order.id());
            if (is_uncertain(order)) {
                broken("books", order.id().text() + " is still uncertain at the quiet end");
            }
        }
    }
    for (const VenueOrder& order : truth.open_orders) {
        if (live.erase(order.order_client_id) == 0) {
            broken("books", order.order_client_id.text() + " is open at the venue only");
        }
    }
    if (!live.empty()) {
        broken("books", live.begin()->text() + " is open in our books only");
    }
}

// Every fill of the venue is booked, none besides, and the venue's own money follows from them.
void LoopInvariant::compare_fills(const Held& held, const VenueReport& truth) {
    std::set<std::pair<Symbol, std::int64_t>> booked = held.trades;
    std::map<Asset, Decimal> money{{held.account->quote, Decimal(VenueModel::kDeposit)}};
    const auto move = [&](Asset asset, Decimal by) {
        money[asset] = or_huge(add(money[asset], by));
    };
    for (const VenueFill& fill : truth.fills) {
        if (booked.erase({fill.symbol, fill.trade_id}) == 0) {
            broken(
                "books",
                "the fill " + std::to_string(fill.trade_id) + " of " + fill.order_client_id.text() +
                    " was never booked");
        }
        const SymbolBook* book = find_book(held.books->books, fill.symbol);
        const auto quote = multiply_half_even(fill.qty, fill.price);
        if (book == nullptr || !quote) {
            continue;
        }
        const bool buys = fill.side == Side::buy;
        move(book->base, buys ? fill.qty : or_huge(negate(fill.qty)));
        move(book->quote, buys ? or_huge(negate(*quote)) : *quote);
        move(fill.fee_asset, or_huge(negate(fill.fee)));
    }
    if (!booked.empty()) {
        broken(
            "books",
            "trade " + std::to_string(booked.begin()->second) + " was booked and never happened");
    }
    for (const VenueBalance& balance : truth.balances) {
        if (or_huge(add(balance.free, balance.locked)) != money[balance.asset]) {
            broken(
                "money",
                "the venue's " + std::string(balance.asset.text()) +
                    " does not follow from its fills");
        }
    }
}

}  // namespace interlock::sim
