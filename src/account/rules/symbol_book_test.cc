#include "account/rules/symbol_book.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "testing/account_builders.h"

namespace interlock {
namespace {

Lot a_lot(std::string_view qty, std::string_view cost, std::int64_t id = 1) {
    return {dec(qty), dec(cost), id, noon() + Duration::of_seconds(id)};
}

SymbolBook with_lots(const std::vector<Lot>& lots) {
    SymbolBook book = a_book();
    for (const Lot& lot : lots) {
        CHECK(add_lot(book, lot).has_value());
    }
    return book;
}

TEST(SymbolBook, TakesTheOldestLotsFirst) {
    SymbolBook book = with_lots({a_lot("1", "100", 1), a_lot("1", "200", 2)});
    EXPECT_EQ(*take_lots(book, dec("1.5")), dec("200"));
    EXPECT_EQ(book.position, dec("0.5"));
    EXPECT_EQ(book.cost, dec("100"));
    ASSERT_EQ(book.lots.size(), 1u);
    EXPECT_EQ(book.lots[0].trade_id, 2);
}

TEST(SymbolBook, TakingMoreThanIsHeldIsDriftAndChangesNothing) {
    SymbolBook book = with_lots({a_lot("1", "100")});
    const SymbolBook before = book;
    const auto taken = take_lots(book, dec("1.000000000000000001"));
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code(), "books_drift");
    EXPECT_EQ(book, before);
}

TEST(SymbolBook, TakingAllLeavesNoLot) {
    SymbolBook book = with_lots({a_lot("1", "100", 1), a_lot("2", "90", 2)});
    EXPECT_EQ(*take_lots(book, dec("3")), dec("190"));
    EXPECT_TRUE(book.lots.empty());
    EXPECT_TRUE(book.cost.is_zero());
}

TEST(SymbolBook, AThirdOfALotLeavesTheExactRest) {
    SymbolBook book = with_lots({a_lot("3", "100")});
    const Decimal first = *take_lots(book, dec("1"));
    const Decimal second = *take_lots(book, dec("1"));
    const Decimal third = *take_lots(book, dec("1"));
    EXPECT_EQ(*add(*add(first, second), third), dec("100"));
}

TEST(SymbolBook, ALotToldLateFindsItsPlaceInTime) {
    const SymbolBook book = with_lots({a_lot("1", "100", 2), a_lot("1", "90", 1)});
    EXPECT_EQ(book.lots[0].trade_id, 1);
}

TEST(SymbolBook, TheBoundMergesTheTwoOldestLotsExactly) {
    SymbolBook book = a_book();
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(kLotsMax) + 5; ++i) {
        ASSERT_TRUE(add_lot(book, a_lot("1", "3", i + 1)));
    }
    EXPECT_EQ(book.lots.size(), kLotsMax);
    EXPECT_EQ(book.lots[0].qty, dec("6"));
    EXPECT_EQ(book.lots[0].cost, dec("18"));
    EXPECT_EQ(book.position, Decimal(static_cast<std::int64_t>(kLotsMax) + 5));
}

TEST(SymbolBook, HugeLotsAreCutWithoutOverflow) {
    SymbolBook book = with_lots({a_lot("900000000000", "90000000000")});
    EXPECT_EQ(*take_lots(book, dec("450000000000")), dec("45000000000"));
}

TEST(SymbolBook, AveragePriceIsCostOverPosition) {
    EXPECT_EQ(avg_price(with_lots({a_lot("1", "100", 1), a_lot("3", "400", 2)})), dec("125"));
    EXPECT_TRUE(avg_price(a_book()).is_zero());
}

TEST(SymbolBook, AnOrderIsFoundUntilItIsSettled) {
    SymbolBook book = a_book();
    OrderRecord order = an_order();
    ASSERT_TRUE(put_order(book, order));
    ASSERT_NE(book.find(order.id()), nullptr);
    order.state = OrderState::rejected;
    ASSERT_TRUE(put_order(book, order));
    EXPECT_EQ(book.find(order.id()), nullptr);
}

TEST(SymbolBook, OneOpenOrderBeyondTheBoundIsRefused) {
    SymbolBook book = a_book();
    for (std::size_t i = 0; i < kOpenOrdersMax; ++i) {
        ASSERT_TRUE(put_order(book, an_order({.id = "o" + std::to_string(i)})));
    }
    const auto refused = put_order(book, an_order({.id = "one-more"}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), "overloaded");
    // What is there can still be replaced.
    EXPECT_TRUE(put_order(book, an_order({.id = "o0", .state = OrderState::resting})));
}

TEST(SymbolBook, OpenOrdersStayInOrderOfTheirIds) {
    SymbolBook book = a_book();
    for (const char* id : {"b", "c", "a"}) {
        ASSERT_TRUE(put_order(book, an_order({.id = id})));
    }
    EXPECT_EQ(book.open[0].id().text(), "a");
    EXPECT_EQ(book.open[2].id().text(), "c");
}

TEST(SymbolBook, StoredFormReadsBack) {
    SymbolBook book = with_lots({a_lot("1", "100", 1), a_lot("2.5", "210.1", 2)});
    book.realized = dec("-3.5");
    ASSERT_TRUE(put_order(book, an_order()));
    EXPECT_EQ(*decode_symbol_book(encode(book)), book);
}

TEST(SymbolBook, TalliesAreStoredAndTheirOrderIsChecked) {
    SymbolBook book = a_book();
    EXPECT_EQ(encode(book).find("tallies"), nullptr);  // As rows from before.
    tally_for(book.tallies, StrategyId::trusted("b")).net_qty = dec("-2");
    note_refused(tally_for(book.tallies, StrategyId::trusted("a")), Side::sell, noon());
    EXPECT_EQ(*decode_symbol_book(encode(book)), book);
    std::swap(book.tallies[0], book.tallies[1]);
    EXPECT_FALSE(decode_symbol_book(encode(book)));
}

OrderRecord a_maker_order(std::string id, std::int64_t planned_second, OrderState state) {
    OrderRecord order = an_order({.id = std::move(id), .state = state});
    order.request.post_only = true;
    order.created_at = noon() + Duration::of_seconds(planned_second);
    if (state == OrderState::rejected) {
        order.reject_code = kWouldTakeCode;
    }
    return order;
}

TEST(SymbolBook, APostOnlyRefusalIsCountedOnceItIsNews) {
    SymbolBook book = a_book();
    ASSERT_TRUE(put_order(book, a_maker_order("o1", 0, OrderState::submitting)));
    const OrderRecord refused = a_maker_order("o1", 0, OrderState::rejected);
    ASSERT_TRUE(put_order(book, refused));
    ASSERT_TRUE(put_order(book, refused));  // Told again.
    const StrategyTally* tally = find_tally(book.tallies, refused.strategy_id);
    ASSERT_NE(tally, nullptr);
    EXPECT_EQ(tally->buy_refusals.count, 1);
    EXPECT_EQ(tally->sell_refusals.count, 0);
}

TEST(SymbolBook, AnotherRefusalIsNoPostOnlyRefusal) {
    SymbolBook book = a_book();
    ASSERT_TRUE(put_order(book, a_maker_order("o1", 0, OrderState::submitting)));
    OrderRecord refused = a_maker_order("o1", 0, OrderState::rejected);
    refused.reject_code = "insufficient_balance";
    ASSERT_TRUE(put_order(book, refused));
    EXPECT_TRUE(book.tallies.empty());
}

TEST(SymbolBook, ALaterOrderThatIsTakenEndsTheRunOfRefusals) {
    SymbolBook book = a_book();
    const StrategyId strategy = an_order().strategy_id;
    for (const std::int64_t second : {0, 10}) {
        const std::string id = "o" + std::to_string(second);
        ASSERT_TRUE(put_order(book, a_maker_order(id, second, OrderState::submitting)));
        ASSERT_TRUE(put_order(book, a_maker_order(id, second, OrderState::rejected)));
    }
    EXPECT_EQ(find_tally(book.tallies, strategy)->buy_refusals.count, 2);
    for (const std::int64_t second : {10, 20}) {
        const std::string id = "t" + std::to_string(second);
        ASSERT_TRUE(put_order(book, a_maker_order(id, second, OrderState::submitting)));
        ASSERT_TRUE(put_order(book, a_maker_order(id, second, OrderState::resting)));
        // The one of the refused plan itself proves nothing.
        EXPECT_EQ(find_tally(book.tallies, strategy)->buy_refusals.count, second == 10 ? 2 : 0);
    }
}

TEST(SymbolBook, AStoredLotWithoutQuantityIsRefused) {
    SymbolBook book = a_book();
    book.lots.push_back(a_lot("0", "1"));
    EXPECT_FALSE(decode_symbol_book(encode(book)));
}

TEST(SymbolBook, BooksAreFoundBySymbol) {
    std::vector<SymbolBook> books{a_book("BTC"), a_book("ETH")};
    EXPECT_EQ(find_book(books, symbol_of("ETHUSDT")), &books[1]);
    EXPECT_EQ(find_book(books, symbol_of("SOLUSDT")), nullptr);
}

// However a position is bought and sold in pieces, cost in = cost out + cost left, to the last
// unit.
TEST(SymbolBook, CostIsNeverLost) {
    EXPECT_TRUE(rc::check([] {
        SymbolBook book = a_book();
        Decimal paid;
        Decimal taken;
        for (std::int64_t i = 1; i < 40; ++i) {
            const Decimal qty = Decimal::from_units(*rc::gen::inRange<std::int64_t>(1, 1'000'000));
            if (*rc::gen::inRange(0, 3) > 0) {
                const Decimal cost =
                    Decimal::from_units(*rc::gen::inRange<std::int64_t>(0, 1'000'000'000));
                RC_ASSERT(add_lot(book, {qty, cost, i, noon()}).has_value());
                paid = *add(paid, cost);
            } else if (const auto cost = take_lots(book, qty)) {
                taken = *add(taken, *cost);
            }
            RC_ASSERT(*add(taken, book.cost) == paid);
            Decimal lots_cost;
            Decimal lots_qty;
            for (const Lot& lot : book.lots) {
                lots_cost = *add(lots_cost, lot.cost);
                lots_qty = *add(lots_qty, lot.qty);
            }
            RC_ASSERT(lots_cost == book.cost && lots_qty == book.position);
        }
    }));
}

}  // namespace
}  // namespace interlock
