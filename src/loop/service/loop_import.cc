#include "loop/service/loop_import.h"

#include <algorithm>

#include "account/rules/facts.h"
#include "account/rules/imported_order.h"
#include "account/rules/order_form.h"
#include "base/errors.h"

namespace interlock {
namespace {

// The book of a live order, made where the account had none. Null: there is no such market.
SymbolBook* book_for(AccountBooks& books, const MarketSet& market, const Symbol& symbol) {
    if (SymbolBook* known = find_book(books.books, symbol)) {
        return known;
    }
    const MarketFacts* facts = market.find(symbol);
    if (facts == nullptr) {
        return nullptr;
    }
    const auto place = std::ranges::lower_bound(books.books, symbol, {}, &SymbolBook::symbol);
    SymbolBook book;
    book.symbol = symbol;
    book.base = facts->rules.base;
    book.quote = facts->rules.quote;
    return &*books.books.insert(place, std::move(book));
}

}  // namespace

Result<std::int64_t> import_history(Turn& turn, const HistoryImport& import) {
    const auto& [loop, feed, account, history] = import;
    TRY_ASSIGN(const AccountView view, load_account(turn, account));
    if (!view.account) {
        return fail(errors::unknown_account, "An account to be imported does not exist.");
    }
    AccountBooks books = *view.books;
    std::vector<std::string> reasons;
    Json list = Json::array();
    std::int64_t imported = 0;
    // Whether the oldest finished order of ours that the venue remembers had ended before the cut:
    // then nothing that it forgot can be of the time since.
    std::optional<bool> reaches_back;
    TRY_ASSIGN(Decimal exposure, worst_case_exposure(books.books));
    for (const VenueOrder& seen : history.orders) {
        if (!has_our_form(seen.order_client_id)) {
            continue;  // Foreign ones are reserved for and never touched.
        }
        TRY_ASSIGN(const auto known, load_order(turn, account, seen.order_client_id));
        if (!reaches_back) {
            reaches_back = known && !is_live(known->state);
        }
        if (known) {
            continue;
        }
        const OrderRecord order = imported_order(account, seen);
        // Trades of a finished one are booked by its row; only what may still fill needs a place.
        SymbolBook* const book = book_for(books, feed.facts({&seen.symbol, 1}), seen.symbol);
        if (book != nullptr && is_live(order.state)) {
            TRY(put_order(*book, order));
        }
        save_order(turn, order);
        // Booking what happened is no growth of exposure that anybody has to stop.
        TRY_ASSIGN(exposure, add(exposure, seen.filled_quote));
        reasons.push_back("unexpected_order:" + seen.order_client_id.text());
        list.push(encode(seen));
        ++imported;
    }
    if (!history.is_whole && !reaches_back.value_or(false)) {
        reasons.insert(reasons.begin(), "venue_history_incomplete");
    }
    if (reasons.empty()) {
        return imported;
    }
    AuditDraft draft = turn.draft("VENUE_HISTORY_IMPORTED");
    draft.tenant_id = account.tenant_id;
    draft.severity = AuditSeverity::critical;
    draft.reason = "the venue has orders that the backup does not know";
    draft.detail.set("account", encode(account));
    draft.detail.set("orders", imported);
    draft.detail.set("is_whole", history.is_whole);
    draft.artifacts.push_back(turn.put_artifact(to_text(list)));
    TRY(turn.audit(std::move(draft)));
    if (books != *view.books) {
        save_books(turn, account, std::move(books));
    }
    TRY(loop.recover(
        turn,
        account,
        escalate(
            view.account->recovery,
            {.at = turn.now(), .reasons = std::move(reasons), .exposure = exposure})));
    return imported;
}

}  // namespace interlock
