// Token buckets at their bounds.
#include "net/rate_limit.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace interlock {
namespace {

constexpr Timestamp kStart{1'700'000'000'000'000};

TEST(RateLimit, AllowsTheBurstAndThenTheRate) {
    RateLimiter limiter({.count = 2, .per = Duration::of_seconds(1), .burst = 3});
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(limiter.take("a", kStart).allowed) << i;
    }
    EXPECT_FALSE(limiter.take("a", kStart).allowed);
    EXPECT_FALSE(limiter.take("a", kStart + Duration::of_milliseconds(499)).allowed);
    EXPECT_TRUE(limiter.take("a", kStart + Duration::of_milliseconds(500)).allowed);
    EXPECT_FALSE(limiter.take("a", kStart + Duration::of_milliseconds(501)).allowed);
}

TEST(RateLimit, SaysHowLongToWaitInWholeSeconds) {
    RateLimiter limiter({.count = 1, .per = Duration::of_seconds(10), .burst = 1});
    EXPECT_TRUE(limiter.take("a", kStart).allowed);
    EXPECT_EQ(limiter.take("a", kStart).retry_after_seconds, 10);
    EXPECT_EQ(limiter.take("a", kStart + Duration::of_milliseconds(9'999)).retry_after_seconds, 1);
    EXPECT_TRUE(limiter.take("a", kStart + Duration::of_seconds(10)).allowed);
}

TEST(RateLimit, KeepsKeysApart) {
    RateLimiter limiter({.count = 1, .per = Duration::of_seconds(1), .burst = 1});
    EXPECT_TRUE(limiter.take("a", kStart).allowed);
    EXPECT_TRUE(limiter.take("b", kStart).allowed);
    EXPECT_FALSE(limiter.take("a", kStart).allowed);
}

TEST(RateLimit, FillsUpToTheBurstAndNoFurther) {
    RateLimiter limiter({.count = 1, .per = Duration::of_seconds(1), .burst = 2});
    EXPECT_TRUE(limiter.take("a", kStart).allowed);
    const Timestamp later = kStart + Duration::of_days(365);
    EXPECT_TRUE(limiter.take("a", later).allowed);
    EXPECT_TRUE(limiter.take("a", later).allowed);
    EXPECT_FALSE(limiter.take("a", later).allowed);
}

TEST(RateLimit, ForgetsTheKeyThatWasQuietLongest) {
    RateLimiter limiter({.count = 1, .per = Duration::of_seconds(100), .burst = 1, .keys_max = 2});
    EXPECT_TRUE(limiter.take("a", kStart).allowed);
    EXPECT_TRUE(limiter.take("b", kStart).allowed);
    EXPECT_FALSE(limiter.take("a", kStart).allowed);  // "b" is now the quiet one.
    EXPECT_TRUE(limiter.take("c", kStart).allowed);
    EXPECT_EQ(limiter.key_count(), 2u);
    EXPECT_FALSE(limiter.take("a", kStart).allowed);
    EXPECT_TRUE(limiter.take("b", kStart).allowed);
}

TEST(RateLimit, WhatIsChargedBeyondTheBucketIsOwedUntilItHasComeBack) {
    RateLimiter limiter({.count = 1, .per = Duration::of_seconds(1), .burst = 3, .owed_max = 2});
    EXPECT_TRUE(limiter.take("a", kStart).allowed);
    limiter.charge("a", 4, kStart);  // Two were there, two are owed.
    EXPECT_EQ(limiter.take("a", kStart).retry_after_seconds, 3);
    EXPECT_FALSE(limiter.take("a", kStart + Duration::of_milliseconds(2'999)).allowed);
    EXPECT_TRUE(limiter.take("a", kStart + Duration::of_seconds(3)).allowed);
    EXPECT_TRUE(limiter.take("b", kStart).allowed);
}

TEST(RateLimit, NoKeyOwesMoreThanItMay) {
    RateLimiter limiter({.count = 1, .per = Duration::of_seconds(1), .burst = 3, .owed_max = 2});
    for (int i = 0; i < 5; ++i) {
        limiter.charge("a", 1'000'000'000'000, kStart);
    }
    EXPECT_EQ(limiter.take("a", kStart).retry_after_seconds, 3);
    RateLimiter none({.count = 1, .per = Duration::of_seconds(1), .burst = 3});
    none.charge("a", 10, kStart);
    EXPECT_EQ(none.take("a", kStart).retry_after_seconds, 1);
    none.charge("b", -5, kStart);
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(none.take("b", kStart).allowed);
    }
    EXPECT_FALSE(none.take("b", kStart).allowed);
}

TEST(RateLimit, RecoversWhenTheClockIsSetBack) {
    RateLimiter limiter({.count = 1, .per = Duration::of_seconds(1), .burst = 2});
    EXPECT_TRUE(limiter.take("a", kStart + Duration::of_days(1)).allowed);
    EXPECT_FALSE(limiter.take("a", kStart).allowed);
    EXPECT_TRUE(limiter.take("a", kStart + Duration::of_seconds(1)).allowed);
}

TEST(RateLimit, NeverAllowsMoreThanBurstPlusRate) {
    EXPECT_TRUE(rc::check([] {
        const auto count = *rc::gen::inRange<std::int64_t>(1, 50);
        const auto burst = *rc::gen::inRange<std::int64_t>(1, 20);
        const auto steps = *rc::gen::container<std::vector<std::int64_t>>(
            rc::gen::inRange<std::int64_t>(0, 300'000));
        RateLimiter limiter({.count = count, .per = Duration::of_seconds(1), .burst = burst});
        Timestamp now = kStart;
        std::int64_t allowed = 0;
        for (const std::int64_t step : steps) {
            now = now + Duration{step};
            const RateDecision decision = limiter.take("k", now);
            allowed += decision.allowed ? 1 : 0;
            RC_ASSERT(decision.allowed == (decision.retry_after_seconds == 0));
        }
        const std::int64_t passed = (now - kStart).microseconds;
        RC_ASSERT(allowed <= burst + passed * count / 1'000'000);
    }));
}

TEST(RateLimit, AllowsAgainAfterTheWaitItNamed) {
    EXPECT_TRUE(rc::check([] {
        const auto count = *rc::gen::inRange<std::int64_t>(1, 50);
        const auto per = *rc::gen::inRange<std::int64_t>(1, 120);
        RateLimiter limiter({.count = count, .per = Duration::of_seconds(per), .burst = 1});
        RC_ASSERT(limiter.take("k", kStart).allowed);
        const RateDecision refused = limiter.take("k", kStart);
        RC_ASSERT(!refused.allowed);
        const auto wait = Duration::of_seconds(refused.retry_after_seconds);
        RC_ASSERT(limiter.take("k", kStart + wait).allowed);
    }));
}

}  // namespace
}  // namespace interlock
