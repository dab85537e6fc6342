#include "relay/sqlite/buffer_places.h"

#include <algorithm>

namespace interlock {

namespace {

bool is_before(const BufferPlaces::Slot& slot, std::int64_t seq) {
    return slot.seq < seq;
}

}  // namespace

BufferPlaces::Slots::iterator BufferPlaces::at(Slots& slots, std::int64_t seq) {
    if (slots.empty() || slots.back().seq < seq) {
        return slots.end();  // What is appended nearly always.
    }
    return std::lower_bound(slots.begin(), slots.end(), seq, is_before);
}

std::deque<BufferPlaces::Slot>::const_iterator BufferPlaces::after(
    const std::deque<Slot>& slots, std::int64_t seq) {
    return std::upper_bound(
        slots.begin(), slots.end(), seq, [](std::int64_t number, const Slot& slot) {
            return number < slot.seq;
        });
}

bool BufferPlaces::add(const std::string& instance_id, Slot slot) {
    Slots& slots = instances_[instance_id];
    const auto where = at(slots, slot.seq);
    if (where != slots.end() && where->seq == slot.seq) {
        return false;
    }
    slots.insert(where, slot);
    changes_.push_back({&slots, slot, true});
    return true;
}

std::optional<std::int64_t> BufferPlaces::find(const BufferKey& key) const {
    const std::deque<Slot>* const slots = of(key.instance_id);
    if (slots == nullptr) {
        return std::nullopt;
    }
    const auto where = std::lower_bound(slots->begin(), slots->end(), key.seq, is_before);
    return where != slots->end() && where->seq == key.seq ? std::optional(where->place)
                                                          : std::nullopt;
}

std::optional<std::int64_t> BufferPlaces::remove(const BufferKey& key) {
    const auto found = instances_.find(key.instance_id);
    if (found == instances_.end()) {
        return std::nullopt;
    }
    Slots& slots = found->second;
    const auto where = at(slots, key.seq);
    if (where == slots.end() || where->seq != key.seq) {
        return std::nullopt;
    }
    const Slot slot = *where;
    slots.erase(where);
    changes_.push_back({&slots, slot, false});
    return slot.place;
}

const std::deque<BufferPlaces::Slot>* BufferPlaces::of(const std::string& instance_id) const {
    const auto found = instances_.find(instance_id);
    return found == instances_.end() ? nullptr : &found->second;
}

void BufferPlaces::undo() {
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
        Slots& slots = *change->slots;
        const auto where = at(slots, change->slot.seq);
        if (change->was_added) {
            slots.erase(where);
        } else {
            slots.insert(where, change->slot);
        }
    }
    changes_.clear();
}

}  // namespace interlock
