#include "relay/platforms/discord/discord_limits.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace interlock {
namespace {

constexpr Duration kStart = Duration::of_seconds(500);
const RouteKey kMessages{.route = "POST /channels/{}/messages", .major = "10"};

Duration after(std::int64_t milliseconds) {
    return {kStart.microseconds + milliseconds * 1000};
}

LimitSignal answer(std::int64_t remaining, std::int64_t reset_milliseconds) {
    return {
        .status = 200,
        .bucket = "b1",
        .remaining = remaining,
        .reset_after = Duration::of_milliseconds(reset_milliseconds)};
}

TEST(DiscordLimits, LetACallThroughThatNothingIsKnownOf) {
    DiscordLimits limits;
    EXPECT_EQ(limits.ask(kMessages, kStart), Duration{});
}

TEST(DiscordLimits, MakeAnEmptyBucketWaitForItsReset) {
    DiscordLimits limits;
    limits.learn(kMessages, answer(0, 1500), kStart);
    EXPECT_EQ(limits.ask(kMessages, after(500)), Duration::of_milliseconds(1000));
    EXPECT_EQ(limits.ask(kMessages, after(1500)), Duration{});
}

TEST(DiscordLimits, CountDownWhatRemains) {
    DiscordLimits limits;
    limits.learn(kMessages, answer(2, 1000), kStart);
    EXPECT_EQ(limits.ask(kMessages, kStart), Duration{});
    EXPECT_EQ(limits.ask(kMessages, kStart), Duration{});
    EXPECT_EQ(limits.ask(kMessages, kStart), Duration::of_seconds(1));
}

TEST(DiscordLimits, DoNotTakeAnOldAnswerForRoom) {
    DiscordLimits limits;
    limits.learn(kMessages, answer(0, 1000), kStart);
    limits.learn(kMessages, answer(3, 1000), kStart);
    EXPECT_EQ(limits.ask(kMessages, kStart), Duration::of_seconds(1));
}

TEST(DiscordLimits, KeepChannelsApart) {
    DiscordLimits limits;
    limits.learn(kMessages, answer(0, 1000), kStart);
    EXPECT_EQ(limits.ask({.route = kMessages.route, .major = "11"}, kStart), Duration{});
}

TEST(DiscordLimits, JoinRoutesOfTheSameBucket) {
    DiscordLimits limits;
    const RouteKey other{.route = "PATCH /channels/{}/messages/{}", .major = "10"};
    limits.learn(other, answer(5, 1000), kStart);
    limits.learn(kMessages, answer(0, 1000), kStart);
    EXPECT_EQ(limits.ask(other, kStart), Duration::of_seconds(1));
}

TEST(DiscordLimits, HonourARefusalOfOneBucket) {
    DiscordLimits limits;
    limits.learn(kMessages, {.status = 429, .retry_after = Duration::of_milliseconds(300)}, kStart);
    EXPECT_EQ(limits.ask(kMessages, kStart), Duration::of_milliseconds(300));
    EXPECT_EQ(limits.ask({.route = "GET /channels/{}", .major = "10"}, kStart), Duration{});
}

TEST(DiscordLimits, HonourARefusalOfEverything) {
    DiscordLimits limits;
    limits.learn(
        kMessages,
        {.status = 429, .retry_after = Duration::of_seconds(2), .is_global = true},
        kStart);
    EXPECT_EQ(
        limits.ask({.route = "GET /channels/{}", .major = "10"}, kStart), Duration::of_seconds(2));
    EXPECT_EQ(
        limits.ask({.route = "callback", .major = "1", .is_global_exempt = true}, kStart),
        Duration{});
}

TEST(DiscordLimits, LetFiftyCallsThroughInASecond) {
    DiscordLimits limits;
    for (std::size_t count = 0; count < kGlobalCallsPerSecond; ++count) {
        EXPECT_EQ(
            limits.ask({.route = "r", .major = std::to_string(count)}, after(10)), Duration{});
    }
    EXPECT_EQ(limits.ask(kMessages, after(10)), Duration::of_seconds(1));
    EXPECT_EQ(limits.ask(kMessages, after(1010)), Duration{});
}

TEST(DiscordLimits, StopBeforeDiscordWouldBanTheAddress) {
    DiscordLimits limits;
    for (std::size_t count = 0; count < kInvalidCallsStop; ++count) {
        EXPECT_EQ(limits.ask(kMessages, after(static_cast<std::int64_t>(count) * 21)), Duration{});
        limits.learn(kMessages, {.status = 403}, kStart);
    }
    EXPECT_EQ(limits.ask(kMessages, after(60'000)), Duration::of_minutes(9));
    EXPECT_EQ(limits.ask(kMessages, after(600'000)), Duration{});
}

TEST(DiscordLimits, DoNotCountWhatOthersUsedUp) {
    DiscordLimits limits;
    limits.learn(kMessages, {.status = 429, .retry_after = Duration{}, .is_shared = true}, kStart);
    EXPECT_EQ(limits.invalid_calls(kStart), 0u);
    limits.learn(kMessages, {.status = 429, .retry_after = Duration{}}, kStart);
    limits.learn(kMessages, {.status = 401}, kStart);
    limits.learn(kMessages, {.status = 404}, kStart);
    EXPECT_EQ(limits.invalid_calls(kStart), 2u);
}

TEST(DiscordLimits, HoldABoundedNumberOfBuckets) {
    DiscordLimits limits;
    for (std::size_t count = 0; count < kLimitBucketsMax + 10; ++count) {
        limits.learn(
            {.route = kMessages.route, .major = std::to_string(count)}, answer(0, 1000), kStart);
    }
    EXPECT_EQ(limits.buckets(), kLimitBucketsMax);
}

TEST(DiscordLimits, NeverSendMoreThanWasAllowed) {
    EXPECT_TRUE(rc::check([](const std::vector<std::uint8_t>& waits) {
        // A far side with five calls in each second, which says so in every answer.
        DiscordLimits limits;
        Duration now = kStart;
        Duration window_ends;
        std::int64_t left = 5;
        for (const std::uint8_t wait : waits) {
            now.microseconds += wait * 4000;
            if (limits.ask(kMessages, now) > Duration{}) {
                continue;
            }
            if (now >= window_ends) {
                window_ends = {now.microseconds + 1'000'000};
                left = 5;
            }
            RC_ASSERT(left > 0);
            --left;
            LimitSignal signal = answer(left, 0);
            signal.reset_after = Duration{window_ends.microseconds - now.microseconds};
            limits.learn(kMessages, signal, now);
        }
    }));
}

HttpResponse refused() {
    HttpResponse response;
    response.status = 429;
    return response;
}

TEST(LimitSignal, IsReadFromHeadersAndBody) {
    HttpResponse response = refused();
    response.headers = {
        {"x-ratelimit-bucket", "abc"},
        {"X-RateLimit-Remaining", "0"},
        {"X-RateLimit-Reset-After", "0.300"},
        {"Retry-After", "1"},
        {"X-RateLimit-Scope", "user"}};
    const LimitSignal signal =
        read_limit_signal(response, *parse_json(R"({"retry_after":0.3,"global":false})"));
    EXPECT_EQ(signal.bucket, "abc");
    EXPECT_EQ(signal.remaining, 0);
    EXPECT_EQ(signal.reset_after, Duration::of_milliseconds(300));
    EXPECT_EQ(signal.retry_after, Duration::of_milliseconds(300));
    EXPECT_FALSE(signal.is_global);
}

TEST(LimitSignal, HasTheHeadersWaitWhenTheBodyHasNone) {
    HttpResponse response = refused();
    response.headers = {{"Retry-After", "65"}};
    EXPECT_EQ(read_limit_signal(response, Json()).retry_after, Duration::of_seconds(65));
}

TEST(LimitSignal, IsGlobalWhicheverWayItIsSaid) {
    HttpResponse by_header = refused();
    by_header.headers = {{"X-RateLimit-Global", "true"}};
    EXPECT_TRUE(read_limit_signal(by_header, Json()).is_global);
    HttpResponse by_scope = refused();
    by_scope.headers = {{"X-RateLimit-Scope", "global"}};
    EXPECT_TRUE(read_limit_signal(by_scope, Json()).is_global);
    const Json body = *parse_json(R"({"global":true})");
    EXPECT_TRUE(read_limit_signal(refused(), body).is_global);
}

TEST(ReadSeconds, TakesDecimalsAndBoundsThem) {
    EXPECT_EQ(read_seconds("1.25"), Duration::of_milliseconds(1250));
    EXPECT_EQ(read_seconds("1e99"), kLimitWaitMax);
    for (const std::string text : {"", "x", "-1", "nan", "1s"}) {
        EXPECT_EQ(read_seconds(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace interlock
