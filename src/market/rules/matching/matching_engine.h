// The matching engine of one symbol: price-time priority over whole ticks and lots.
//
//     MatchingEngine engine({.orders_max = 10'000});
//     BookEventList sink;  // Or any type with on(BookAccepted), on(BookTrade), on(BookCancelled),
//                          // on(BookRejected); it must not call the engine from there.
//     engine.submit({.id = BookOrderId{1}, .price = {100}, .quantity = {5}}, sink);
//
// What a call causes reaches the sink before the call returns: rejected alone, or accepted, then
// trades and prevented self-trades in the order they happen, then cancelled for a rest that may not
// stay. An order that may rest is refused before any fill when the book has no room for it; ioc,
// fok and market orders need none. Nothing here allocates, but for the tables' growth to a size
// they never had (see orders_expected); nothing depends on a clock, so a replay gives the same
// events.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <optional>
#include <span>

#include "market/rules/matching/book_order.h"
#include "market/rules/matching/handle_pool.h"
#include "market/rules/matching/order_index.h"
#include "market/rules/matching/price_ladder.h"

namespace interlock {

// With kBookLotsMax this keeps every sum of quantities within 63 bits.
inline constexpr std::size_t kBookOrdersMax = std::size_t{1} << 20;

struct MatchingLimits {
    std::size_t orders_max = std::size_t{1} << 16;    // Resting at once; up to kBookOrdersMax.
    std::size_t levels_max = std::size_t{1} << 14;    // Prices with resting orders, both sides.
    std::size_t orders_expected = 1024;               // The id table starts with room for these.
    std::size_t window_ticks = std::size_t{1} << 16;  // See price_ladder.h; four bytes each.
};

class MatchingEngine {
public:
    // `far_memory` outlives the engine; it serves the levels outside of the ladder's window.
    explicit MatchingEngine(
        const MatchingLimits& limits,
        std::pmr::memory_resource& far_memory = *std::pmr::new_delete_resource());
    MatchingEngine(const MatchingEngine&) = delete;
    MatchingEngine& operator=(const MatchingEngine&) = delete;

    template <class Sink>
    void submit(const BookOrder& order, Sink& sink) {
        const OrderIndex::Place place = find_place(order.id);
        if (const auto refusal = refusal_of(order, place)) [[unlikely]] {
            sink.on(BookRejected{order.id, *refusal});
            return;
        }
        sink.on(BookAccepted{order.id, order.price, order.quantity, order.side});
        if (order.side == BookSide::buy) {
            enter<BookSide::buy>(order, place, sink);
        } else {
            enter<BookSide::sell>(order, place, sink);
        }
    }

    template <class Sink>
    void cancel(BookOrderId id, Sink& sink) {
        const OrderIndex::Place place = find_place(id);
        if (place.handle == 0) [[unlikely]] {
            sink.on(BookRejected{id, BookRefusal::unknown_order});
            return;
        }
        sink.on(cancelled(place.handle, BookCancelCause::by_user));
        unlink(place.handle);
        index_.erase(place);
        orders_.give_back(place.handle);
    }

    // Takes the order out of its queue and lets it enter anew with the same id, side and owner: the
    // sink sees cancelled (replaced), accepted and whatever follows. A refused amend changes
    // nothing.
    template <class Sink>
    void amend(const BookAmend& change, Sink& sink) {
        const OrderIndex::Place place = find_place(change.id);
        if (const auto refusal = refusal_of(change, place)) [[unlikely]] {
            sink.on(BookRejected{change.id, *refusal});
            return;
        }
        sink.on(cancelled(place.handle, BookCancelCause::replaced));
        const BookSide side = levels_[orders_[place.handle].level].side;
        unlink(place.handle);
        sink.on(BookAccepted{change.id, change.price, change.quantity, side});
        if (side == BookSide::buy) {
            reenter<BookSide::buy>(change, place.handle, sink);
        } else {
            reenter<BookSide::sell>(change, place.handle, sink);
        }
    }

    // The best price of a side, or nothing.
    std::optional<BookLevel> best(BookSide side) const;
    Lots depth_at(BookSide side, Ticks price) const;
    // Fills `levels` from the best price on and returns how many there were.
    std::size_t top_levels(BookSide side, std::span<BookLevel> levels) const;
    std::optional<RestingOrder> find(BookOrderId id) const;
    // The same for the orders at one price, first in the queue first.
    std::size_t queue_at(BookSide side, Ticks price, std::span<RestingOrder> orders) const;

    std::size_t resting_orders() const { return orders_.size(); }
    std::size_t level_count() const { return levels_.size(); }
    std::uint64_t trades() const { return trades_; }
    // All that is held, but for what `far_memory` gave.
    std::size_t memory_bytes() const;

private:
    struct Order {
        BookOrderId id{};
        Lots left{};
        BookOwner owner = BookOwner::nobody;
        std::uint32_t level = 0;
        std::uint32_t before = 0;  // Its neighbours in the queue.
        std::uint32_t after = 0;
    };
    struct Level {
        Ticks price{};
        Lots total{};
        std::uint32_t first = 0;
        std::uint32_t last = 0;
        std::uint32_t orders = 0;
        BookSide side = BookSide::buy;
    };
    static_assert(sizeof(Order) == 32 && sizeof(Level) == 32, "two of each fill a cache line");

    // What is left of a taker, and whether self-trade prevention stopped it.
    struct Taken {
        Lots left{};
        bool prevented = false;
    };

    static constexpr BookSide opposite(BookSide side) {
        return side == BookSide::buy ? BookSide::sell : BookSide::buy;
    }
    // Whether a taker with this limit may trade at the price of a resting order.
    template <BookSide side>
    static constexpr bool reaches(Ticks limit, Ticks price) {
        return side == BookSide::buy ? price <= limit : price >= limit;
    }
    static Ticks limit_of(const BookOrder& order) {
        if (order.kind != BookOrderKind::market) [[likely]] {
            return order.price;
        }
        return order.side == BookSide::buy ? kBookTicksMax : Ticks{0};
    }
    static bool may_rest(const BookOrder& order) {
        return order.kind != BookOrderKind::market && order.time_in_force == BookTimeInForce::gtc;
    }
    static bool is_prevented(const BookOrder& taker, const Order& maker) {
        return taker.self_trade != BookSelfTrade::none && taker.owner == maker.owner &&
               taker.owner != BookOwner::nobody;
    }

    std::uint32_t& best_of(BookSide side) { return best_[static_cast<std::size_t>(side)]; }
    std::uint32_t best_of(BookSide side) const { return best_[static_cast<std::size_t>(side)]; }

    template <BookSide side>
    bool crosses(Ticks limit) const {
        const std::uint32_t level = best_of(opposite(side));
        return level != 0 && reaches<side>(limit, levels_[level].price);
    }

    OrderIndex::Place find_place(BookOrderId id) const {
        return index_.find(static_cast<std::uint64_t>(id), [&](std::uint32_t handle) {
            return orders_[handle].id == id;
        });
    }

    BookCancelled cancelled(std::uint32_t handle, BookCancelCause cause) const {
        const Order& order = orders_[handle];
        const Level& level = levels_[order.level];
        return {order.id, level.price, order.left, order.owner, level.side, cause};
    }
    static BookCancelled cancelled(const BookOrder& order, Lots left, BookCancelCause cause) {
        return {order.id, order.price, left, order.owner, order.side, cause};
    }

    std::optional<BookRefusal> refusal_of(
        const BookOrder& order, const OrderIndex::Place& place) const {
        const bool sound = order.quantity.count > 0 && order.quantity <= kBookLotsMax &&
                           order.price.count > 0 && order.price <= kBookTicksMax &&
                           order.kind == BookOrderKind::limit && place.handle == 0 &&
                           !orders_.is_full() && !levels_.is_full();
        return sound ? std::nullopt : slow_refusal_of(order, place);
    }
    std::optional<BookRefusal> refusal_of(
        const BookAmend& change, const OrderIndex::Place& place) const;
    std::optional<BookRefusal> slow_refusal_of(
        const BookOrder& order, const OrderIndex::Place& place) const;

    template <BookSide side, class Sink>
    void enter(const BookOrder& order, OrderIndex::Place place, Sink& sink) {
        Lots left = order.quantity;
        if (crosses<side>(limit_of(order))) {
            if (order.time_in_force == BookTimeInForce::fok && !is_fillable(order)) {
                sink.on(cancelled(order, left, BookCancelCause::fok_unfillable));
                return;
            }
            const Taken taken = take<side>(order, sink);
            if (taken.left.count == 0) {
                return;
            }
            if (taken.prevented) [[unlikely]] {
                sink.on(cancelled(order, taken.left, BookCancelCause::self_trade));
                return;
            }
            left = taken.left;
            place = find_place(order.id);  // Filled makers left the index.
        }
        if (!may_rest(order)) {
            const bool fok = order.time_in_force == BookTimeInForce::fok;
            const auto cause = fok ? BookCancelCause::fok_unfillable : BookCancelCause::ioc_rest;
            sink.on(cancelled(order, left, cause));
            return;
        }
        const std::uint32_t handle = orders_.take();
        Order& resting = orders_[handle];
        resting.id = order.id;
        resting.left = left;
        resting.owner = order.owner;
        index_.insert(place, handle);
        link<side>(handle, order.price);
    }

    template <BookSide side, class Sink>
    void reenter(const BookAmend& change, std::uint32_t handle, Sink& sink) {
        Lots left = change.quantity;
        if (crosses<side>(change.price)) [[unlikely]] {
            const BookOrder order{
                .id = change.id,
                .price = change.price,
                .quantity = change.quantity,
                .owner = orders_[handle].owner,
                .side = side,
                .self_trade = change.self_trade};
            const Taken taken = take<side>(order, sink);
            left = taken.left;
            if (taken.prevented) {
                sink.on(cancelled(order, left, BookCancelCause::self_trade));
            }
            if (taken.prevented || left.count == 0) {
                index_.erase(find_place(change.id));
                orders_.give_back(handle);
                return;
            }
        }
        orders_[handle].left = left;
        link<side>(handle, change.price);
    }

    template <BookSide side, class Sink>
    Taken take(const BookOrder& taker, Sink& sink) {
        constexpr BookSide other = opposite(side);
        const Ticks limit = limit_of(taker);
        Lots left = taker.quantity;
        while (left.count > 0 && crosses<side>(limit)) {
            Level& level = levels_[best_of(other)];
            const std::uint32_t handle = level.first;
            Order& maker = orders_[handle];
            if (is_prevented(taker, maker)) [[unlikely]] {
                if (taker.self_trade != BookSelfTrade::expire_taker) {
                    sink.on(cancelled(handle, BookCancelCause::self_trade));
                    remove(handle);
                }
                if (taker.self_trade != BookSelfTrade::expire_maker) {
                    return {left, true};
                }
                continue;
            }
            const Lots quantity = std::min(left, maker.left);
            left -= quantity;
            maker.left -= quantity;
            level.total -= quantity;
            sink.on(BookTrade{
                .number = ++trades_,
                .maker = maker.id,
                .taker = taker.id,
                .price = level.price,
                .quantity = quantity,
                .maker_left = maker.left,
                .maker_owner = maker.owner,
                .taker_side = side});
            if (maker.left.count == 0) {
                remove(handle);
            }
        }
        return {left, false};
    }

    // Appends an order whose id, quantity and owner are set to the queue of its price.
    template <BookSide side>
    void link(std::uint32_t handle, Ticks price) {
        std::uint32_t at = ladder_.find(price);
        if (at == 0) {
            at = open_level<side>(price);
        }
        Order& order = orders_[handle];
        Level& level = levels_[at];
        order.level = at;
        order.before = level.last;
        order.after = 0;
        (level.last != 0 ? orders_[level.last].after : level.first) = handle;
        level.last = handle;
        level.total += order.left;
        ++level.orders;
    }

    template <BookSide side>
    std::uint32_t open_level(Ticks price) {
        std::uint32_t& best = best_of(side);
        const bool is_best = best == 0 || reaches<opposite(side)>(levels_[best].price, price);
        ladder_.note_use(price, is_best ? price : levels_[best].price);
        const std::uint32_t handle = levels_.take();
        levels_[handle] = {.price = price, .side = side};
        ladder_.insert(price, handle);
        if (is_best) {
            best = handle;
        }
        return handle;
    }

    // Takes an order out of its queue; its record and its place in the index stay.
    void unlink(std::uint32_t handle) {
        const Order& order = orders_[handle];
        Level& level = levels_[order.level];
        if (--level.orders == 0) {
            close_level(order.level);
            return;
        }
        level.total -= order.left;
        (order.before != 0 ? orders_[order.before].after : level.first) = order.after;
        (order.after != 0 ? orders_[order.after].before : level.last) = order.before;
    }

    void close_level(std::uint32_t handle) {
        const Level& level = levels_[handle];
        ladder_.erase(level.price);
        // Bids lie below all asks, so the next price outwards is of the same side.
        if (std::uint32_t& best = best_of(level.side); best == handle) {
            best = level.side == BookSide::buy ? ladder_.next_below(level.price)
                                               : ladder_.next_above(level.price);
        }
        levels_.give_back(handle);
    }

    void remove(std::uint32_t handle) {
        index_.erase(find_place(orders_[handle].id));
        unlink(handle);
        orders_.give_back(handle);
    }

    std::uint32_t next_level(const Level& level) const {
        return level.side == BookSide::buy ? ladder_.next_below(level.price)
                                           : ladder_.next_above(level.price);
    }

    // Whether a fok order that crosses would be filled to the end.
    bool is_fillable(const BookOrder& order) const;

    std::uint32_t best_[2] = {0, 0};
    std::uint64_t trades_ = 0;
    PriceLadder ladder_;
    OrderIndex index_;
    HandlePool<Order> orders_;
    HandlePool<Level> levels_;
};

}  // namespace interlock
