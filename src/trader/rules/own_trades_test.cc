// What a strategy is told of its own trades.
#include "trader/rules/own_trades.h"

#include <gtest/gtest.h>

#include "account/rules/symbol_book.h"
#include "testing/account_builders.h"

namespace interlock {
namespace {

const StrategyId kMine = StrategyId::trusted("s1");

SymbolBook two_lots() {
    SymbolBook book = a_book();
    CHECK(add_lot(book, {dec("1"), dec("100"), 1, noon()}).has_value());
    CHECK(add_lot(book, {dec("2"), dec("260"), 2, noon()}).has_value());
    return book;
}

TEST(OwnTrades, TheCostIsThatOfTheOldestLots) {
    const SymbolBook book = two_lots();
    EXPECT_EQ(gather_own_trades(&book, kMine, dec("1")).oldest_unit_cost, dec("100"));
    EXPECT_EQ(gather_own_trades(&book, kMine, dec("2")).oldest_unit_cost, dec("115"));
    EXPECT_EQ(gather_own_trades(&book, kMine, dec("9")).oldest_unit_cost, dec("120"));
}

TEST(OwnTrades, TheCostIsRoundedUp) {
    SymbolBook book = a_book();
    ASSERT_TRUE(add_lot(book, {dec("3"), dec("100"), 1, noon()}));
    EXPECT_EQ(
        gather_own_trades(&book, kMine, dec("3")).oldest_unit_cost, dec("33.333333333333333334"));
}

TEST(OwnTrades, WithoutABookOrALotThereIsNoCost) {
    EXPECT_EQ(gather_own_trades(nullptr, kMine, dec("1")), OwnTrades{});
    const SymbolBook book = a_book();
    EXPECT_EQ(gather_own_trades(&book, kMine, dec("1")), OwnTrades{});
}

TEST(OwnTrades, OnlyTheOwnTallyIsTold) {
    SymbolBook book = two_lots();
    tally_for(book.tallies, StrategyId::trusted("other")).net_qty = dec("9");
    EXPECT_FALSE(gather_own_trades(&book, kMine, dec("1")).tally.has_value());
    tally_for(book.tallies, kMine).net_qty = dec("3");
    EXPECT_EQ(gather_own_trades(&book, kMine, dec("1")).tally->net_qty, dec("3"));
}

TEST(OwnTrades, AreReadBackAsTheyWereWritten) {
    OwnTrades trades;
    EXPECT_EQ(decode_own_trades(encode(trades)).value(), trades);
    trades.oldest_unit_cost = dec("12.5");
    trades.tally = StrategyTally{.strategy_id = kMine, .net_qty = dec("4")};
    EXPECT_EQ(decode_own_trades(encode(trades)).value(), trades);
}

}  // namespace
}  // namespace interlock
