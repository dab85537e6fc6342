// Token buckets in whole microseconds.
#include "net/rate_limit.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace interlock {
namespace {

constexpr std::int64_t kSecond = 1'000'000;

std::int64_t divide_up(std::int64_t value, std::int64_t by) {
    return (value + by - 1) / by;
}

}  // namespace

RateLimiter::RateLimiter(RateLimit limit)
    // Rounded up: never faster than promised.
    : token_microseconds_(
          divide_up(limit.per.microseconds, std::max<std::int64_t>(limit.count, 1))),
      bucket_microseconds_(token_microseconds_ * limit.burst),
      owed_microseconds_(token_microseconds_ * limit.owed_max),
      keys_max_(limit.keys_max) {
    CHECK(limit.count > 0 && limit.per.microseconds > 0 && limit.burst > 0 && limit.keys_max > 0);
    CHECK(limit.burst <= std::numeric_limits<std::int32_t>::max());
    CHECK(limit.owed_max >= 0 && limit.owed_max <= std::numeric_limits<std::int32_t>::max());
}

RateLimiter::Bucket& RateLimiter::bucket_of(std::string_view key) {
    if (const auto found = by_key_.find(key); found != by_key_.end()) {
        buckets_.splice(buckets_.begin(), buckets_, found->second);
        return buckets_.front();
    }
    if (buckets_.size() == keys_max_) {
        by_key_.erase(buckets_.back().key);
        buckets_.pop_back();
    }
    buckets_.push_front({.key = std::string(key)});
    by_key_.emplace(buckets_.front().key, buckets_.begin());
    return buckets_.front();
}

// Should the clock have been set back, a bucket is at worst empty, and owes what it may.
std::int64_t RateLimiter::full_at_of(const Bucket& bucket, Timestamp now) const {
    return std::clamp(
        bucket.full_at,
        now.microseconds,
        now.microseconds + bucket_microseconds_ + owed_microseconds_);
}

void RateLimiter::charge(std::string_view key, std::int64_t count, Timestamp now) {
    Bucket& bucket = bucket_of(key);
    const std::int64_t most = now.microseconds + bucket_microseconds_ + owed_microseconds_;
    const std::int64_t full_at = full_at_of(bucket, now);
    const std::int64_t room = (most - full_at) / token_microseconds_;
    bucket.full_at = full_at + std::clamp<std::int64_t>(count, 0, room) * token_microseconds_;
}

RateDecision RateLimiter::take(std::string_view key, Timestamp now) {
    Bucket& bucket = bucket_of(key);
    const std::int64_t full_at = full_at_of(bucket, now);
    const std::int64_t full_at_after = full_at + token_microseconds_;
    const std::int64_t wait = full_at_after - now.microseconds - bucket_microseconds_;
    if (wait > 0) {
        bucket.full_at = full_at;
        const std::int64_t seconds = divide_up(wait, kSecond);
        const std::int64_t most = std::numeric_limits<int>::max();
        return {.allowed = false, .retry_after_seconds = static_cast<int>(std::min(seconds, most))};
    }
    bucket.full_at = full_at_after;
    return {};
}

}  // namespace interlock
