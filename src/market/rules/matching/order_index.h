// Finds a resting order's handle by its id: open addressing with linear probing and backward-shift
// deletion, so that neither lookups nor deletions ever leave tombstones behind.
//
// A slot keeps 32 bits of the id's hash next to the handle. The id itself stays with the order, and
// the caller compares it: twice as many slots fit into a cache line. The table doubles while the
// book grows to a size it never had before and never shrinks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace interlock {

class OrderIndex {
public:
    // Room for `expected` ids without growing; never for more than `ids_max`.
    OrderIndex(std::size_t expected, std::size_t ids_max);

    struct Place {
        std::uint32_t tag;     // The hash of the id that was looked for.
        std::uint32_t slot;    // Where it is, or where it would go.
        std::uint32_t handle;  // 0: not there.
    };

    // `has_id(handle)` tells whether that order has the id looked for. The place is good until the
    // next insert or erase.
    template <class HasId>
    Place find(std::uint64_t id, HasId has_id) const {
        const std::uint32_t tag = tag_of(id);
        std::uint32_t slot = tag >> shift_;
        while (true) {
            const Slot& at = slots_[slot];
            if (at.handle == 0) {
                return {tag, slot, 0};
            }
            if (at.tag == tag && has_id(at.handle)) {
                return {tag, slot, at.handle};
            }
            slot = (slot + 1) & mask_;
        }
    }

    // For a place whose handle is 0.
    void insert(const Place& place, std::uint32_t handle) {
        if (count_ == grow_at_) [[unlikely]] {
            grow();
            put({place.tag, handle});
        } else {
            slots_[place.slot] = {place.tag, handle};
        }
        ++count_;
    }

    // For a place whose handle is not 0.
    void erase(const Place& place) {
        std::uint32_t hole = place.slot;
        std::uint32_t next = (hole + 1) & mask_;
        // A later entry of the same run moves into the hole unless that is before its home.
        while (slots_[next].handle != 0) {
            const std::uint32_t home = slots_[next].tag >> shift_;
            if (((next - home) & mask_) >= ((next - hole) & mask_)) {
                slots_[hole] = slots_[next];
                hole = next;
            }
            next = (next + 1) & mask_;
        }
        slots_[hole].handle = 0;
        --count_;
    }

    std::size_t size() const { return count_; }
    std::size_t memory_bytes() const { return slots_.size() * sizeof(Slot); }

private:
    struct Slot {
        std::uint32_t tag;
        std::uint32_t handle;
    };

    // Both halves of the product depend on every bit of the id, so that ids counted up by one or by
    // a power of two spread equally well.
    static std::uint32_t tag_of(std::uint64_t id) {
        const auto product = static_cast<unsigned __int128>(id ^ 0x9E3779B97F4A7C15u) *
                             static_cast<unsigned __int128>(0xD6E8FEB86659FD93u);
        return static_cast<std::uint32_t>(
            (static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product)) >>
            32);
    }

    void resize(std::size_t slots);
    void put(Slot entry);
    void grow();

    std::vector<Slot> slots_;
    std::size_t count_ = 0;
    std::size_t grow_at_ = 0;
    std::uint32_t mask_ = 0;
    int shift_ = 0;
};

}  // namespace interlock
