#include "market/rules/matching/order_index.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"

namespace interlock {

namespace {

constexpr std::size_t kSlotsMin = 64;

}  // namespace

OrderIndex::OrderIndex(std::size_t expected, std::size_t ids_max) {
    CHECK(ids_max > 0 && ids_max <= (std::size_t{1} << 30));
    // Half full at most: a run of taken slots stays short.
    resize(std::max(kSlotsMin, std::bit_ceil(2 * std::min(expected, ids_max))));
}

void OrderIndex::resize(std::size_t slots) {
    slots_.assign(slots, Slot{0, 0});
    mask_ = static_cast<std::uint32_t>(slots - 1);
    shift_ = 32 - std::countr_zero(slots);
    grow_at_ = slots / 2;
}

void OrderIndex::put(Slot entry) {
    std::uint32_t slot = entry.tag >> shift_;
    while (slots_[slot].handle != 0) {
        slot = (slot + 1) & mask_;
    }
    slots_[slot] = entry;
}

void OrderIndex::grow() {
    const std::vector<Slot> before = std::exchange(slots_, {});
    resize(before.size() * 2);
    for (const Slot& entry : before) {
        if (entry.handle != 0) {
            put(entry);
        }
    }
}

}  // namespace interlock
