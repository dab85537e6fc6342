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
