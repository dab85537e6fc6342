#include "account/rules/symbol_book.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "account/rules/exact.h"
#include "base/errors.h"
#include "codec/field_reader.h"
#include "market/wire/market_fields.h"

namespace interlock {
namespace {

template <class Orders>
auto order_at(Orders& orders, const OrderClientId& id) {
    return std::lower_bound(
        orders.begin(),
        orders.end(),
        id,
        [](const OrderRecord& order, const OrderClientId& wanted) { return order.id() < wanted; });
}

template <class Books>
auto book_at(Books& books, const Symbol& symbol) -> decltype(books.data()) {
    const auto found = std::lower_bound(
        books.begin(), books.end(), symbol, [](const SymbolBook& book, const Symbol& wanted) {
            return book.symbol < wanted;
        });
    return found == books.end() || found->symbol != symbol ? nullptr : &*found;
}

// cost × part / whole, half-even. Only the split depends on the rounding: what is left of the lot
// is the exact rest.
Result<Decimal> share_of(Decimal cost, Decimal part, Decimal whole) {
    if (auto share = Exact(cost).times_even(part).over_even(whole).result()) {
        return share;
    }
    return Exact(part).over_even(whole).times_even(cost).result();
}

// A lot is a row of quantity, cost, trade id and time.
std::optional<Lot> read_lot(const Json& row) {
    constexpr std::size_t kWidth = 4;
    if (!row.is_array() || row.items().size() != kWidth) {
        return std::nullopt;
    }
    const Json::Array& cells = row.items();
    const auto qty = read_value(cells[0], static_cast<Decimal*>(nullptr));
    const auto cost = read_value(cells[1], static_cast<Decimal*>(nullptr));
    const auto trade_id = cells[2].as_int64();
    const auto at = cells[3].as_int64();
    if (!qty || !qty->is_positive() || !cost || !trade_id || !at) {
        return std::nullopt;
    }
    return Lot{*qty, *cost, *trade_id, {*at}};
}

void read_lots(FieldReader& in, SymbolBook& book) {
    Exact position;
    Exact cost;
    for (const Json& row : in.required_array("lots", kLotsMax)) {
        const auto lot = read_lot(row);
        if (!lot) {
            in.add_problem("lots", "expected rows of quantity, cost, trade id and time");
            return;
        }
        book.lots.push_back(*lot);
        position += lot->qty;
        cost += lot->cost;
    }
    // Derived from the lots, so that the two cannot disagree on disk.
    book.position = position.result().value_or(Decimal());
    book.cost = cost.result().value_or(Decimal());
}

void read_open(FieldReader& in, SymbolBook& book) {
    for (const Json& item : in.required_array("open", kOpenOrdersMax)) {
        auto order = decode_order_record(item);
        if (!order) {
            in.absorb(order.error());
            continue;
        }
        if (!book.open.empty() && order->id() <= book.open.back().id()) {
            in.add_problem("open", "must be ascending by id");
        }
        book.open.push_back(*std::move(order));
    }
}

void read_tallies(FieldReader& in, SymbolBook& book) {
    const Json::Array* rows = in.optional_array("tallies", kStrategyTalliesMax);
    if (rows == nullptr) {
        return;
    }
    for (const Json& row : *rows) {
        auto tally = decode_strategy_tally(row);
        if (!tally) {
            in.absorb(tally.error());
            continue;
        }
        if (!book.tallies.empty() && tally->strategy_id <= book.tallies.back().strategy_id) {
            in.add_problem("tallies", "must be ascending by strategy");
        }
        book.tallies.push_back(*std::move(tally));
    }
}

// The venue's first word on a post-only order: taken, or refused because it would have taken.
void note_answer(SymbolBook& book, const OrderRecord& before, const OrderRecord& now) {
    if (!is_uncertain(before) || is_uncertain(now) || !now.request.post_only ||
        now.strategy_id.empty() || now.state == OrderState::never_arrived) {
        return;
    }
    if (now.state == OrderState::rejected) {
        if (now.reject_code == kWouldTakeCode) {
            StrategyTally& tally = tally_for(book.tallies, now.strategy_id);
            note_refused(tally, now.request.side, now.created_at);
        }
    } else if (StrategyTally* tally = find_tally(book.tallies, now.strategy_id)) {
        note_taken(*tally, now.request.side, now.created_at);
    }
}

}  // namespace

OrderRecord* SymbolBook::find(const OrderClientId& id) {
    const auto found = order_at(open, id);
    return found == open.end() || found->id() != id ? nullptr : &*found;
}

const OrderRecord* SymbolBook::find(const OrderClientId& id) const {
    const auto found = order_at(open, id);
    return found == open.end() || found->id() != id ? nullptr : &*found;
}

Decimal avg_price(const SymbolBook& book) {
    return divide_half_even(book.cost, book.position).value_or(Decimal());
}

Result<void> add_lot(SymbolBook& book, const Lot& lot) {
    if (!lot.qty.is_positive()) {
        return {};
    }
    TRY_ASSIGN(const Decimal position, add(book.position, lot.qty));
    TRY_ASSIGN(const Decimal cost, add(book.cost, lot.cost));
    if (book.lots.size() >= kLotsMax) {
        // Parts of sums that were just found to fit.
        Lot& oldest = book.lots[0];
        oldest.qty = add(oldest.qty, book.lots[1].qty).value_or(oldest.qty);
        oldest.cost = add(oldest.cost, book.lots[1].cost).value_or(oldest.cost);
        book.lots.erase(book.lots.begin() + 1);
    }
    // By time, so that trades told out of order give the same lots.
    const auto later =
        std::upper_bound(book.lots.begin(), book.lots.end(), lot, [](const Lot& a, const Lot& b) {
            return std::pair(a.at, a.trade_id) < std::pair(b.at, b.trade_id);
        });
    book.lots.insert(later, lot);
    book.position = position;
    book.cost = cost;
    return {};
}

Result<Decimal> cost_of_oldest(const SymbolBook& book, Decimal qty) {
    if (qty > book.position || qty.is_negative()) {
        return fail(
            errors::books_drift,
            "the books hold " + to_text(book.position) + " of " + std::string(book.symbol.text()) +
                ", the venue took " + to_text(qty));
    }
    Exact cost;
    Decimal left = qty;
    for (const Lot& lot : book.lots) {
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

Result<Decimal> take_lots(SymbolBook& book, Decimal qty) {
    TRY_ASSIGN(const Decimal cost, cost_of_oldest(book, qty));
    Exact left_qty = qty;
    Exact left_cost = cost;
    const auto whole = std::find_if(book.lots.begin(), book.lots.end(), [&](const Lot& lot) {
        if (lot.qty > left_qty.result().value_or(Decimal())) {
            return true;
        }
        left_qty -= lot.qty;
        left_cost -= lot.cost;
        return false;
    });
    book.lots.erase(book.lots.begin(), whole);
    if (!book.lots.empty()) {
        Lot& cut = book.lots.front();
        TRY_ASSIGN(cut.qty, (Exact(cut.qty) - left_qty).result());
        TRY_ASSIGN(cut.cost, (Exact(cut.cost) - left_cost).result());
    }
    TRY_ASSIGN(book.position, subtract(book.position, qty));
    TRY_ASSIGN(book.cost, subtract(book.cost, cost));
    return cost;
}

Result<void> put_order(SymbolBook& book, OrderRecord order) {
    const auto found = order_at(book.open, order.id());
    const bool is_there = found != book.open.end() && found->id() == order.id();
    if (is_there) {
        note_answer(book, *found, order);
    }
    if (is_settled(order)) {
        if (is_there) {
            book.open.erase(found);
        }
        return {};
    }
    if (is_there) {
        *found = std::move(order);
        return {};
    }
    if (book.open.size() >= kOpenOrdersMax) {
        return fail(
            errors::overloaded,
            std::string(book.symbol.text()) + " has " + std::to_string(kOpenOrdersMax) +
                " orders that are not settled; no more are taken");
    }
    book.open.insert(found, std::move(order));
    return {};
}

Json encode(const SymbolBook& book) {
    Json lots = Json::array();
    for (const Lot& lot : book.lots) {
        lots.push(
            Json::array({to_text(lot.qty), to_text(lot.cost), lot.trade_id, lot.at.microseconds}));
    }
    Json open = Json::array();
    for (const OrderRecord& order : book.open) {
        open.push(encode(order));
    }
    Json json = Json::object({
        {"symbol", book.symbol.text()},
        {"base", book.base.text()},
        {"quote", book.quote.text()},
        {"lots", std::move(lots)},
        {"realized", to_text(book.realized)},
        {"open", std::move(open)},
    });
    if (!book.tallies.empty()) {  // Rows from before have none.
        Json tallies = Json::array();
        for (const StrategyTally& tally : book.tallies) {
            tallies.push(encode(tally));
        }
        json.set("tallies", std::move(tallies));
    }
    return json;
}

Result<SymbolBook> decode_symbol_book(const Json& json) {
    FieldReader in(json);
    SymbolBook book;
    book.symbol = read_stored_symbol(in, "symbol");
    book.base = read_stored_asset(in, "base");
    book.quote = read_stored_asset(in, "quote");
    read_lots(in, book);
    book.realized = in.required<Decimal>("realized");
    read_open(in, book);
    read_tallies(in, book);
    in.reject_unknown();
    return in.finish(std::move(book));
}

SymbolBook* find_book(std::vector<SymbolBook>& books, const Symbol& symbol) {
    return book_at(books, symbol);
}

const SymbolBook* find_book(const std::vector<SymbolBook>& books, const Symbol& symbol) {
    return book_at(books, symbol);
}

}  // namespace interlock
