// The relay's HTTP routes: enrolment and provisioning with a tenant's bearer, the management plane
// with a gateway's, and the webhooks of platforms, which their bots judge themselves. They stand
// beside the operation table because other people's programs decide their shape: errors are
// {"error", "code", "next"}. docs/contracts/relay-management.md#2-routes
//
// Every handler runs on a network thread and does not block.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "net/head_verdict.h"
#include "net/http_message.h"
#include "net/rate_limit.h"
#include "net/router.h"
#include "relay/service/relay_credentials.h"
#include "relay/service/relay_management.h"

namespace interlock {

inline constexpr std::size_t kRelayBodyBytesMax = 640 * 1024;  // The longest list of a policy.
inline constexpr std::size_t kWebhookBodyBytesMax = 512 * 1024;
inline constexpr std::size_t kJoinBodyBytesMax = 16 * 1024;  // Enrolling and provisioning.

struct RelayHttpLimits {
    // Enrolling and provisioning, by the caller's address. The burst is for a fleet that boots
    // behind one address.
    RateLimit join{.count = 60, .per = Duration::of_minutes(1), .burst = 120};
    // Everything else, by gateway.
    RateLimit manage{.count = 10, .per = Duration::of_seconds(1), .burst = 60};
};

class RelayHttp {
public:
    // All of these outlive it.
    struct Parts {
        RelayCredentials& credentials;
        RelayManagement& management;
        PlatformInbox& inbox;
        // Null: no such bot here. Any thread.
        std::function<ChatPlatform*(const BotKey&)> bot;
        Clock& clock;
    };
    explicit RelayHttp(Parts parts, RelayHttpLimits limits = {});

    // By its path; another method on such a path is answered 405 here.
    bool takes(const HttpRequest& request) const;
    HeadVerdict judge(const HttpRequest& head) const;
    void handle(HttpRequest request, HttpResponderPtr responder);

    // Whose credential a request carries, from the stored record of it.
    Result<RelayCaller> caller_of(const HttpRequest& request) const;

    struct Counters {
        std::atomic<std::uint64_t> calls{0};
        std::atomic<std::uint64_t> refused{0};            // Of those.
        std::atomic<std::uint64_t> webhooks{0};           // Of bots that we have.
        std::atomic<std::uint64_t> webhooks_refused{0};   // Not genuine, not readable.
        std::atomic<std::uint64_t> webhooks_deferred{0};  // Told to send again.
    };
    const Counters& counters() const { return counters_; }

private:
    enum class Route {
        enroll,
        provision,
        policy,
        link,
        scope,
        scope_release,
        principal,
        dm_default,
        deprovision,
        webhook,
    };

    void join(Route route, const HttpRequest& request, RelayReply reply);
    void manage(Route route, const HttpRequest& request, RelayReply reply);
    void run(Route route, RelayCaller caller, const Json& body, RelayReply reply);
    Result<void> check_rate(RateLimiter& limiter, std::string_view key);
    void take_webhook(const Router::Match& found, HttpRequest request, HttpResponderPtr responder);
    void store_arrivals(WebhookAnswer answer, bool tls, HttpResponderPtr responder);

    Parts parts_;
    Router router_;
    std::mutex rate_mutex_;  // Network threads share the buckets (ADR 0007).
    RateLimiter join_rate_;
    RateLimiter manage_rate_;
    Counters counters_;
};

}  // namespace interlock
