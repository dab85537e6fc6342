#include "host/service/attempt_door.h"

#include "base/errors.h"
#include "base/peer_group.h"

namespace interlock {

Result<void> AttemptDoor::enter(const AttemptPeer& peer, const std::string& name, Timestamp now) {
    std::optional<Duration> wait;
    {
        const std::lock_guard lock(mutex_);
        if (!peer.is_loopback) {
            wait = by_peer_.take(peer_group(peer.address), now);
        }
        if (!wait) {
            wait = by_name_.take(name, now);
        }
    }
    if (!wait) {
        return {};
    }
    constexpr std::int64_t kSecond = Duration::of_seconds(1).microseconds;
    auto refusal = fail(errors::rate_limited, "There were as many tries as an hour may have.");
    refusal.error().retry_after_seconds =
        static_cast<int>((wait->microseconds + kSecond - 1) / kSecond);
    return refusal;
}

}  // namespace interlock
