#include "host/service/principal_directory.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/crypto.h"

namespace interlock {

void PrincipalDirectory::publish(std::shared_ptr<const Snapshot> snapshot) {
    const std::lock_guard lock(mutex_);
    all_ = *snapshot;
}

void PrincipalDirectory::update(const std::function<void(Snapshot&)>& change) {
    const std::lock_guard lock(mutex_);
    change(all_);
}

void PrincipalDirectory::tell_key_ended(const KeyId& key_id) const {
    if (on_key_ended_) {
        on_key_ended_(key_id);
    }
}

std::optional<Principal> PrincipalDirectory::by_access_key(std::string_view key) const {
    const std::string hash = sha256_hex(key);
    const std::lock_guard lock(mutex_);
    const auto found = all_.access_keys.find(hash);
    return found == all_.access_keys.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Principal> PrincipalDirectory::by_session_token(
    std::string_view token, Timestamp now) const {
    const std::string hash = sha256_hex(token);
    const Timestamp at = time_of_sessions(now);
    const std::lock_guard lock(mutex_);
    const auto found = all_.sessions.find(hash);
    if (found == all_.sessions.end() || found->second.expires_at <= at) {
        return std::nullopt;
    }
    return found->second.principal;
}

Timestamp PrincipalDirectory::time_of_sessions(Timestamp now) const {
    const std::int64_t monotonic = clock_ == nullptr ? 0 : clock_->monotonic().microseconds;
    const std::int64_t told = now.microseconds - monotonic;
    std::int64_t known = ahead_us_.load(std::memory_order_relaxed);
    while (told > known && !ahead_us_.compare_exchange_weak(known, told)) {
    }
    return {monotonic + std::max(told, known)};
}

bool PrincipalDirectory::is_operator_token(std::string_view token) const {
    const std::string hash = sha256_hex(token);
    const std::lock_guard lock(mutex_);
    return !all_.operator_token_hash.empty() &&
           equal_in_constant_time(hash, all_.operator_token_hash);
}

bool PrincipalDirectory::tenant_exists(const TenantId& tenant_id) const {
    const std::lock_guard lock(mutex_);
    return all_.humans.contains(tenant_id);
}

std::int64_t PrincipalDirectory::humans_of(const TenantId& tenant_id) const {
    const std::lock_guard lock(mutex_);
    const auto found = all_.humans.find(tenant_id);
    return found == all_.humans.end() ? 0 : found->second;
}

VoteRest PrincipalDirectory::vote_rest_of(const HumanId& human_id) const {
    const std::lock_guard lock(mutex_);
    const auto found = all_.rests.find(human_id);
    return found == all_.rests.end() ? VoteRest{} : found->second;
}

PrincipalDirectory::VoterFacts PrincipalDirectory::voter(
    const TenantId& tenant_id, const HumanId& human_id) const {
    VoterFacts facts{
        .rest = vote_rest_of(human_id),
        .one_with = {},
        .humans_of_tenant = humans_of(tenant_id),
    };
    const std::lock_guard lock(mutex_);
    const auto members = all_.hands.find(tenant_id);
    if (members == all_.hands.end()) {
        return facts;
    }
    const auto own = members->second.find(human_id);
    if (own == members->second.end()) {
        return facts;
    }
    for (const auto& [other_id, hands] : members->second) {
        const bool is_one = std::ranges::any_of(
            hands, [&](const std::string& hand) { return own->second.contains(hand); });
        if (other_id != human_id && is_one) {
            facts.one_with.insert(other_id);
            --facts.humans_of_tenant;
        }
    }
    return facts;
}

std::vector<TenantId> PrincipalDirectory::tenants() const {
    const std::lock_guard lock(mutex_);
    std::vector<TenantId> tenants;
    for (const auto& [tenant_id, humans] : all_.humans) {
        if (tenant_id != system_tenant()) {
            tenants.push_back(tenant_id);
        }
    }
    return tenants;
}

}  // namespace interlock
