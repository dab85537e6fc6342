// Who exists, as a snapshot that network threads read without touching the engine. The engine thread
// publishes a new one after each commit that changes it and before the reply goes out, so a revoked
// key is dead everywhere the moment its revocation is answered.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/principal/principal.h"

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
        std::map<TenantId, std::int64_t> humans;  // Every tenant, with its number of active humans.
    };

    std::shared_ptr<const Snapshot> get() const;
    void publish(std::shared_ptr<const Snapshot> snapshot);

    // All from any thread.
    std::optional<Principal> by_access_key(std::string_view key) const;
    std::optional<Principal> by_session_token(std::string_view token, Timestamp now) const;
    bool is_operator_token(std::string_view token) const;
    bool tenant_exists(const TenantId& tenant_id) const;
    std::int64_t humans_of(const TenantId& tenant_id) const;
    std::vector<TenantId> tenants() const;

private:
    mutable std::mutex mutex_;  // Guards the pointer only; ADR 0005.
    std::shared_ptr<const Snapshot> snapshot_ = std::make_shared<Snapshot>();
};

}  // namespace interlock
