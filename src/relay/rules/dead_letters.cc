#include "relay/rules/dead_letters.h"

#include <algorithm>

namespace interlock {

void DeadLetters::add(DeadLetterHead letter) {
    bytes_ += letter.bytes;
    letters_.push_back(letter);
}

bool DeadLetters::remove(std::int64_t seq) {
    const auto found = std::ranges::find(letters_, seq, &DeadLetterHead::seq);
    if (found == letters_.end()) {
        return false;
    }
    bytes_ -= found->bytes;
    letters_.erase(found);
    return true;
}

bool DeadLetters::contains(std::int64_t seq) const {
    return std::ranges::find(letters_, seq, &DeadLetterHead::seq) != letters_.end();
}

DeadLetterHead DeadLetters::take_first() {
    const DeadLetterHead first = letters_.front();
    bytes_ -= first.bytes;
    letters_.pop_front();
    return first;
}

std::vector<DeadLetterHead> DeadLetters::take_surplus(std::size_t count_max) {
    std::vector<DeadLetterHead> surplus;
    while (surplus.size() < count_max && (letters_.size() > entries_max_ || bytes_ > bytes_max_)) {
        surplus.push_back(take_first());
    }
    return surplus;
}

std::vector<DeadLetterHead> DeadLetters::take_expired(Timestamp now, std::size_t count_max) {
    std::vector<DeadLetterHead> expired;
    while (!letters_.empty() && expired.size() < count_max &&
           now >= letters_.front().dead_at + life_) {
        expired.push_back(take_first());
    }
    return expired;
}

void DeadLetters::clear() {
    letters_.clear();
    bytes_ = 0;
}

}  // namespace interlock
