#include "relay/platforms/discord/identify_gate.h"

#include <algorithm>

namespace interlock {

void IdentifyGate::set(const IdentifyLimits& limits, Duration now) {
    const std::lock_guard lock(mutex_);
    limits_ = limits;
    limits_.max_concurrency = std::clamp(limits.max_concurrency, 1, kIdentifyConcurrencyMax);
    limits_.total = std::clamp(limits.total, 1, kIdentifiesPerDay * kIdentifyConcurrencyMax);
    limits_.remaining = std::clamp(limits.remaining, 0, limits_.total);
    limits_.reset_after = std::clamp(limits.reset_after, Duration{}, Duration::of_days(1));
    reset_at_ = {now.microseconds + limits_.reset_after.microseconds};
    is_counting_ = true;
}

Duration IdentifyGate::try_take(int shard, Duration now) {
    const std::lock_guard lock(mutex_);
    if (!is_counting_ || now >= reset_at_) {
        limits_.remaining = is_counting_ ? limits_.total : limits_.remaining;
        reset_at_ = {now.microseconds + Duration::of_days(1).microseconds};
        is_counting_ = true;
    }
    const auto key = shard % limits_.max_concurrency;
    const auto found = free_at_.find(key);
    if (found != free_at_.end() && now < found->second) {
        return {found->second.microseconds - now.microseconds};
    }
    if (limits_.remaining == 0) {
        return {reset_at_.microseconds - now.microseconds};
    }
    --limits_.remaining;
    free_at_[key] = {now.microseconds + kIdentifyPause.microseconds};
    return {};
}

}  // namespace interlock
