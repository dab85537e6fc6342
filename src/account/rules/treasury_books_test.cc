#include "account/rules/treasury_books.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "testing/account_builders.h"

namespace interlock {
namespace {

TreasuryBooks with_reserve(std::string_view amount) {
    return *accrue_reserve({}, dec(amount));
}

TEST(TreasuryBooks, TransferMovesBetweenTwoBooks) {
    const auto books = transfer(
        with_reserve("100"),
        {.from = TreasuryBook::ops_reserve,
         .to = TreasuryBook::profit,
         .amount = dec("40"),
         .trading_available = {}});
    ASSERT_TRUE(books);
    EXPECT_EQ(books->ops_reserve, dec("60"));
    EXPECT_EQ(books->profit, dec("40"));
    EXPECT_TRUE(is_balanced(*books));
}

TEST(TreasuryBooks, TransferOfMoreThanTheSourceHoldsIsRefused) {
    const auto books = transfer(
        with_reserve("100"),
        {.from = TreasuryBook::ops_reserve,
         .to = TreasuryBook::trading,
         .amount = dec("100.01"),
         .trading_available = dec("1000")});
    ASSERT_FALSE(books);
    EXPECT_EQ(books.error().code(), "treasury_insufficient");
}

TEST(TreasuryBooks, TradingGivesOnlyWhatIsFree) {
    const TreasuryTransfer wanted{
        .from = TreasuryBook::trading,
        .to = TreasuryBook::profit,
        .amount = dec("10"),
        .trading_available = dec("9.99")};
    EXPECT_FALSE(transfer({}, wanted));
}

TEST(TreasuryBooks, TransferNeedsAnAmountAndTwoBooks) {
    EXPECT_FALSE(transfer(
        with_reserve("1"),
        {.from = TreasuryBook::ops_reserve,
         .to = TreasuryBook::ops_reserve,
         .amount = dec("1"),
         .trading_available = {}}));
    EXPECT_FALSE(transfer(
        with_reserve("1"),
        {.from = TreasuryBook::ops_reserve,
         .to = TreasuryBook::profit,
         .amount = dec("0"),
         .trading_available = {}}));
}

TEST(TreasuryBooks, CostsTakeTheReserveFirstAndThenTrading) {
    const auto books = charge_cost(with_reserve("10"), dec("15"));
    ASSERT_TRUE(books);
    EXPECT_TRUE(books->ops_reserve.is_zero());
    EXPECT_EQ(books->costs, dec("15"));
    EXPECT_EQ(books->trading, dec("-15"));
}

TEST(TreasuryBooks, PayingCostsGivesTradingItsMoneyBack) {
    const auto owed = charge_cost(with_reserve("10"), dec("4"));
    const auto paid = settle_costs(*owed, dec("4"));
    ASSERT_TRUE(paid);
    EXPECT_TRUE(paid->costs.is_zero());
    EXPECT_EQ(paid->trading, dec("-6"));
}

TEST(TreasuryBooks, PayingMoreThanIsOwedIsRefused) {
    EXPECT_FALSE(settle_costs(with_reserve("10"), dec("1")));
}

TEST(TreasuryBooks, WordsReadBack) {
    for (const TreasuryBook book :
         {TreasuryBook::trading, TreasuryBook::ops_reserve, TreasuryBook::profit}) {
        EXPECT_EQ(*parse_treasury_book(to_word(book)), book);
    }
    EXPECT_FALSE(parse_treasury_book("costs"));
}

TEST(TreasuryBooks, StoredFormReadsBack) {
    const auto books = charge_cost(with_reserve("10"), dec("4.5"));
    EXPECT_EQ(*decode_treasury_books(encode(*books)), *books);
}

// Whatever happens in whatever order, the four books sum to zero.
TEST(TreasuryBooks, AlwaysSumToZero) {
    EXPECT_TRUE(rc::check([] {
        TreasuryBooks books;
        for (int i = 0; i < 30; ++i) {
            const Decimal amount =
                Decimal::from_units(*rc::gen::inRange<std::int64_t>(1, 1'000'000'000));
            const int kind = *rc::gen::inRange(0, 4);
            const auto from = static_cast<TreasuryBook>(*rc::gen::inRange(0, 3));
            const auto to = static_cast<TreasuryBook>(*rc::gen::inRange(0, 3));
            const auto next = kind == 0   ? accrue_reserve(books, amount)
                              : kind == 1 ? charge_cost(books, amount)
                              : kind == 2 ? settle_costs(books, amount)
                                          : transfer(books, {from, to, amount, Decimal(1)});
            books = next.value_or(books);
            RC_ASSERT(is_balanced(books));
            RC_ASSERT(!books.ops_reserve.is_negative() && !books.costs.is_negative());
        }
    }));
}

}  // namespace
}  // namespace interlock
