// A book so simple that its correctness can be read: one vector of orders, searched from end to end
// for everything. Tests and the fuzzer hold the matching engine to it, event for event.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "market/rules/matching/matching_engine.h"

namespace interlock {

class ReferenceBook {
public:
    explicit ReferenceBook(const MatchingLimits& limits) : limits_(limits) {}

    void submit(const BookOrder& order, BookEventList& sink) {
        if (const auto refusal = refusal_of(order)) {
            sink.on(BookRejected{order.id, *refusal});
            return;
        }
        sink.on(BookAccepted{order.id, order.price, order.quantity, order.side});
        enter(order, sink);
    }

    void cancel(BookOrderId id, BookEventList& sink) {
        const auto at = place_of(id);
        if (at == resting_.end()) {
            sink.on(BookRejected{id, BookRefusal::unknown_order});
            return;
        }
        sink.on(cancelled(*at, BookCancelCause::by_user));
        resting_.erase(at);
    }

    void amend(const BookAmend& change, BookEventList& sink) {
        const auto at = place_of(change.id);
        if (const auto refusal = refusal_of(change)) {
            sink.on(BookRejected{change.id, *refusal});
            return;
        }
        const RestingOrder before = *at;
        sink.on(cancelled(before, BookCancelCause::replaced));
        resting_.erase(at);
        sink.on(BookAccepted{change.id, change.price, change.quantity, before.side});
        enter(
            {.id = change.id,
             .price = change.price,
             .quantity = change.quantity,
             .owner = before.owner,
             .side = before.side,
             .self_trade = change.self_trade},
            sink);
    }

    std::size_t resting_orders() const { return resting_.size(); }

    std::vector<BookLevel> levels(BookSide side) const {
        std::vector<BookLevel> levels;
        for (const RestingOrder& order : by_priority(side)) {
            if (levels.empty() || levels.back().price != order.price) {
                levels.push_back({.price = order.price});
            }
            levels.back().quantity += order.left;
            ++levels.back().orders;
        }
        return levels;
    }

    // Best price first, and within a price in the order of arrival.
    std::vector<RestingOrder> by_priority(BookSide side) const {
        std::vector<RestingOrder> orders;
        std::copy_if(
            resting_.begin(),
            resting_.end(),
            std::back_inserter(orders),
            [&](const RestingOrder& order) { return order.side == side; });
        std::stable_sort(orders.begin(), orders.end(), [&](const auto& a, const auto& b) {
            return side == BookSide::buy ? a.price > b.price : a.price < b.price;
        });
        return orders;
    }

private:
    using Place = std::vector<RestingOrder>::iterator;

    Place place_of(BookOrderId id) {
        return std::find_if(
            resting_.begin(), resting_.end(), [&](const auto& order) { return order.id == id; });
    }

    static BookSide other(BookSide side) {
        return side == BookSide::buy ? BookSide::sell : BookSide::buy;
    }
    static bool reaches(const BookOrder& taker, Ticks price) {
        return taker.kind == BookOrderKind::market ||
               (taker.side == BookSide::buy ? price <= taker.price : price >= taker.price);
    }
    static bool is_own(const BookOrder& taker, const RestingOrder& maker) {
        return taker.self_trade != BookSelfTrade::none && taker.owner != BookOwner::nobody &&
               taker.owner == maker.owner;
    }
    static BookCancelled cancelled(const RestingOrder& order, BookCancelCause cause) {
        return {order.id, order.price, order.left, order.owner, order.side, cause};
    }
    static BookCancelled cancelled(const BookOrder& order, Lots left, BookCancelCause cause) {
        return {order.id, order.price, left, order.owner, order.side, cause};
    }

    bool has_room_at(Ticks price) const {
        std::set<Ticks> prices;
        for (const RestingOrder& order : resting_) {
            prices.insert(order.price);
        }
        return prices.contains(price) || prices.size() < limits_.levels_max;
    }

    std::optional<BookRefusal> refusal_of(const BookOrder& order) {
        const bool is_maker = order.kind == BookOrderKind::limit_maker;
        const bool is_market = order.kind == BookOrderKind::market;
        if (!is_market && (order.price < Ticks{1} || order.price > kBookTicksMax)) {
            return BookRefusal::bad_price;
        }
        if (order.quantity < Lots{1} || order.quantity > kBookLotsMax) {
            return BookRefusal::bad_quantity;
        }
        if (is_maker && order.time_in_force != BookTimeInForce::gtc) {
            return BookRefusal::bad_combination;
        }
        if (place_of(order.id) != resting_.end()) {
            return BookRefusal::duplicate_id;
        }
        const auto makers = by_priority(other(order.side));
        if (is_maker && !makers.empty() && reaches(order, makers.front().price)) {
            return BookRefusal::would_take;
        }
        if (is_market || order.time_in_force != BookTimeInForce::gtc) {
            return std::nullopt;
        }
        if (resting_.size() == limits_.orders_max) {
            return BookRefusal::orders_full;
        }
        return has_room_at(order.price) ? std::nullopt : std::optional(BookRefusal::levels_full);
    }

    std::optional<BookRefusal> refusal_of(const BookAmend& change) {
        const auto at = place_of(change.id);
        if (at == resting_.end()) {
            return BookRefusal::unknown_order;
        }
        if (change.price < Ticks{1} || change.price > kBookTicksMax) {
            return BookRefusal::bad_price;
        }
        if (change.quantity < Lots{1} || change.quantity > kBookLotsMax) {
            return BookRefusal::bad_quantity;
        }
        const auto same_price = std::count_if(
            resting_.begin(), resting_.end(), [&](const auto& o) { return o.price == at->price; });
        const bool fits = same_price == 1 || has_room_at(change.price);
        return fits ? std::nullopt : std::optional(BookRefusal::levels_full);
    }

    bool is_fillable(const BookOrder& order) const {
        Lots found;
        for (const RestingOrder& maker : by_priority(other(order.side))) {
            if (!reaches(order, maker.price)) {
                break;
            }
            if (!is_own(order, maker)) {
                found += maker.left;
            } else if (order.self_trade != BookSelfTrade::expire_maker) {
                break;
            }
        }
        return found >= order.quantity;
    }

    void enter(const BookOrder& order, BookEventList& sink) {
        if (order.time_in_force == BookTimeInForce::fok && !is_fillable(order)) {
            sink.on(cancelled(order, order.quantity, BookCancelCause::fok_unfillable));
            return;
        }
        Lots left = order.quantity;
        for (const RestingOrder& maker : by_priority(other(order.side))) {
            if (left == Lots{0} || !reaches(order, maker.price)) {
                break;
            }
            const auto at = place_of(maker.id);
            if (is_own(order, maker)) {
                if (order.self_trade != BookSelfTrade::expire_taker) {
                    sink.on(cancelled(maker, BookCancelCause::self_trade));
                    resting_.erase(at);
                }
                if (order.self_trade != BookSelfTrade::expire_maker) {
                    sink.on(cancelled(order, left, BookCancelCause::self_trade));
                    return;
                }
                continue;
            }
            left -= trade(order, left, at, sink);
        }
        if (left == Lots{0}) {
            return;
        }
        if (order.kind == BookOrderKind::market || order.time_in_force != BookTimeInForce::gtc) {
            sink.on(cancelled(order, left, BookCancelCause::ioc_rest));
            return;
        }
        resting_.push_back({order.id, order.price, left, order.owner, order.side});
    }

    Lots trade(const BookOrder& taker, Lots left, Place maker, BookEventList& sink) {
        const Lots quantity = std::min(left, maker->left);
        maker->left -= quantity;
        sink.on(BookTrade{
            .number = ++trades_,
            .maker = maker->id,
            .taker = taker.id,
            .price = maker->price,
            .quantity = quantity,
            .maker_left = maker->left,
            .maker_owner = maker->owner,
            .taker_side = taker.side});
        if (maker->left == Lots{0}) {
            resting_.erase(maker);
        }
        return quantity;
    }

    MatchingLimits limits_;
    std::vector<RestingOrder> resting_;  // In the order of arrival.
    std::uint64_t trades_ = 0;
};

}  // namespace interlock
