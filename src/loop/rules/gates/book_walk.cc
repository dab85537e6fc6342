#include "loop/rules/gates/book_walk.h"

#include <algorithm>

namespace interlock {

BookWalk walk_book(const std::vector<DepthLevel>& levels, const WalkWish& wish, Reckoning& reckon) {
    BookWalk walk;
    const bool is_buy = wish.side == Side::buy;
    Decimal behind = wish.behind;
    Decimal left = wish.qty;
    for (const DepthLevel& level : levels) {
        const bool is_beyond =
            wish.limit && (is_buy ? level.price > *wish.limit : level.price < *wish.limit);
        if (is_beyond || !left.is_positive()) {
            break;
        }
        const Decimal gone = std::min(behind, level.qty);
        behind = reckon.subtract(behind, gone);
        const Decimal part = std::min(left, reckon.subtract(level.qty, gone));
        if (!part.is_positive()) {
            continue;
        }
        left = reckon.subtract(left, part);
        walk.carried = reckon.add(walk.carried, part);
        const Decimal worth = is_buy ? reckon.multiply_up(part, level.price)
                                     : reckon.multiply_down(part, level.price);
        walk.worth = reckon.add(walk.worth, worth);
    }
    return walk;
}

}  // namespace interlock
