#include "relay/platforms/discord/discord_limits.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace interlock {
namespace {

constexpr Duration kSecond = Duration::of_seconds(1);
constexpr std::size_t kBucketNameBytesMax = 128;
constexpr std::size_t kRoutesMax = 256;  // We have some twenty.
// An answer whose window ends this much later speaks of a new one.
constexpr Duration kSameWindow = Duration::of_milliseconds(100);

Duration plus(Duration a, Duration b) {
    return {a.microseconds + b.microseconds};
}
Duration minus(Duration a, Duration b) {
    return {a.microseconds - b.microseconds};
}

std::optional<Duration> seconds_of(const HttpResponse& response, std::string_view name) {
    const auto text = response.header(name);
    return text ? read_seconds(*text) : std::nullopt;
}

}  // namespace

std::optional<Duration> read_seconds(std::string_view text) {
    double seconds = 0;
    const std::string_view number = trim(text);
    const auto [end, problem] =
        std::from_chars(number.data(), number.data() + number.size(), seconds);
    if (number.empty() || problem != std::errc() || end != number.data() + number.size() ||
        !std::isfinite(seconds) || seconds < 0) {
        return std::nullopt;
    }
    const double most = static_cast<double>(kLimitWaitMax.microseconds);
    return Duration{static_cast<std::int64_t>(std::ceil(std::min(seconds * 1e6, most)))};
}

LimitSignal read_limit_signal(const HttpResponse& response, const Json& body) {
    LimitSignal signal{.status = response.status};
    const std::string_view bucket = response.header("X-RateLimit-Bucket").value_or("");
    signal.bucket = bucket.size() <= kBucketNameBytesMax ? std::string(bucket) : std::string();
    if (const auto text = response.header("X-RateLimit-Remaining")) {
        std::int64_t remaining = 0;
        const std::string_view number = trim(*text);
        const auto [end, problem] =
            std::from_chars(number.data(), number.data() + number.size(), remaining);
        if (problem == std::errc() && end == number.data() + number.size()) {
            signal.remaining = std::max<std::int64_t>(remaining, 0);
        }
    }
    signal.reset_after = seconds_of(response, "X-RateLimit-Reset-After");
    if (response.status == 429) {
        signal.retry_after = seconds_of(response, "Retry-After").value_or(Duration{});
        const Json* const told = body.find("retry_after");
        if (told != nullptr && told->is_number()) {
            // More exact than the header, which is in whole seconds.
            signal.retry_after = read_seconds(told->number_text()).value_or(*signal.retry_after);
        }
        const Json* const global = body.find("global");
        const std::string_view scope = response.header("X-RateLimit-Scope").value_or("");
        signal.is_global = scope == "global" || response.header("X-RateLimit-Global") ||
                           (global != nullptr && global->is_bool() && global->as_bool());
        signal.is_shared = scope == "shared";
    }
    return signal;
}

std::string DiscordLimits::key_of(const RouteKey& route) const {
    const auto found = bucket_of_route_.find(route.route);
    return (found != bucket_of_route_.end() ? found->second : route.route) + "|" + route.major;
}

Duration DiscordLimits::ask(const RouteKey& route, Duration now) {
    if (invalid_calls(now) >= kInvalidCallsStop) {
        return minus(plus(invalid_.front(), kInvalidCallsWindow), now);
    }
    const auto found = buckets_.find(key_of(route));
    Bucket* const bucket = found != buckets_.end() ? &found->second : nullptr;
    if (bucket != nullptr && now < bucket->blocked_until) {
        return minus(bucket->blocked_until, now);
    }
    if (bucket != nullptr && bucket->remaining == 0 && now < bucket->reset_at) {
        return minus(bucket->reset_at, now);
    }
    if (!route.is_global_exempt) {
        if (now < global_blocked_until_) {
            return minus(global_blocked_until_, now);
        }
        while (!recent_.empty() && plus(recent_.front(), kSecond) <= now) {
            recent_.pop_front();
        }
        if (recent_.size() >= kGlobalCallsPerSecond) {
            return minus(plus(recent_.front(), kSecond), now);
        }
        recent_.push_back(now);
    }
    if (bucket != nullptr && bucket->remaining > 0 && now < bucket->reset_at) {
        --bucket->remaining;
    }
    return {};
}

void DiscordLimits::learn(const RouteKey& route, const LimitSignal& signal, Duration now) {
    const bool is_invalid =
        signal.status == 401 || signal.status == 403 || (signal.status == 429 && !signal.is_shared);
    if (is_invalid) {
        invalid_.push_back(now);
    }
    if (signal.is_global) {
        global_blocked_until_ =
            std::max(global_blocked_until_, plus(now, signal.retry_after.value_or(kSecond)));
        return;
    }
    learn_bucket(route, signal, now);
}

void DiscordLimits::learn_bucket(const RouteKey& route, const LimitSignal& signal, Duration now) {
    if (!signal.bucket.empty() &&
        (bucket_of_route_.contains(route.route) || bucket_of_route_.size() < kRoutesMax)) {
        bucket_of_route_[route.route] = signal.bucket;
    }
    const bool says_something = (signal.remaining && signal.reset_after) || signal.retry_after;
    if (!says_something) {
        return;
    }
    const std::string key = key_of(route);
    if (!buckets_.contains(key)) {
        make_room(now);
    }
    Bucket& bucket = buckets_[key];
    if (signal.remaining && signal.reset_after) {
        const Duration reset_at = plus(now, *signal.reset_after);
        // Answers of calls that ran side by side may come in any order: within a window the
        // smallest number counts.
        const bool is_new_window =
            bucket.reset_at <= now || reset_at > plus(bucket.reset_at, kSameWindow);
        bucket.remaining =
            is_new_window ? *signal.remaining : std::min(bucket.remaining, *signal.remaining);
        bucket.reset_at = std::max(bucket.reset_at, reset_at);
    }
    if (signal.retry_after) {
        bucket.blocked_until = std::max(bucket.blocked_until, plus(now, *signal.retry_after));
    }
}

// Buckets whose time has passed say nothing any more. When none has, the one that ends first goes.
void DiscordLimits::make_room(Duration now) {
    if (buckets_.size() < kLimitBucketsMax) {
        return;
    }
    std::erase_if(buckets_, [now](const auto& item) {
        return item.second.reset_at <= now && item.second.blocked_until <= now;
    });
    if (buckets_.size() >= kLimitBucketsMax) {
        buckets_.erase(std::ranges::min_element(buckets_, {}, [](const auto& item) {
            return std::max(item.second.reset_at, item.second.blocked_until);
        }));
    }
}

std::size_t DiscordLimits::invalid_calls(Duration now) {
    while (!invalid_.empty() && plus(invalid_.front(), kInvalidCallsWindow) <= now) {
        invalid_.pop_front();
    }
    return invalid_.size();
}

}  // namespace interlock
