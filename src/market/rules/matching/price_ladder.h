// The occupied prices of a book, in order: price -> level handle, and the next occupied price above
// or below.
//
// Prices near the touch live in a window of fixed size: an array of handles used as a ring, with a
// three-story bitmap over it, so that looking up, adding, removing and stepping on cost a handful
// of instructions. Prices outside live in a sorted map. An outlier price therefore costs one map
// node and no more, wherever it is. When business moves away from the window, the window follows.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <vector>

#include "market/rules/matching/book_order.h"

namespace interlock {

class PriceLadder {
public:
    // The bitmap's three stories of 64-bit words reach this far.
    static constexpr std::size_t kWindowMax = std::size_t{1} << 18;
    static constexpr std::size_t kWindowMin = std::size_t{1} << 6;

    // `window_ticks` is a power of two. `memory` outlives the ladder and serves the map alone.
    PriceLadder(std::size_t window_ticks, std::pmr::memory_resource& memory);

    // The level at the price; 0 when there is none.
    std::uint32_t find(Ticks price) const {
        if (is_near(price)) [[likely]] {
            const std::size_t slot = slot_of(price);
            return (words_[slot / 64] >> (slot % 64) & 1) != 0 ? ring_[slot] : 0;
        }
        return find_far(price);
    }

    // For a price without a level.
    void insert(Ticks price, std::uint32_t level) {
        if (is_near(price)) [[likely]] {
            const std::size_t slot = slot_of(price);
            ring_[slot] = level;
            mark(slot);
        } else {
            far_.emplace(price.count, level);
        }
    }

    // For a price with a level.
    void erase(Ticks price) {
        if (is_near(price)) [[likely]] {
            unmark(slot_of(price));
        } else {
            far_.erase(price.count);
        }
    }

    // The level at the next occupied price; 0 when there is none.
    std::uint32_t next_above(Ticks price) const {
        if (is_near(price)) [[likely]] {
            const std::size_t slot = slot_of(price);
            const std::size_t next = mark_after(slot);
            if (next != kNoSlot && offset_of(next) > offset_of(slot)) [[likely]] {
                return ring_[next];
            }
        }
        return next_above_far(price);
    }
    std::uint32_t next_below(Ticks price) const {
        if (is_near(price)) [[likely]] {
            const std::size_t slot = slot_of(price);
            const std::size_t next = mark_before(slot);
            if (next != kNoSlot && offset_of(next) < offset_of(slot)) [[likely]] {
                return ring_[next];
            }
        }
        return next_below_far(price);
    }

    // Tells the ladder where an order is about to rest and where its side's touch is. Enough orders
    // outside of the window let it move to the touch; moving is paid for by the orders that called
    // for it, so that no sequence of prices makes it dear.
    void note_use(Ticks price, Ticks touch) {
        if (!is_near(price)) [[unlikely]] {
            note_far_use(touch);
        }
    }

    std::size_t near_levels() const { return near_count_; }
    std::size_t far_levels() const { return far_.size(); }
    std::size_t window_bytes() const;

private:
    static constexpr std::size_t kNoSlot = ~std::size_t{0};

    bool is_near(Ticks price) const {
        return static_cast<std::uint64_t>(price.count - low_) < ring_.size();
    }
    std::size_t slot_of(Ticks price) const {
        return static_cast<std::size_t>(price.count) & (ring_.size() - 1);
    }
    // How far above the window's lower end the price of a slot lies.
    std::size_t offset_of(std::size_t slot) const {
        return (slot - static_cast<std::size_t>(low_)) & (ring_.size() - 1);
    }

    void mark(std::size_t slot) {
        words_[slot / 64] |= bit(slot);
        blocks_[slot / 4096] |= bit(slot / 64);
        top_ |= bit(slot / 4096);
        ++near_count_;
    }
    void unmark(std::size_t slot) {
        --near_count_;
        if ((words_[slot / 64] &= ~bit(slot)) == 0 &&
            (blocks_[slot / 4096] &= ~bit(slot / 64)) == 0) {
            top_ &= ~bit(slot / 4096);
        }
    }

    // The next marked slot going round the ring, which may be the slot itself when no other is
    // marked; kNoSlot when none is.
    std::size_t mark_after(std::size_t slot) const {
        if (const std::uint64_t here = words_[slot / 64] & after(slot); here != 0) [[likely]] {
            return (slot & ~std::size_t{63}) + lowest(here);
        }
        return mark_after_word(slot / 64);
    }
    std::size_t mark_before(std::size_t slot) const {
        if (const std::uint64_t here = words_[slot / 64] & before(slot); here != 0) [[likely]] {
            return (slot & ~std::size_t{63}) + highest(here);
        }
        return mark_before_word(slot / 64);
    }
    std::size_t mark_after_word(std::size_t word) const {
        if (const std::uint64_t here = blocks_[word / 64] & after(word); here != 0) {
            return first_in_word((word & ~std::size_t{63}) + lowest(here));
        }
        const std::uint64_t above = top_ & after(word / 64);
        if (top_ == 0) {
            return kNoSlot;
        }
        const std::size_t block = lowest(above != 0 ? above : top_);
        return first_in_word(block * 64 + lowest(blocks_[block]));
    }
    std::size_t mark_before_word(std::size_t word) const {
        if (const std::uint64_t here = blocks_[word / 64] & before(word); here != 0) {
            return last_in_word((word & ~std::size_t{63}) + highest(here));
        }
        const std::uint64_t below = top_ & before(word / 64);
        if (top_ == 0) {
            return kNoSlot;
        }
        const std::size_t block = highest(below != 0 ? below : top_);
        return last_in_word(block * 64 + highest(blocks_[block]));
    }
    std::size_t first_in_word(std::size_t word) const { return word * 64 + lowest(words_[word]); }
    std::size_t last_in_word(std::size_t word) const { return word * 64 + highest(words_[word]); }

    static std::uint64_t bit(std::size_t index) { return std::uint64_t{1} << (index % 64); }
    static std::uint64_t before(std::size_t index) { return bit(index) - 1; }
    static std::uint64_t after(std::size_t index) { return ~before(index) ^ bit(index); }
    static std::size_t lowest(std::uint64_t word) {
        return static_cast<std::size_t>(std::countr_zero(word));
    }
    static std::size_t highest(std::uint64_t word) {
        return static_cast<std::size_t>(63 - std::countl_zero(word));
    }

    std::uint32_t find_far(Ticks price) const;
    std::uint32_t next_above_far(Ticks price) const;
    std::uint32_t next_below_far(Ticks price) const;
    void note_far_use(Ticks touch);
    void move_window(std::int64_t low);

    std::int64_t low_ = 0;  // The window is [low_, low_ + ring_.size()).
    std::uint64_t top_ = 0;
    std::size_t near_count_ = 0;
    std::size_t far_uses_ = 0;
    std::vector<std::uint32_t> ring_;
    std::vector<std::uint64_t> words_;   // A bit per slot.
    std::vector<std::uint64_t> blocks_;  // A bit per word.
    std::pmr::map<std::int64_t, std::uint32_t> far_;
};

}  // namespace interlock
