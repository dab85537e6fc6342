// Token buckets by key: each key may do `burst` things at once and `count` things per `per` over
// time. Time is the caller's. Not thread-safe: one thread owns a limiter.
//
// The number of keys is bounded; when a new key finds no room, the key that was quiet longest is
// forgotten and starts again with a full bucket should it come back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/time.h"

namespace interlock {

inline constexpr std::size_t kRateLimitKeysMax = 10'000;

struct RateLimit {
    std::int64_t count = 10;
    Duration per = Duration::of_seconds(1);
    std::int64_t burst = 10;
    // What charge() may leave a key owing beyond an empty bucket.
    std::int64_t owed_max = 0;
    std::size_t keys_max = kRateLimitKeysMax;
};

struct RateDecision {
    bool allowed = true;
    int retry_after_seconds = 0;  // At least 1 when refused.
};

class RateLimiter {
public:
    explicit RateLimiter(RateLimit limit);

    // Takes one token of `key` if there is one. A refusal costs nothing.
    RateDecision take(std::string_view key, Timestamp now);
    // Takes `count` more for what was done already, as its cost is known only then. What is not in
    // the bucket is owed, up to `owed_max`: until it has come back, take() refuses.
    void charge(std::string_view key, std::int64_t count, Timestamp now);

    std::size_t key_count() const { return buckets_.size(); }

private:
    // A bucket is one number: when it will be full again. Each token moves that moment by the time
    // one token takes to come back.
    struct Bucket {
        std::string key;
        std::int64_t full_at = 0;
    };
    using Buckets = std::list<Bucket>;

    Bucket& bucket_of(std::string_view key);
    std::int64_t full_at_of(const Bucket& bucket, Timestamp now) const;

    const std::int64_t token_microseconds_;
    const std::int64_t bucket_microseconds_;
    const std::int64_t owed_microseconds_;
    const std::size_t keys_max_;
    Buckets buckets_;  // The most recently used first.
    std::unordered_map<std::string_view, Buckets::iterator> by_key_;  // Views into buckets_.
};

}  // namespace interlock
