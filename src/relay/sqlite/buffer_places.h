// Where each waiting buffer entry lies in its table: the index of (instance, seq), kept in memory
// because one on the disk would be written all over with every batch. It is read anew at each open.
//
// 16 bytes for each entry; the entries of an instance are bounded by the lane that appends them.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "relay/ports/relay_store.h"

namespace interlock {

class BufferPlaces {
public:
    struct Slot {
        std::int64_t seq = 0;
        std::int64_t place = 0;
    };

    // False: the number is taken.
    bool add(const std::string& instance_id, Slot slot);
    std::optional<std::int64_t> find(const BufferKey& key) const;
    // The place of what was there.
    std::optional<std::int64_t> remove(const BufferKey& key);
    // The entries of an instance in order of seq; nothing when none ever waited.
    const std::deque<Slot>* of(const std::string& instance_id) const;
    // The first entry after `seq`.
    static std::deque<Slot>::const_iterator after(const std::deque<Slot>& slots, std::int64_t seq);

    // Changes since the last keep() are taken back by undo().
    void keep() { changes_.clear(); }
    void undo();

private:
    // Live instances come back to none waiting all the time, so theirs stay, empty.
    using Slots = std::deque<Slot>;
    struct Change {
        Slots* slots;  // References into the map outlive its growth.
        Slot slot;
        bool was_added;
    };
    static Slots::iterator at(Slots& slots, std::int64_t seq);

    std::unordered_map<std::string, Slots> instances_;
    std::vector<Change> changes_;
};

}  // namespace interlock
