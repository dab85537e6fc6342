#include "market/rules/matching/price_ladder.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace interlock {

namespace {

// Below this many orders outside the window it is not worth moving.
constexpr std::size_t kFarUsesMin = 32;

}  // namespace

PriceLadder::PriceLadder(std::size_t window_ticks, std::pmr::memory_resource& memory)
    : ring_(window_ticks),
      words_((window_ticks + 63) / 64),
      blocks_((window_ticks + 4095) / 4096),
      far_(&memory) {
    CHECK(std::has_single_bit(window_ticks));
    CHECK(window_ticks >= kWindowMin && window_ticks <= kWindowMax);
}

std::size_t PriceLadder::window_bytes() const {
    return ring_.size() * sizeof(ring_[0]) + words_.size() * sizeof(words_[0]) +
           blocks_.size() * sizeof(blocks_[0]);
}

std::uint32_t PriceLadder::find_far(Ticks price) const {
    const auto at = far_.find(price.count);
    return at == far_.end() ? 0 : at->second;
}

std::uint32_t PriceLadder::next_above_far(Ticks price) const {
    const auto far = far_.upper_bound(price.count);
    // A price below the window may have its neighbour inside.
    if (price.count < low_ && near_count_ > 0 && (far == far_.end() || far->first >= low_)) {
        const std::size_t bottom = slot_of({low_});
        const bool marked = (words_[bottom / 64] & bit(bottom)) != 0;
        return ring_[marked ? bottom : mark_after(bottom)];
    }
    return far == far_.end() ? 0 : far->second;
}

std::uint32_t PriceLadder::next_below_far(Ticks price) const {
    const auto far = far_.lower_bound(price.count);
    const std::int64_t high = low_ + static_cast<std::int64_t>(ring_.size()) - 1;
    if (price.count > high && near_count_ > 0 &&
        (far == far_.begin() || std::prev(far)->first <= high)) {
        const std::size_t top = slot_of({high});
        const bool marked = (words_[top / 64] & bit(top)) != 0;
        return ring_[marked ? top : mark_before(top)];
    }
    return far == far_.begin() ? 0 : std::prev(far)->second;
}

void PriceLadder::note_far_use(Ticks touch) {
    // An empty window costs nothing to move: the first order of a book takes it along.
    if (near_count_ > 0 && ++far_uses_ < std::max(kFarUsesMin, near_count_ + far_.size())) {
        return;
    }
    far_uses_ = 0;
    const auto size = static_cast<std::int64_t>(ring_.size());
    const std::int64_t from_low = touch.count - low_;
    if (from_low < size / 4 || from_low >= size - size / 4) {
        move_window(touch.count - size / 2);
    }
}

void PriceLadder::move_window(std::int64_t low) {
    const auto size = static_cast<std::int64_t>(ring_.size());
    // What the new window does not cover leaves the ring first, so that the prices that enter find
    // their slots free.
    for (std::size_t word = 0; word < words_.size() && near_count_ > 0; ++word) {
        for (std::uint64_t marks = words_[word]; marks != 0; marks &= marks - 1) {
            const std::size_t slot = word * 64 + lowest(marks);
            const std::int64_t price = low_ + static_cast<std::int64_t>(offset_of(slot));
            if (price < low || price >= low + size) {
                far_.emplace(price, ring_[slot]);
                unmark(slot);
            }
        }
    }
    low_ = low;
    auto at = far_.lower_bound(low);
    while (at != far_.end() && at->first < low + size) {
        const std::size_t slot = slot_of({at->first});
        ring_[slot] = at->second;
        mark(slot);
        at = far_.erase(at);
    }
}

}  // namespace interlock
