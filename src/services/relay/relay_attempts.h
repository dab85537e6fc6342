// Counts what somebody tried within a window of time, for guessing codes and minting them. In
// memory only: a restart forgives. Lane only; bounded by `keys_max`, beyond which the key that
// began its window first is forgotten.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <unordered_map>

#include "base/time.h"

namespace interlock {

class RelayAttempts {
public:
    struct Limit {
        std::size_t count_max = 1;
        Duration window;
        std::size_t keys_max = 10'000;
    };
    explicit RelayAttempts(Limit limit) : limit_(limit) {}

    bool is_spent(const std::string& key, Timestamp now) const {
        const auto found = windows_.find(key);
        return found != windows_.end() && now < found->second.ends_at &&
               found->second.count >= limit_.count_max;
    }
    // False when the key's attempts are used up; then nothing is counted.
    bool take(const std::string& key, Timestamp now) {
        if (is_spent(key, now)) {
            return false;
        }
        const auto [at, is_new] = windows_.try_emplace(key);
        if (is_new) {
            order_.push_back(key);
        }
        if (is_new || at->second.ends_at <= now) {
            at->second = {0, now + limit_.window};
        }
        ++at->second.count;
        while (order_.size() > limit_.keys_max) {
            windows_.erase(order_.front());
            order_.pop_front();
        }
        return true;
    }
    std::size_t keys() const { return windows_.size(); }

private:
    struct Window {
        std::size_t count = 0;
        Timestamp ends_at;
    };
    const Limit limit_;
    std::unordered_map<std::string, Window> windows_;
    std::deque<std::string> order_;  // In the order of first use.
};

}  // namespace interlock
