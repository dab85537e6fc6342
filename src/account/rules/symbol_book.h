// What an account holds of one market: FIFO lots with their exact cost, and the orders that may
// still change them.
//
// A lot keeps its cost, not a price: taking a part of it takes a rounded share and leaves the exact
// rest, so no fraction of money is ever lost, however a lot is cut or merged.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "account/rules/order_record.h"
#include "account/rules/strategy_tally.h"
#include "base/json.h"
#include "base/money.h"

namespace interlock {

namespace errors {
// The venue did something our books cannot explain: reconcile before anything else.
inline constexpr ErrorKind books_drift{
    "books_drift", 409, false, "Reconcile the account with the venue before trading on."};
}  // namespace errors

// When one more lot would exceed this, the two oldest become one: total cost stays exact, their
// order in time is lost.
inline constexpr std::size_t kLotsMax = 256;
// Orders not settled yet; one more is refused.
inline constexpr std::size_t kOpenOrdersMax = 256;

struct Lot {
    Decimal qty;   // > 0.
    Decimal cost;  // Quote paid for it, fees not included.
    std::int64_t trade_id = 0;
    Timestamp at;
    friend bool operator==(const Lot&, const Lot&) = default;
};

struct SymbolBook {
    Symbol symbol;
    Asset base;
    Asset quote;
    std::deque<Lot> lots;           // Oldest first.
    Decimal position;               // Σ lots; ≥ 0.
    Decimal cost;                   // Σ lots.
    Decimal realized;               // Gross, since the account was opened.
    std::vector<OrderRecord> open;  // Not settled, ascending by id.
    // What each strategy's own orders came to, ascending by strategy; the one that was quiet
    // longest makes room at kStrategyTalliesMax.
    std::vector<StrategyTally> tallies;

    OrderRecord* find(const OrderClientId& id);
    const OrderRecord* find(const OrderClientId& id) const;
    friend bool operator==(const SymbolBook&, const SymbolBook&) = default;
};

// Cost per unit, half-even; 0 without a position.
Decimal avg_price(const SymbolBook& book);

// These change the book whole or not at all.
Result<void> add_lot(SymbolBook& book, const Lot& lot);
// Cost of the oldest `qty`; more than the position is `books_drift`.
Result<Decimal> cost_of_oldest(const SymbolBook& book, Decimal qty);
// Takes them and gives that cost.
Result<Decimal> take_lots(SymbolBook& book, Decimal qty);

// Puts an order in or replaces the one of its id; a settled one is taken out. Refuses
// (`overloaded`) a new one beyond kOpenOrdersMax. When the venue's answer to it is news, its
// strategy's tally hears of it.
Result<void> put_order(SymbolBook& book, OrderRecord order);

Json encode(const SymbolBook& book);
Result<SymbolBook> decode_symbol_book(const Json& json);

// The book of a symbol in an ascending list; null when there is none.
SymbolBook* find_book(std::vector<SymbolBook>& books, const Symbol& symbol);
const SymbolBook* find_book(const std::vector<SymbolBook>& books, const Symbol& symbol);

}  // namespace interlock
