// The purposes of an account's quote money as four books that always sum to zero
// (agent-loop.md#costs).
//
// `trading` is what all the others took from it, so it is zero or negative: the quote an account
// may trade with is what it holds plus `trading`. `costs` is what was spent elsewhere (model calls,
// machines, data) and is owed until a withdrawal pays it. Nothing here leaves the exchange.
#pragma once

#include <string_view>

#include "base/decimal.h"
#include "base/json.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind treasury_insufficient{
    "treasury_insufficient", 409, false, "Transfer no more than the source book holds."};
}  // namespace errors

enum class TreasuryBook { trading, ops_reserve, profit };
std::string_view to_word(TreasuryBook book);
Result<TreasuryBook> parse_treasury_book(std::string_view word);

struct TreasuryBooks {
    Decimal trading;
    Decimal ops_reserve;
    Decimal profit;
    Decimal costs;
    friend bool operator==(const TreasuryBooks&, const TreasuryBooks&) = default;
};
bool is_balanced(const TreasuryBooks& books);

struct TreasuryTransfer {
    TreasuryBook from = TreasuryBook::trading;
    TreasuryBook to = TreasuryBook::ops_reserve;
    Decimal amount;  // > 0.
    // Quote that `trading` may give: what is held and not locked.
    Decimal trading_available;
};
// A booking between two books; refused (`treasury_insufficient`) beyond what the source has.
Result<TreasuryBooks> transfer(const TreasuryBooks& books, const TreasuryTransfer& wanted);

// Takes a cost from the reserve and, when that is empty, from trading.
Result<TreasuryBooks> charge_cost(const TreasuryBooks& books, Decimal amount);
// trading → ops_reserve, without asking: the accrual of a realised gain.
Result<TreasuryBooks> accrue_reserve(const TreasuryBooks& books, Decimal amount);
// A withdrawal paid costs that were owed; beyond what is owed it is refused.
Result<TreasuryBooks> settle_costs(const TreasuryBooks& books, Decimal amount);

Json encode(const TreasuryBooks& books);
Result<TreasuryBooks> decode_treasury_books(const Json& json);

}  // namespace interlock
