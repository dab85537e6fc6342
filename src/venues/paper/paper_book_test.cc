// How one account's orders meet the market: no fill that the market did not pay for.
#include "venues/paper/paper_book.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

namespace interlock {
namespace {

MarketView view_at(std::int64_t moment) {
    MarketView view;
    view.at = {moment};
    return view;
}

Lots filled(const std::vector<PaperBookEvent>& events) {
    Lots sum;
    for (const PaperBookEvent& event : events) {
        if (event.kind == PaperBookEvent::Kind::filled) {
            sum += event.quantity;
        }
    }
    return sum;
}

// What of the market of one moment could have reached a resting order of this side and price.
Lots reaching(const MarketView& view, BookSide side, Ticks price) {
    const bool buys = side == BookSide::buy;
    Lots sum;
    for (const MarketTrade& trade : view.trades) {
        if (trade.taker != side && (buys ? trade.price <= price : trade.price >= price)) {
            sum += trade.quantity;
        }
    }
    for (const MarketLevel& quote : buys ? view.asks : view.bids) {
        if (buys ? quote.price <= price : quote.price >= price) {
            sum += quote.quantity;
        }
    }
    return sum;
}

MarketView any_view(std::int64_t moment) {
    MarketView view = view_at(moment);
    std::int64_t bid = *rc::gen::inRange(80, 120);
    std::int64_t ask = bid + *rc::gen::inRange(1, 6);
    for (int level = 0; level < 3; ++level) {
        view.bids.push_back({{bid}, {*rc::gen::inRange(1, 50)}});
        view.asks.push_back({{ask}, {*rc::gen::inRange(1, 50)}});
        bid -= *rc::gen::inRange(1, 4);
        ask += *rc::gen::inRange(1, 4);
    }
    const int trades = *rc::gen::inRange(0, 3);
    for (int i = 0; i < trades; ++i) {
        view.trades.push_back(
            {{*rc::gen::inRange(70, 130)},
             {*rc::gen::inRange(1, 60)},
             *rc::gen::element(BookSide::buy, BookSide::sell)});
    }
    view.halted = *rc::gen::inRange(0, 10) == 0;
    return view;
}

TEST(PaperBook, NothingIsFilledThatTheMarketDidNotPayFor) {
    EXPECT_TRUE(rc::check([] {
        PaperBook book(50, BookSelfTrade::expire_taker);
        std::map<std::uint32_t, PaperBook::Order> orders;
        std::map<std::uint32_t, Lots> left;
        std::uint32_t ids = 0;
        const int moments = *rc::gen::inRange(1, 15);
        for (int moment = 1; moment <= moments; ++moment) {
            const MarketView view = any_view(moment);
            std::vector<PaperBookEvent> events;
            book.meet(view, events);
            std::map<Ticks, Lots> bought;
            std::map<Ticks, Lots> sold;
            for (const PaperBookEvent& event : events) {
                RC_ASSERT(event.kind == PaperBookEvent::Kind::filled && event.is_maker);
                RC_ASSERT(!view.halted);
                const PaperBook::Order& order = orders.at(event.order);
                RC_ASSERT(event.price == order.price);
                RC_ASSERT(event.quantity <= left.at(event.order));
                left.at(event.order) -= event.quantity;
                (order.side == BookSide::buy ? bought : sold)[order.price] += event.quantity;
            }
            for (const auto& [price, quantity] : bought) {
                RC_ASSERT(quantity <= reaching(view, BookSide::buy, price));
            }
            for (const auto& [price, quantity] : sold) {
                RC_ASSERT(quantity <= reaching(view, BookSide::sell, price));
            }
            if (view.halted) {
                continue;  // The exchange takes no orders then.
            }
            const PaperBook::Order order{
                .id = ++ids,
                .side = *rc::gen::element(BookSide::buy, BookSide::sell),
                .price = {*rc::gen::inRange(75, 125)},
                .quantity = {*rc::gen::inRange(1, 80)}};
            events.clear();
            book.enter(order, view, events);
            orders[order.id] = order;
            left[order.id] = order.quantity - filled(events);
            RC_ASSERT(filled(events) <= reaching(view, order.side, order.price));
            for (const PaperBookEvent& event : events) {
                RC_ASSERT(event.kind != PaperBookEvent::Kind::refused);
                if (event.kind == PaperBookEvent::Kind::filled) {
                    const bool buys = order.side == BookSide::buy;
                    RC_ASSERT((buys ? event.price <= order.price : event.price >= order.price));
                }
            }
        }
    }));
}

TEST(PaperBook, TheCostOfAMarketOrderIsWhatItThenPays) {
    EXPECT_TRUE(rc::check([] {
        PaperBook book(50, BookSelfTrade::expire_taker);
        const MarketView view = any_view(1);
        const Lots wanted{*rc::gen::inRange(1, 200)};
        const PaperBook::Cost cost = book.cost_of(BookSide::buy, wanted, view);
        std::vector<PaperBookEvent> events;
        book.enter(
            {.id = 1,
             .side = BookSide::buy,
             .kind = BookOrderKind::market,
             .price = {},
             .quantity = wanted},
            view,
            events);
        __int128 paid = 0;
        for (const PaperBookEvent& event : events) {
            if (event.kind == PaperBookEvent::Kind::filled) {
                paid += static_cast<__int128>(event.price.count) * event.quantity.count;
            }
        }
        RC_ASSERT(filled(events) == cost.quantity);
        RC_ASSERT(paid == cost.tick_lots);
        RC_ASSERT(book.cost_of(BookSide::buy, wanted, view).quantity <= cost.quantity);
    }));
}

TEST(PaperBook, AnOrderThatIsCancelledLeavesNoPlaceInTheQueueBehind) {
    PaperBook book(50, BookSelfTrade::expire_taker);
    MarketView view = view_at(1);
    view.bids = {{{100}, {10}}};
    view.asks = {{{110}, {10}}};
    std::vector<PaperBookEvent> events;
    book.enter({.id = 1, .price = {100}, .quantity = {5}}, view, events);
    book.cancel(1, events);
    // Later nobody else bids there: the new order is the first at its price.
    view = view_at(2);
    view.bids = {{{99}, {10}}};
    view.asks = {{{110}, {10}}};
    book.enter({.id = 2, .price = {100}, .quantity = {5}}, view, events);
    view = view_at(3);
    view.trades = {{{100}, {5}, BookSide::sell}};
    events.clear();
    book.meet(view, events);
    EXPECT_EQ(filled(events), Lots{5});
}

TEST(PaperBook, OwnOrdersAtOnePriceFillInTheOrderTheyCame) {
    PaperBook book(50, BookSelfTrade::expire_taker);
    MarketView view = view_at(1);
    std::vector<PaperBookEvent> events;
    book.enter({.id = 1, .price = {100}, .quantity = {5}}, view, events);
    book.enter({.id = 2, .price = {100}, .quantity = {5}}, view, events);
    view = view_at(2);
    view.trades = {{{90}, {7}, BookSide::sell}};
    events.clear();
    book.meet(view, events);
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].order, 1u);
    EXPECT_EQ(events[0].quantity, Lots{5});
    EXPECT_EQ(events[1].order, 2u);
    EXPECT_EQ(events[1].quantity, Lots{2});
}

}  // namespace
}  // namespace interlock
