// Bodies beyond the ordinary bound, on one path and for callers that say who they are. Whether they
// are whom they say is the handler's to find out, after the body is in memory: so only a few may
// arrive at a time over all connections.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>

namespace interlock {

struct LargeBodyRule {
    std::string path;  // Exactly this one; empty: none.
    std::size_t bytes_max = 0;
    std::size_t at_a_time_max = 8;
};

class LargeBodies {
public:
    explicit LargeBodies(LargeBodyRule rule) : rule_(std::move(rule)) {}

    bool is_for(std::string_view target) const {
        return !rule_.path.empty() && target.substr(0, target.find('?')) == rule_.path;
    }
    std::size_t bytes_max() const { return rule_.bytes_max; }

    // False: as many as may be are arriving. Each true is given back.
    bool take() {
        if (used_.fetch_add(1) < rule_.at_a_time_max) {
            return true;
        }
        used_.fetch_sub(1);
        return false;
    }
    void give_back() { used_.fetch_sub(1); }
    std::size_t used() const { return used_.load(); }

private:
    const LargeBodyRule rule_;
    std::atomic<std::size_t> used_{0};
};

}  // namespace interlock
