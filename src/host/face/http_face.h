// The HTTP face: takes a request through key in the path, host check, route, authentication, access
// table, origin check, rate limit and body parsing to its operation, and sends the answer back. The
// same steps in the same order for every route, so that no route can forget one. The steps that
// need no body are gone through when the head is in, so that no body is read for a refusal.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "engine/ports/clock.h"
#include "host/face/authenticate.h"
#include "host/face/operation.h"
#include "host/service/metrics.h"
#include "host/service/principal_directory.h"
#include "net/head_verdict.h"
#include "net/rate_limit.h"
#include "net/router.h"

namespace interlock {

struct HttpFaceConfig {
    // Besides localhost, 127.0.0.1 and [::1]; without port.
    std::vector<std::string> allowed_hosts;
    OwnOrigin origin = {};  // Its host is allowed by itself.
    // Per credential; activations of the kill switch are never limited.
    std::int64_t requests_per_second = 500;
    // For all access keys of a tenant together, so that more keys are not more requests; 0: none.
    // A tenant's people are not counted here: its agents must not be able to lock them out.
    std::int64_t tenant_requests_per_second = 2000;
    // Of callers without a credential, per address (IPv6: per /64); none where the first is 0.
    std::int64_t anonymous_requests_per_second = 100;
};

// Likewise, for files of pages and for logins, activations and signups.
inline constexpr std::int64_t kPageRequestsPerSecond = 500;
inline constexpr std::int64_t kEntrancesPerSecond = 10;
inline constexpr std::int64_t kEntrancesAtOnce = 60;
// Records of a ledger that one request may look at; each further so many count as another one. Of
// what a call has cost beyond its budget, the caller owes as much as the budget is.
inline constexpr std::int64_t kRecordsPerRequest = 50;

class HttpFace {
public:
    struct Parts {
        const OperationTable& table;
        const PrincipalDirectory& directory;
        Clock& clock;
        Metrics& metrics;
        // Serves /mcp for an authenticated agent; empty: no MCP.
        std::function<void(HttpRequest, Principal, HttpResponderPtr)> mcp;
        // What a browser is shown where there is no page; null: the problem as JSON.
        HttpResponse (*lost_page)(int status) = nullptr;
    };
    HttpFace(Parts parts, HttpFaceConfig config);

    // On a network thread.
    HeadVerdict judge(const HttpRequest& head) const;
    void handle(HttpRequest request, HttpResponderPtr responder);

    // Any thread: takes a token of the caller's bucket and one of its tenant's, or says when to
    // come back. Also asked by MCP, so that a key has one budget over both faces.
    Result<void> check_rate(const Operation& operation, const ApiCall& call);
    // What a handler is to tell of records it has looked at; MCP's calls are charged here, too.
    const RecordCharge& record_charge() const { return charge_; }
    // The same for a request that calls no operation (MCP's lists, pings and streams).
    Result<void> check_rate(const Principal& principal);

private:
    struct Routed {
        const Operation* operation = nullptr;
        std::optional<TenantId> tenant;
        std::map<std::string, std::string> path;  // All but the tenant.
    };
    Result<Routed> route(const HttpRequest& request) const;
    Result<ApiCall> admit(const HttpRequest& request, Routed routed, const PathKey* path_key);
    Result<void> check_access(const Routed& routed, const Authenticated& who) const;
    Result<std::size_t> body_bytes_of(
        const HttpRequest& head, const Authenticated& who, bool& is_urgent) const;
    Result<void> take_tokens(const Principal& principal, const std::string& lane);
    void charge(const Principal& principal, std::int64_t records);
    Result<void> take_anonymous(AnonymousLane lane, const HttpRequest& request);
    void handle_mcp(HttpRequest request, HttpResponderPtr responder);
    bool is_host_allowed(const HttpRequest& request) const;

    Parts parts_;
    HttpFaceConfig config_;
    const RecordCharge charge_;
    Router router_;
    std::mutex rate_mutex_;  // Network threads share the buckets (ADR 0005).
    RateLimiter rate_;
    RateLimiter tenant_rate_;
    RateLimiter anonymous_rate_;  // These by peer.
    RateLimiter page_rate_;
    RateLimiter entrance_rate_;
};

// For bounds of connections and bytes: those of a tenant's agents go together.
std::string holder_of(const Principal& principal);
std::string holder_of(const TenantId& tenant_id);

// The one answer to a bad key, an unknown tenant and a foreign one (I7).
Error unauthenticated_error();

}  // namespace interlock
