// Discord's rate limits, as its answers teach them: a bucket for each route and major parameter,
// fifty calls a second in all, and a budget of refused calls beyond which Discord bans the address.
// It has no clock and never waits; its owner asks it and tells it.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/time.h"
#include "net/http_message.h"

namespace interlock {

inline constexpr std::size_t kGlobalCallsPerSecond = 50;
inline constexpr std::size_t kInvalidCallsMax = 10'000;  // Discord's, in ten minutes.
// We stop at this share of it; other bots may speak from the same address.
inline constexpr std::size_t kInvalidCallsStop = kInvalidCallsMax / 4;
inline constexpr Duration kInvalidCallsWindow = Duration::of_minutes(10);
inline constexpr std::size_t kLimitBucketsMax = 10'000;
inline constexpr Duration kLimitWaitMax = Duration::of_days(1);  // Whatever an answer says.

struct RouteKey {
    std::string route;  // "POST /channels/{}/messages"
    std::string major;  // The channel, guild or webhook.
    bool is_global_exempt = false;
};

// What an answer says about limits.
struct LimitSignal {
    int status = 0;
    std::string bucket = {};
    std::optional<std::int64_t> remaining = {};
    std::optional<Duration> reset_after = {};
    std::optional<Duration> retry_after = {};  // With 429; the larger of header and body.
    bool is_global = false;
    bool is_shared = false;  // Somebody else used it up: no fault of ours.
};
// `body` is the answer's JSON, null when it has none.
LimitSignal read_limit_signal(const HttpResponse& response, const Json& body);
// "1.25" → 1.25 s; nothing when it is no number of seconds.
std::optional<Duration> read_seconds(std::string_view text);

class DiscordLimits {
public:
    // Zero: the call may leave now and is counted. Else ask again after that long.
    Duration ask(const RouteKey& route, Duration now);
    void learn(const RouteKey& route, const LimitSignal& signal, Duration now);

    std::size_t invalid_calls(Duration now);  // In the last ten minutes.
    std::size_t buckets() const { return buckets_.size(); }

private:
    struct Bucket {
        std::int64_t remaining = 1;
        Duration reset_at;
        Duration blocked_until;
    };
    std::string key_of(const RouteKey& route) const;
    void make_room(Duration now);
    void learn_bucket(const RouteKey& route, const LimitSignal& signal, Duration now);

    std::map<std::string, std::string> bucket_of_route_;
    std::map<std::string, Bucket> buckets_;
    std::deque<Duration> recent_;
    std::deque<Duration> invalid_;
    Duration global_blocked_until_;
};

}  // namespace interlock
