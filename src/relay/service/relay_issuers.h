// Tokens of identity providers that the operator configured: RS256 only, the key by its kid from
// the issuer's own set, exact issuer and audience, an expiry, and a claim that names the tenant.
// docs/contracts/relay-management.md#bearers
//
// Key sets are fetched on workers and kept. A kid that is not in the set makes us look again, at
// most once in a while; until the answer is there nobody is called wrong.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ports/clock.h"
#include "engine/service/worker_pool.h"
#include "engine/wire/ids.h"
#include "relay/rules/agent_jwt.h"

namespace interlock {

inline constexpr std::size_t kRelayIssuersMax = 16;
inline constexpr std::size_t kKeySetWaitersMax = 64;  // Callers that wait for a fetch.
inline constexpr Duration kKeySetRefreshGap = Duration::of_seconds(30);
inline constexpr Duration kKeySetFresh = Duration::of_hours(1);   // Then it is fetched again.
inline constexpr Duration kKeySetStale = Duration::of_hours(24);  // Then it counts no more.

struct RelayIssuer {
    std::string issuer;        // The whole `iss`.
    std::string audience;      // Of the bearers of enroll and provision.
    std::string tenant_claim;  // The claim whose text is the tenant.
    std::string jwks_url;
};

enum class IssuerVerdict {
    accepted,
    expired,      // Good in every other respect.
    rejected,     // Wrong, or of nobody we know.
    unavailable,  // The issuer's keys are not here yet.
};
struct IssuerJudgement {
    IssuerVerdict verdict = IssuerVerdict::rejected;
    TenantId tenant_id;  // With accepted.
    std::string why;     // One word, for logs.
};

class RelayIssuers {
public:
    struct Parts {
        std::vector<RelayIssuer> issuers;  // None: every token is refused.
        // Gets the document at `jwks_url`; blocks, so it is called on a worker.
        std::function<Result<Json>(const RelayIssuer&)> fetch;
        WorkerPool& workers;
        Clock& clock;
    };
    explicit RelayIssuers(Parts parts);

    // Fetches every key set, so that the first caller need not wait.
    void prefetch();

    // Any thread; never blocks. An empty audience stands for the issuer's own.
    IssuerJudgement judge(std::string_view token, const std::string& audience);
    // The same for somebody who can wait for a fetch. `done` is called once, from any thread.
    void judge_later(std::string token, std::function<void(IssuerJudgement)> done);

private:
    using KeySet = std::shared_ptr<const std::vector<JwtKey>>;
    struct Held {
        KeySet keys;  // Null: never fetched.
        Timestamp fetched_at;
        std::optional<Timestamp> asked_at;
        bool is_fetching = false;
        std::vector<std::function<void()>> waiters;
    };

    std::optional<std::size_t> issuer_of(std::string_view token) const;
    // False: one was made a moment ago, or cannot be made.
    bool begin_fetch(std::size_t index);
    void finish_fetch(std::size_t index, Result<std::vector<JwtKey>> keys);
    bool await_fetch(std::size_t index, std::function<void()> call);

    Parts parts_;
    std::mutex mutex_;  // Network threads and workers share what is held (ADR 0007).
    std::vector<Held> held_;
};

// The claims of a token without any check; nothing when it is no token.
std::optional<Json> unverified_claims(std::string_view token);

}  // namespace interlock
