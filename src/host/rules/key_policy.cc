#include "host/rules/key_policy.h"

#include <algorithm>

#include "base/errors.h"
#include "host/wire/key_lock.h"

namespace interlock {
namespace {

std::size_t count_active(const Tenant& tenant) {
    return static_cast<std::size_t>(std::count_if(
        tenant.access_keys.begin(), tenant.access_keys.end(), [](const AccessKey& key) {
            return key.is_active();
        }));
}

}  // namespace

Result<Tenant> add_access_key(Tenant tenant, AccessKey key) {
    if (count_active(tenant) >= kActiveKeysMax) {
        return fail(
            errors::limit_reached,
            "A tenant has at most " + std::to_string(kActiveKeysMax) + " active access keys.");
    }
    tenant.access_keys.push_back(std::move(key));
    return tenant;
}

Result<Tenant> revoke_access_key(Tenant tenant, const KeyId& key_id, Timestamp at) {
    auto& keys = tenant.access_keys;
    const auto found = std::find_if(
        keys.begin(), keys.end(), [&](const AccessKey& key) { return key.key_id == key_id; });
    if (found == keys.end()) {
        return fail(errors::not_found, "This tenant has no access key of that id.");
    }
    if (!found->is_active()) {
        return tenant;
    }
    found->revoked_at = at;
    if (keys.size() - count_active(tenant) > kRevokedKeysMax) {
        const auto oldest =
            std::min_element(keys.begin(), keys.end(), [](const AccessKey& a, const AccessKey& b) {
                // Active ones compare as never revoked.
                return a.revoked_at.value_or(Timestamp{INT64_MAX}) <
                       b.revoked_at.value_or(Timestamp{INT64_MAX});
            });
        keys.erase(oldest);
    }
    return tenant;
}

std::vector<KeyId> lock_access_keys(Tenant& tenant) {
    std::vector<KeyId> locked;
    for (AccessKey& key : tenant.access_keys) {
        if (key.is_active() && !is_locked(key)) {
            key.key_hash.insert(0, kLockedHashPrefix);
            locked.push_back(key.key_id);
        }
    }
    return locked;
}

Result<Tenant> confirm_access_key(Tenant tenant, const KeyId& key_id) {
    for (AccessKey& key : tenant.access_keys) {
        if (key.key_id == key_id && key.is_active()) {
            key.key_hash = std::string(plain_hash(key));
            return tenant;
        }
    }
    return fail(errors::not_found, "This tenant has no active access key of that id.");
}

const AccessKey* find_access_key(const Tenant& tenant, const KeyId& key_id) {
    for (const AccessKey& key : tenant.access_keys) {
        if (key.key_id == key_id) {
            return &key;
        }
    }
    return nullptr;
}

}  // namespace interlock
