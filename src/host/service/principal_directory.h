// Who exists, for network threads to look up without touching the engine. The engine thread changes
// it after each commit that concerns it and before the reply goes out, so a revoked key is dead
// everywhere the moment its revocation is answered.
//
// Changes are made in place: a login must not copy a directory of a million keys. What a lookup
// does under the lock is one search and one copy of a Principal.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ports/clock.h"
#include "engine/wire/principal.h"
#include "host/rules/vote_rest.h"

namespace interlock {

class PrincipalDirectory {
public:
    struct Session {
        Principal principal;
        Timestamp expires_at;
    };
    struct Snapshot {
        // Keys are SHA-256 hex of the credential: the credential itself is never kept.
        std::map<std::string, Principal, std::less<>> access_keys;
        std::map<std::string, Session, std::less<>> sessions;
        std::string operator_token_hash;
        // Every tenant and `_system`, with the number of humans who can log in.
        std::map<TenantId, std::int64_t> humans;
        // Of humans who were recovered once.
        std::map<HumanId, VoteRest> rests;
        // Of tenants in which somebody was helped back in: whose hands may be on the account of
        // each human who can log in (host/rules/recovery_policy.h).
        std::map<TenantId, std::map<HumanId, std::set<std::string>>> hands;
    };

    // Replaces everything.
    void publish(std::shared_ptr<const Snapshot> snapshot);
    // Changes it in place; `change` runs under the lock and must only touch what it is given.
    void update(const std::function<void(Snapshot&)>& change);

    // Who wants to know of access keys that were revoked or replaced, so that what lives on one
    // (streams, sessions of protocols) ends with it. Called after the key is gone from here, with
    // no lock held, on the thread of the change and before the change is answered. Set once,
    // before threads start.
    void on_key_ended(std::function<void(const KeyId&)> call) { on_key_ended_ = std::move(call); }
    void tell_key_ended(const KeyId& key_id) const;

    // All from any thread.
    std::optional<Principal> by_access_key(std::string_view key) const;
    std::optional<Principal> by_session_token(std::string_view token, Timestamp now) const;
    // The time that sessions are judged by: the largest that was ever told, going on with the
    // monotonic clock. A wall clock that steps back gives no expired session its life again.
    Timestamp time_of_sessions(Timestamp now) const;
    // Once, before threads start.
    void judge_sessions_by(Clock& clock) { clock_ = &clock; }
    bool is_operator_token(std::string_view token) const;
    bool tenant_exists(const TenantId& tenant_id) const;  // `_system` counts as one.
    std::int64_t humans_of(const TenantId& tenant_id) const;
    // What a vote of this human is worth in this tenant, as committed.
    struct VoterFacts {
        VoteRest rest;
        std::set<HumanId> one_with;         // Others of the tenant who count as this human.
        std::int64_t humans_of_tenant = 0;  // Who can log in, without those.
    };
    VoterFacts voter(const TenantId& tenant_id, const HumanId& human_id) const;
    VoteRest vote_rest_of(const HumanId& human_id) const;
    // Without `_system`, in order of their ids.
    std::vector<TenantId> tenants() const;

private:
    mutable std::mutex mutex_;  // Guards all below; ADR 0005.
    Snapshot all_;
    // How far the time of sessions is ahead of the monotonic clock; only grows.
    mutable std::atomic<std::int64_t> ahead_us_ = std::numeric_limits<std::int64_t>::min();
    Clock* clock_ = nullptr;                          // Null in tests that do not step.
    std::function<void(const KeyId&)> on_key_ended_;  // Not guarded: it stands before threads do.
};

}  // namespace interlock
