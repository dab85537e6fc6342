// The dead letters of one instance, without their texts: how many may be kept, for how long, and
// which goes when there are too many. A pure machine; the store has the letters themselves.
//
// It holds them in the order in which they died, after take_surplus() never more than the bounds
// allow. docs/contracts/relay-connector.md#bounds-of-an-instance
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "relay/rules/delivery_queue.h"

namespace interlock {

struct DeadLetterHead {
    std::int64_t seq = 0;  // The number it had in the buffer.
    std::int64_t bytes = 0;
    Timestamp dead_at;
};

class DeadLetters {
public:
    explicit DeadLetters(const DeliveryBounds& bounds)
        : entries_max_(bounds.dead_entries_max),
          bytes_max_(bounds.dead_bytes_max),
          life_(bounds.dead_life) {}

    void add(DeadLetterHead letter);
    // False: there is no such letter.
    bool remove(std::int64_t seq);
    bool contains(std::int64_t seq) const;

    // What has to go, the one that died first first, and at most so many; no longer in the list.
    std::vector<DeadLetterHead> take_surplus(std::size_t count_max);
    std::vector<DeadLetterHead> take_expired(Timestamp now, std::size_t count_max);
    void clear();

    const std::deque<DeadLetterHead>& all() const { return letters_; }
    std::size_t size() const { return letters_.size(); }
    std::int64_t bytes() const { return bytes_; }

private:
    DeadLetterHead take_first();

    std::size_t entries_max_;
    std::int64_t bytes_max_;
    Duration life_;
    std::deque<DeadLetterHead> letters_;
    std::int64_t bytes_ = 0;
};

}  // namespace interlock
