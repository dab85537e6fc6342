#include "bots/service/signup_door.h"

#include "base/errors.h"

namespace interlock {

Result<void> SignupDoor::enter(const std::string& peer, Timestamp now) {
    std::optional<Duration> wait;
    {
        const std::lock_guard lock(mutex_);
        wait = gate_.take(peer, now);
    }
    if (!wait) {
        return {};
    }
    constexpr std::int64_t kSecond = Duration::of_seconds(1).microseconds;
    auto refusal = fail(errors::rate_limited, "There are as many signups as an hour may have.");
    refusal.error().retry_after_seconds =
        static_cast<int>((wait->microseconds + kSecond - 1) / kSecond);
    return refusal;
}

void SignupDoor::give_back(const std::string& peer) {
    const std::lock_guard lock(mutex_);
    gate_.give_back(peer);
}

void SignupDoor::remember(const std::string& peer, Timestamp at, Timestamp now) {
    const std::lock_guard lock(mutex_);
    gate_.remember(peer, at, now);
}

}  // namespace interlock
