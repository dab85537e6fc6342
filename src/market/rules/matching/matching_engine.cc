#include "market/rules/matching/matching_engine.h"

namespace interlock {

MatchingEngine::MatchingEngine(const MatchingLimits& limits, std::pmr::memory_resource& far_memory)
    : ladder_(limits.window_ticks, far_memory),
      index_(limits.orders_expected, limits.orders_max),
      orders_(limits.orders_max),
      levels_(limits.levels_max) {
    CHECK(limits.orders_max <= kBookOrdersMax);
}

std::optional<BookRefusal> MatchingEngine::slow_refusal_of(
    const BookOrder& order, const OrderIndex::Place& place) const {
    const bool is_market = order.kind == BookOrderKind::market;
    if (!is_market && (order.price.count <= 0 || order.price > kBookTicksMax)) {
        return BookRefusal::bad_price;
    }
    if (order.quantity.count <= 0 || order.quantity > kBookLotsMax) {
        return BookRefusal::bad_quantity;
    }
    const bool is_maker = order.kind == BookOrderKind::limit_maker;
    if (is_maker && order.time_in_force != BookTimeInForce::gtc) {
        return BookRefusal::bad_combination;
    }
    if (place.handle != 0) {
        return BookRefusal::duplicate_id;
    }
    const bool takes = order.side == BookSide::buy ? crosses<BookSide::buy>(order.price)
                                                   : crosses<BookSide::sell>(order.price);
    if (is_maker && takes) {
        return BookRefusal::would_take;
    }
    if (!may_rest(order)) {
        return std::nullopt;
    }
    if (orders_.is_full()) {
        return BookRefusal::orders_full;
    }
    if (levels_.is_full() && ladder_.find(order.price) == 0) {
        return BookRefusal::levels_full;
    }
    return std::nullopt;
}

std::optional<BookRefusal> MatchingEngine::refusal_of(
    const BookAmend& change, const OrderIndex::Place& place) const {
    if (place.handle == 0) {
        return BookRefusal::unknown_order;
    }
    if (change.price.count <= 0 || change.price > kBookTicksMax) {
        return BookRefusal::bad_price;
    }
    if (change.quantity.count <= 0 || change.quantity > kBookLotsMax) {
        return BookRefusal::bad_quantity;
    }
    // The last order of its price leaves a level for the new price.
    const bool frees_level = levels_[orders_[place.handle].level].orders == 1;
    if (levels_.is_full() && !frees_level && ladder_.find(change.price) == 0) {
        return BookRefusal::levels_full;
    }
    return std::nullopt;
}

bool MatchingEngine::is_fillable(const BookOrder& order) const {
    const Ticks limit = limit_of(order);
    Lots found;
    for (std::uint32_t at = best_of(opposite(order.side)); at != 0; at = next_level(levels_[at])) {
        const Level& level = levels_[at];
        if (order.side == BookSide::buy ? level.price > limit : level.price < limit) {
            return false;
        }
        if (order.self_trade == BookSelfTrade::none || order.owner == BookOwner::nobody) {
            found += level.total;
        } else {
            for (std::uint32_t i = level.first; i != 0; i = orders_[i].after) {
                if (!is_prevented(order, orders_[i])) {
                    found += orders_[i].left;
                } else if (order.self_trade != BookSelfTrade::expire_maker) {
                    return found >= order.quantity;
                }
            }
        }
        if (found >= order.quantity) {
            return true;
        }
    }
    return false;
}

std::optional<BookLevel> MatchingEngine::best(BookSide side) const {
    const std::uint32_t handle = best_of(side);
    if (handle == 0) {
        return std::nullopt;
    }
    const Level& level = levels_[handle];
    return BookLevel{level.price, level.total, level.orders};
}

Lots MatchingEngine::depth_at(BookSide side, Ticks price) const {
    const std::uint32_t handle = ladder_.find(price);
    return handle != 0 && levels_[handle].side == side ? levels_[handle].total : Lots{0};
}

std::size_t MatchingEngine::top_levels(BookSide side, std::span<BookLevel> levels) const {
    std::size_t count = 0;
    for (std::uint32_t at = best_of(side); at != 0 && count < levels.size();
         at = next_level(levels_[at])) {
        const Level& level = levels_[at];
        levels[count++] = {level.price, level.total, level.orders};
    }
    return count;
}

std::optional<RestingOrder> MatchingEngine::find(BookOrderId id) const {
    const std::uint32_t handle = find_place(id).handle;
    if (handle == 0) {
        return std::nullopt;
    }
    const Order& order = orders_[handle];
    const Level& level = levels_[order.level];
    return RestingOrder{order.id, level.price, order.left, order.owner, level.side};
}

std::size_t MatchingEngine::queue_at(
    BookSide side, Ticks price, std::span<RestingOrder> orders) const {
    const std::uint32_t handle = ladder_.find(price);
    if (handle == 0 || levels_[handle].side != side) {
        return 0;
    }
    std::size_t count = 0;
    for (std::uint32_t i = levels_[handle].first; i != 0 && count < orders.size();
         i = orders_[i].after) {
        orders[count++] = {orders_[i].id, price, orders_[i].left, orders_[i].owner, side};
    }
    return count;
}

std::size_t MatchingEngine::memory_bytes() const {
    return sizeof(*this) + ladder_.window_bytes() + index_.memory_bytes() + orders_.memory_bytes() +
           levels_.memory_bytes();
}

}  // namespace interlock
