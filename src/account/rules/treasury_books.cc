#include "account/rules/treasury_books.h"

#include <algorithm>
#include <array>

#include "account/rules/exact.h"
#include "base/errors.h"
#include "codec/field_reader.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 3> kBooks{"trading", "ops_reserve", "profit"};

Decimal TreasuryBooks::* member_of(TreasuryBook book) {
    switch (book) {
        case TreasuryBook::trading:
            return &TreasuryBooks::trading;
        case TreasuryBook::ops_reserve:
            return &TreasuryBooks::ops_reserve;
        case TreasuryBook::profit:
            break;
    }
    return &TreasuryBooks::profit;
}

// The one way money moves between books: what one loses the other gains.
Result<TreasuryBooks> move(
    TreasuryBooks books,
    Decimal TreasuryBooks::* from,
    Decimal TreasuryBooks::* to,
    Decimal amount) {
    TRY_ASSIGN(books.*from, subtract(books.*from, amount));
    TRY_ASSIGN(books.*to, add(books.*to, amount));
    return books;
}

}  // namespace

std::string_view to_word(TreasuryBook book) {
    return kBooks[static_cast<std::size_t>(book)];
}

Result<TreasuryBook> parse_treasury_book(std::string_view word) {
    const auto* found = std::find(kBooks.begin(), kBooks.end(), word);
    if (found == kBooks.end()) {
        return fail(
            errors::invalid_request, "expected one of trading, ops_reserve and profit as a book");
    }
    return static_cast<TreasuryBook>(found - kBooks.begin());
}

bool is_balanced(const TreasuryBooks& books) {
    auto sum = (Exact(books.trading) + books.ops_reserve + books.profit + books.costs).result();
    return sum && sum->is_zero();
}

Result<TreasuryBooks> transfer(const TreasuryBooks& books, const TreasuryTransfer& wanted) {
    if (!wanted.amount.is_positive() || wanted.from == wanted.to) {
        return fail(
            errors::invalid_request,
            "a treasury transfer needs an amount above zero and two different books");
    }
    const Decimal available = wanted.from == TreasuryBook::trading ? wanted.trading_available
                                                                   : books.*member_of(wanted.from);
    if (wanted.amount > available) {
        return fail(
            errors::treasury_insufficient,
            std::string(to_word(wanted.from)) + " has " + to_text(available) + ", wanted " +
                to_text(wanted.amount));
    }
    return move(books, member_of(wanted.from), member_of(wanted.to), wanted.amount);
}

Result<TreasuryBooks> charge_cost(const TreasuryBooks& books, Decimal amount) {
    const Decimal from_reserve = std::clamp(books.ops_reserve, Decimal(), amount);
    TRY_ASSIGN(const Decimal rest, subtract(amount, from_reserve));
    TRY_ASSIGN(
        const TreasuryBooks charged,
        move(books, &TreasuryBooks::ops_reserve, &TreasuryBooks::costs, from_reserve));
    return move(charged, &TreasuryBooks::trading, &TreasuryBooks::costs, rest);
}

Result<TreasuryBooks> accrue_reserve(const TreasuryBooks& books, Decimal amount) {
    return move(books, &TreasuryBooks::trading, &TreasuryBooks::ops_reserve, amount);
}

Result<TreasuryBooks> settle_costs(const TreasuryBooks& books, Decimal amount) {
    if (amount > books.costs) {
        return fail(
            errors::treasury_insufficient,
            "costs owed are " + to_text(books.costs) + ", wanted to pay " + to_text(amount));
    }
    return move(books, &TreasuryBooks::costs, &TreasuryBooks::trading, amount);
}

Json encode(const TreasuryBooks& books) {
    return Json::object({
        {"trading", to_text(books.trading)},
        {"ops_reserve", to_text(books.ops_reserve)},
        {"profit", to_text(books.profit)},
        {"costs", to_text(books.costs)},
    });
}

Result<TreasuryBooks> decode_treasury_books(const Json& json) {
    FieldReader in(json);
    TreasuryBooks books{
        .trading = in.required<Decimal>("trading"),
        .ops_reserve = in.required<Decimal>("ops_reserve"),
        .profit = in.required<Decimal>("profit"),
        .costs = in.required<Decimal>("costs"),
    };
    in.reject_unknown();
    return in.finish(books);
}

}  // namespace interlock
