// How many bytes of request bodies the server holds at once, from their arrival to their answer.
// Bounded in all, for strangers together, and for each holder or peer, so that whoever sends too
// much is refused and nobody else.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>

namespace interlock {

// Whose bytes they are.
struct BodyOwner {
    std::string name;  // A holder, or the peer of a stranger.
    bool is_known = false;
};

class BodyBytes {
public:
    // Of all bytes a fourth is for strangers; of either part one owner has a fourth.
    static constexpr std::size_t kShare = 4;

    explicit BodyBytes(std::size_t bytes_max) : bytes_max_(bytes_max) {}

    // False: there is no room for them. Each true is given back.
    bool take(const BodyOwner& owner, std::size_t count) {
        const std::size_t part_max = owner.is_known ? bytes_max_ : bytes_max_ / kShare;
        const std::lock_guard lock(mutex_);
        std::size_t& part = owner.is_known ? known_ : strangers_;
        const auto own = by_owner_.find(key_of(owner));
        const std::size_t held = own == by_owner_.end() ? 0 : own->second;
        if (count > bytes_max_ - known_ - strangers_ || count > part_max - part ||
            held + count > part_max / kShare) {
            return false;
        }
        part += count;
        by_owner_[key_of(owner)] = held + count;
        return true;
    }
    void give_back(const BodyOwner& owner, std::size_t count) {
        const std::lock_guard lock(mutex_);
        (owner.is_known ? known_ : strangers_) -= count;
        if (const auto own = by_owner_.find(key_of(owner)); (own->second -= count) == 0) {
            by_owner_.erase(own);
        }
    }
    std::size_t used() const {
        const std::lock_guard lock(mutex_);
        return known_ + strangers_;
    }

private:
    static std::pair<bool, std::string> key_of(const BodyOwner& owner) {
        return {owner.is_known, owner.name};
    }

    const std::size_t bytes_max_;
    mutable std::mutex mutex_;  // Network threads share it (ADR 0016).
    std::size_t known_ = 0;
    std::size_t strangers_ = 0;
    std::map<std::pair<bool, std::string>, std::size_t> by_owner_;
};

}  // namespace interlock
