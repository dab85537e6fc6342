// Bodies beyond the ordinary bound, for callers whose credential was good: a few at a time over all
// connections, fewer for each of them, so that none takes the places of the others.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

namespace interlock {

struct LargeBodyRule {
    std::size_t bytes_max = 0;  // Of one; 0: there are none.
    std::size_t at_a_time_max = 8;
    std::size_t per_holder_max = 2;
};

class LargeBodies {
public:
    explicit LargeBodies(LargeBodyRule rule) : rule_(rule) {}

    std::size_t bytes_max() const { return rule_.bytes_max; }

    // False: as many as may be are arriving. Each true is given back.
    bool take(const std::string& holder) {
        const std::lock_guard lock(mutex_);
        const auto own = by_holder_.find(holder);
        if (used_ >= rule_.at_a_time_max ||
            (own != by_holder_.end() && own->second >= rule_.per_holder_max)) {
            return false;
        }
        ++used_;
        ++by_holder_[holder];
        return true;
    }
    void give_back(const std::string& holder) {
        const std::lock_guard lock(mutex_);
        --used_;
        if (const auto own = by_holder_.find(holder); --own->second == 0) {
            by_holder_.erase(own);
        }
    }

private:
    const LargeBodyRule rule_;
    std::mutex mutex_;  // Network threads share the places (ADR 0016).
    std::size_t used_ = 0;
    std::map<std::string, std::size_t> by_holder_;
};

}  // namespace interlock
