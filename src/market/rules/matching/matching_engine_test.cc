#include "market/rules/matching/matching_engine.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace interlock {
namespace {

constexpr BookOwner kAlice{1};
constexpr BookOwner kBob{2};

BookOrderId id_of(std::uint64_t number) {
    return BookOrderId{number};
}

BookOrder buy(std::uint64_t id, std::int64_t price, std::int64_t quantity) {
    return {.id = id_of(id), .price = {price}, .quantity = {quantity}};
}

BookOrder sell(std::uint64_t id, std::int64_t price, std::int64_t quantity) {
    BookOrder order = buy(id, price, quantity);
    order.side = BookSide::sell;
    return order;
}

BookOrder of(BookOrder order, BookOwner owner, BookSelfTrade mode = BookSelfTrade::none) {
    order.owner = owner;
    order.self_trade = mode;
    return order;
}

BookOrder as(BookOrder order, BookTimeInForce time_in_force) {
    order.time_in_force = time_in_force;
    return order;
}

BookOrder as(BookOrder order, BookOrderKind kind) {
    order.kind = kind;
    return order;
}

template <class Event>
std::vector<Event> pick(const std::vector<BookEvent>& events) {
    std::vector<Event> picked;
    for (const BookEvent& event : events) {
        if (const auto* one = std::get_if<Event>(&event)) {
            picked.push_back(*one);
        }
    }
    return picked;
}

class MatchingEngineTest : public ::testing::Test {
protected:
    std::vector<BookEvent> submit(const BookOrder& order) {
        BookEventList sink;
        engine.submit(order, sink);
        return sink.events;
    }
    std::vector<BookEvent> cancel(std::uint64_t id) {
        BookEventList sink;
        engine.cancel(id_of(id), sink);
        return sink.events;
    }
    std::vector<BookEvent> amend(const BookAmend& change) {
        BookEventList sink;
        engine.amend(change, sink);
        return sink.events;
    }
    std::vector<BookEvent> expect_refused(const BookOrder& order, BookRefusal reason) {
        const auto events = submit(order);
        EXPECT_EQ(events, std::vector<BookEvent>{(BookRejected{order.id, reason})});
        return events;
    }

    MatchingEngine engine{
        {.orders_max = 8, .levels_max = 4, .orders_expected = 2, .window_ticks = 64}};
};

TEST_F(MatchingEngineTest, RestsAnOrderThatMeetsNobody) {
    const auto events = submit(buy(7, 100, 5));
    EXPECT_EQ(events, std::vector<BookEvent>{(BookAccepted{id_of(7), {100}, {5}, BookSide::buy})});
    EXPECT_EQ(engine.best(BookSide::buy), (BookLevel{{100}, {5}, 1}));
    EXPECT_EQ(engine.best(BookSide::sell), std::nullopt);
    EXPECT_EQ(
        engine.find(id_of(7)),
        (RestingOrder{id_of(7), {100}, {5}, BookOwner::nobody, BookSide::buy}));
}

TEST_F(MatchingEngineTest, TradesAtTheMakersPriceAndRestsWhatIsLeft) {
    submit(of(sell(1, 100, 3), kBob));
    const auto events = submit(buy(2, 105, 5));
    const BookTrade trade{
        .number = 1,
        .maker = id_of(1),
        .taker = id_of(2),
        .price = {100},
        .quantity = {3},
        .maker_left = {0},
        .maker_owner = kBob,
        .taker_side = BookSide::buy};
    const BookAccepted accepted{id_of(2), {105}, {5}, BookSide::buy};
    EXPECT_EQ(events, (std::vector<BookEvent>{accepted, trade}));
    EXPECT_EQ(engine.best(BookSide::buy), (BookLevel{{105}, {2}, 1}));
    EXPECT_EQ(engine.best(BookSide::sell), std::nullopt);
}

TEST_F(MatchingEngineTest, TakesTheBestPriceFirst) {
    submit(sell(1, 102, 1));
    submit(sell(2, 100, 1));
    submit(sell(3, 101, 1));
    const auto trades = pick<BookTrade>(submit(buy(4, 102, 3)));
    ASSERT_EQ(trades.size(), 3u);
    EXPECT_EQ(trades[0].maker, id_of(2));
    EXPECT_EQ(trades[1].maker, id_of(3));
    EXPECT_EQ(trades[2].maker, id_of(1));
}

TEST_F(MatchingEngineTest, TakesTheEarlierOrderFirstAtOnePrice) {
    submit(buy(1, 100, 2));
    submit(buy(2, 100, 2));
    submit(buy(3, 100, 2));
    cancel(2);
    const auto trades = pick<BookTrade>(submit(sell(4, 100, 3)));
    ASSERT_EQ(trades.size(), 2u);
    EXPECT_EQ(trades[0].maker, id_of(1));
    EXPECT_EQ(trades[1].maker, id_of(3));
    EXPECT_EQ(trades[1].maker_left, Lots{1});
}

TEST_F(MatchingEngineTest, APartialFillKeepsItsPlaceInTheQueue) {
    submit(buy(1, 100, 5));
    submit(buy(2, 100, 5));
    submit(sell(3, 100, 2));
    const auto trades = pick<BookTrade>(submit(sell(4, 100, 1)));
    ASSERT_EQ(trades.size(), 1u);
    EXPECT_EQ(trades[0].maker, id_of(1));
}

TEST_F(MatchingEngineTest, CancelTellsWhatWasLeft) {
    submit(of(buy(1, 100, 5), kAlice));
    submit(sell(2, 100, 2));
    const BookCancelled expected{
        id_of(1), {100}, {3}, kAlice, BookSide::buy, BookCancelCause::by_user};
    EXPECT_EQ(cancel(1), std::vector<BookEvent>{expected});
    EXPECT_EQ(engine.best(BookSide::buy), std::nullopt);
    EXPECT_EQ(engine.resting_orders(), 0u);
}

TEST_F(MatchingEngineTest, RefusesToCancelWhatDoesNotRest) {
    submit(buy(1, 100, 5));
    cancel(1);
    const BookRejected expected{id_of(1), BookRefusal::unknown_order};
    EXPECT_EQ(cancel(1), std::vector<BookEvent>{expected});
}

TEST_F(MatchingEngineTest, AmendLosesItsPlaceEvenAtTheSamePrice) {
    submit(buy(1, 100, 5));
    submit(buy(2, 100, 5));
    const auto events = amend({.id = id_of(1), .price = {100}, .quantity = {4}});
    const BookCancelled replaced{
        id_of(1), {100}, {5}, BookOwner::nobody, BookSide::buy, BookCancelCause::replaced};
    const BookAccepted accepted{id_of(1), {100}, {4}, BookSide::buy};
    EXPECT_EQ(events, (std::vector<BookEvent>{replaced, accepted}));
    std::array<RestingOrder, 4> queue;
    ASSERT_EQ(engine.queue_at(BookSide::buy, {100}, queue), 2u);
    EXPECT_EQ(queue[0].id, id_of(2));
    EXPECT_EQ(queue[1].id, id_of(1));
    EXPECT_EQ(queue[1].left, Lots{4});
}

TEST_F(MatchingEngineTest, AmendThatReachesTheOtherSideTrades) {
    submit(sell(1, 105, 3));
    submit(buy(2, 100, 3));
    const auto trades = pick<BookTrade>(amend({.id = id_of(2), .price = {105}, .quantity = {3}}));
    ASSERT_EQ(trades.size(), 1u);
    EXPECT_EQ(trades[0].taker, id_of(2));
    EXPECT_EQ(engine.resting_orders(), 0u);
    EXPECT_EQ(engine.find(id_of(2)), std::nullopt);
}

TEST_F(MatchingEngineTest, ARefusedAmendLeavesTheOrderAsItWas) {
    submit(buy(1, 100, 5));
    const auto events = amend({.id = id_of(1), .price = {0}, .quantity = {5}});
    EXPECT_EQ(events, std::vector<BookEvent>{(BookRejected{id_of(1), BookRefusal::bad_price})});
    EXPECT_EQ(engine.depth_at(BookSide::buy, {100}), Lots{5});
}

TEST_F(MatchingEngineTest, IocCancelsItsRest) {
    submit(sell(1, 100, 2));
    const auto events = submit(as(buy(2, 100, 5), BookTimeInForce::ioc));
    const auto cancelled = pick<BookCancelled>(events);
    ASSERT_EQ(cancelled.size(), 1u);
    EXPECT_EQ(cancelled[0].quantity, Lots{3});
    EXPECT_EQ(cancelled[0].cause, BookCancelCause::ioc_rest);
    EXPECT_EQ(engine.resting_orders(), 0u);
}

TEST_F(MatchingEngineTest, FokFillsAcrossLevelsOrNotAtAll) {
    submit(sell(1, 100, 2));
    submit(sell(2, 101, 2));
    const auto failed = submit(as(buy(3, 101, 5), BookTimeInForce::fok));
    EXPECT_TRUE(pick<BookTrade>(failed).empty());
    ASSERT_EQ(pick<BookCancelled>(failed).size(), 1u);
    EXPECT_EQ(pick<BookCancelled>(failed)[0].cause, BookCancelCause::fok_unfillable);
    EXPECT_EQ(engine.depth_at(BookSide::sell, {100}), Lots{2});

    const auto filled = submit(as(buy(4, 101, 4), BookTimeInForce::fok));
    EXPECT_EQ(pick<BookTrade>(filled).size(), 2u);
    EXPECT_TRUE(pick<BookCancelled>(filled).empty());
}

TEST_F(MatchingEngineTest, FokDoesNotCountPricesPastItsLimit) {
    submit(sell(1, 100, 2));
    submit(sell(2, 102, 9));
    const auto events = submit(as(buy(3, 101, 3), BookTimeInForce::fok));
    EXPECT_TRUE(pick<BookTrade>(events).empty());
}

TEST_F(MatchingEngineTest, FokDoesNotCountItsOwnersOrders) {
    submit(of(sell(1, 100, 2), kAlice));
    submit(of(sell(2, 100, 2), kBob));
    const BookOrder fok = as(buy(3, 100, 3), BookTimeInForce::fok);
    const auto events = submit(of(fok, kAlice, BookSelfTrade::expire_maker));
    EXPECT_EQ(pick<BookCancelled>(events)[0].cause, BookCancelCause::fok_unfillable);
    EXPECT_EQ(engine.resting_orders(), 2u);
}

TEST_F(MatchingEngineTest, MarketTakesAtAnyPriceAndNeverRests) {
    submit(sell(1, 100, 1));
    submit(sell(2, kBookTicksMax.count, 1));
    const auto events = submit(as(buy(3, 0, 5), BookOrderKind::market));
    EXPECT_EQ(pick<BookTrade>(events).size(), 2u);
    ASSERT_EQ(pick<BookCancelled>(events).size(), 1u);
    EXPECT_EQ(pick<BookCancelled>(events)[0].quantity, Lots{3});
    EXPECT_EQ(engine.resting_orders(), 0u);
}

TEST_F(MatchingEngineTest, LimitMakerRestsOrIsRefused) {
    submit(sell(1, 100, 1));
    expect_refused(as(buy(2, 100, 1), BookOrderKind::limit_maker), BookRefusal::would_take);
    submit(as(buy(3, 99, 1), BookOrderKind::limit_maker));
    EXPECT_EQ(engine.depth_at(BookSide::buy, {99}), Lots{1});
}

TEST_F(MatchingEngineTest, SelfTradeIsAllowedWithoutAMode) {
    submit(of(sell(1, 100, 1), kAlice));
    EXPECT_EQ(pick<BookTrade>(submit(of(buy(2, 100, 1), kAlice))).size(), 1u);
}

TEST_F(MatchingEngineTest, OrdersOfNobodyAreNeverPrevented) {
    submit(sell(1, 100, 1));
    const auto events = submit(of(buy(2, 100, 1), BookOwner::nobody, BookSelfTrade::expire_both));
    EXPECT_EQ(pick<BookTrade>(events).size(), 1u);
}

TEST_F(MatchingEngineTest, ExpireTakerTradesUpToTheOwnOrderAndKeepsIt) {
    submit(of(sell(1, 100, 1), kBob));
    submit(of(sell(2, 101, 1), kAlice));
    const auto events = submit(of(buy(3, 105, 5), kAlice, BookSelfTrade::expire_taker));
    EXPECT_EQ(pick<BookTrade>(events).size(), 1u);
    const BookCancelled expected{
        id_of(3), {105}, {4}, kAlice, BookSide::buy, BookCancelCause::self_trade};
    EXPECT_EQ(pick<BookCancelled>(events), std::vector{expected});
    EXPECT_TRUE(engine.find(id_of(2)).has_value());
    EXPECT_FALSE(engine.find(id_of(3)).has_value());
}

TEST_F(MatchingEngineTest, ExpireMakerRemovesTheOwnOrderAndGoesOn) {
    submit(of(sell(1, 100, 1), kAlice));
    submit(of(sell(2, 100, 1), kBob));
    const auto events = submit(of(buy(3, 100, 1), kAlice, BookSelfTrade::expire_maker));
    const BookCancelled expected{
        id_of(1), {100}, {1}, kAlice, BookSide::sell, BookCancelCause::self_trade};
    EXPECT_EQ(pick<BookCancelled>(events), std::vector{expected});
    ASSERT_EQ(pick<BookTrade>(events).size(), 1u);
    EXPECT_EQ(pick<BookTrade>(events)[0].maker, id_of(2));
}

TEST_F(MatchingEngineTest, ExpireBothRemovesBoth) {
    submit(of(sell(1, 100, 2), kAlice));
    const auto events = submit(of(buy(2, 100, 1), kAlice, BookSelfTrade::expire_both));
    EXPECT_TRUE(pick<BookTrade>(events).empty());
    ASSERT_EQ(pick<BookCancelled>(events).size(), 2u);
    EXPECT_EQ(pick<BookCancelled>(events)[0].id, id_of(1));
    EXPECT_EQ(pick<BookCancelled>(events)[1].id, id_of(2));
    EXPECT_EQ(engine.resting_orders(), 0u);
}

TEST_F(MatchingEngineTest, AnAmendIsHeldToSelfTradePreventionToo) {
    submit(of(sell(1, 105, 3), kAlice));
    submit(of(buy(2, 100, 3), kAlice));
    const auto events = amend(
        {.id = id_of(2),
         .price = {105},
         .quantity = {3},
         .self_trade = BookSelfTrade::expire_taker});
    EXPECT_TRUE(pick<BookTrade>(events).empty());
    EXPECT_FALSE(engine.find(id_of(2)).has_value());
    EXPECT_TRUE(engine.find(id_of(1)).has_value());
}

TEST_F(MatchingEngineTest, RefusesWhatNoBookCanHold) {
    expect_refused(buy(1, 0, 1), BookRefusal::bad_price);
    expect_refused(buy(1, -5, 1), BookRefusal::bad_price);
    expect_refused(buy(1, kBookTicksMax.count + 1, 1), BookRefusal::bad_price);
    expect_refused(buy(1, 100, 0), BookRefusal::bad_quantity);
    expect_refused(buy(1, 100, -1), BookRefusal::bad_quantity);
    expect_refused(buy(1, 100, kBookLotsMax.count + 1), BookRefusal::bad_quantity);
    const BookOrder maker = as(buy(1, 100, 1), BookOrderKind::limit_maker);
    expect_refused(as(maker, BookTimeInForce::ioc), BookRefusal::bad_combination);
    EXPECT_EQ(engine.resting_orders(), 0u);
}

TEST_F(MatchingEngineTest, RefusesAnIdThatRestsAndTakesItAgainLater) {
    submit(buy(1, 100, 1));
    expect_refused(sell(1, 100, 1), BookRefusal::duplicate_id);
    cancel(1);
    EXPECT_EQ(pick<BookAccepted>(submit(sell(1, 100, 1))).size(), 1u);
}

TEST_F(MatchingEngineTest, RefusesOneOrderMoreThanTheBookHolds) {
    for (std::uint64_t id = 1; id <= 8; ++id) {
        submit(buy(id, 100, 1));
    }
    expect_refused(buy(9, 100, 1), BookRefusal::orders_full);
    EXPECT_EQ(engine.resting_orders(), 8u);
    // What cannot rest needs no room.
    const auto events = submit(as(sell(10, 100, 1), BookTimeInForce::ioc));
    EXPECT_EQ(pick<BookTrade>(events).size(), 1u);
    EXPECT_EQ(pick<BookAccepted>(submit(buy(11, 100, 1))).size(), 1u);
}

TEST_F(MatchingEngineTest, RefusesOnePriceMoreThanTheBookHolds) {
    for (std::uint64_t id = 1; id <= 4; ++id) {
        submit(buy(id, 100 + static_cast<std::int64_t>(id), 1));
    }
    expect_refused(buy(9, 90, 1), BookRefusal::levels_full);
    submit(buy(5, 101, 1));
    EXPECT_EQ(engine.resting_orders(), 5u);
    const auto refused = amend({.id = id_of(5), .price = {90}, .quantity = {1}});
    EXPECT_EQ(refused, std::vector<BookEvent>{(BookRejected{id_of(5), BookRefusal::levels_full})});
    // The only order of its price takes its level along.
    amend({.id = id_of(4), .price = {90}, .quantity = {1}});
    EXPECT_EQ(engine.depth_at(BookSide::buy, {90}), Lots{1});
}

TEST_F(MatchingEngineTest, ListsLevelsFromTheBestOn) {
    submit(buy(1, 100, 1));
    submit(buy(2, 5, 2));
    submit(buy(3, 100'000, 3));
    submit(sell(4, 200'000, 4));
    std::array<BookLevel, 4> levels;
    ASSERT_EQ(engine.top_levels(BookSide::buy, levels), 3u);
    EXPECT_EQ(levels[0], (BookLevel{{100'000}, {3}, 1}));
    EXPECT_EQ(levels[1], (BookLevel{{100}, {1}, 1}));
    EXPECT_EQ(levels[2], (BookLevel{{5}, {2}, 1}));
    EXPECT_EQ(engine.top_levels(BookSide::buy, std::span(levels).first(2)), 2u);
    EXPECT_EQ(engine.top_levels(BookSide::sell, levels), 1u);
}

TEST_F(MatchingEngineTest, DepthBelongsToOneSide) {
    submit(buy(1, 100, 5));
    EXPECT_EQ(engine.depth_at(BookSide::buy, {100}), Lots{5});
    EXPECT_EQ(engine.depth_at(BookSide::sell, {100}), Lots{0});
    std::array<RestingOrder, 1> queue;
    EXPECT_EQ(engine.queue_at(BookSide::sell, {100}, queue), 0u);
}

}  // namespace
}  // namespace interlock
