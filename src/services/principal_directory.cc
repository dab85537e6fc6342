#include "services/principal_directory.h"

#include "base/bytes.h"
#include "base/crypto.h"

namespace interlock {

std::shared_ptr<const PrincipalDirectory::Snapshot> PrincipalDirectory::get() const {
    const std::lock_guard lock(mutex_);
    return snapshot_;
}

void PrincipalDirectory::publish(std::shared_ptr<const Snapshot> snapshot) {
    const std::lock_guard lock(mutex_);
    snapshot_ = std::move(snapshot);
}

std::optional<Principal> PrincipalDirectory::by_access_key(std::string_view key) const {
    const auto snapshot = get();
    const auto found = snapshot->access_keys.find(sha256_hex(key));
    return found == snapshot->access_keys.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Principal> PrincipalDirectory::by_session_token(
    std::string_view token, Timestamp now) const {
    const auto snapshot = get();
    const auto found = snapshot->sessions.find(sha256_hex(token));
    if (found == snapshot->sessions.end() || found->second.expires_at <= now) {
        return std::nullopt;
    }
    return found->second.principal;
}

bool PrincipalDirectory::is_operator_token(std::string_view token) const {
    const auto snapshot = get();
    return !snapshot->operator_token_hash.empty() &&
           equal_in_constant_time(sha256_hex(token), snapshot->operator_token_hash);
}

bool PrincipalDirectory::tenant_exists(const TenantId& tenant_id) const {
    return get()->humans.contains(tenant_id);
}

std::int64_t PrincipalDirectory::humans_of(const TenantId& tenant_id) const {
    const auto snapshot = get();
    const auto found = snapshot->humans.find(tenant_id);
    return found == snapshot->humans.end() ? 0 : found->second;
}

std::vector<TenantId> PrincipalDirectory::tenants() const {
    std::vector<TenantId> tenants;
    for (const auto& [tenant_id, humans] : get()->humans) {
        tenants.push_back(tenant_id);
    }
    return tenants;
}

}  // namespace interlock
