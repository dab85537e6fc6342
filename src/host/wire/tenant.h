// A tenant and its access keys: what is stored about them, what callers see of them, what they may
// ask. docs/contracts/principals.md is the table of these fields.
//
// One stored state per tenant holds the keys and the ids of its humans, so that the bounds below
// are checked and kept in the same turn as the change itself.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/secret_string.h"
#include "base/time.h"
#include "engine/wire/ids.h"
#include "engine/wire/principal.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind tenant_exists{
    "tenant_exists", 409, false, "Choose another tenant id, or use the tenant that exists."};
inline constexpr ErrorKind limit_reached{
    "limit_reached",
    409,
    false,
    "The message names the limit; give up something of the same kind first."};
}  // namespace errors

inline constexpr std::int64_t kTenantsMax = 10'000;
inline constexpr std::size_t kActiveKeysMax = 100;  // Per tenant.
// Revoked ones that a tenant still lists; older ones live on in the ledger only.
inline constexpr std::size_t kRevokedKeysMax = 100;
inline constexpr std::size_t kHumansMax = 100;  // Per tenant.

struct AccessKey {
    KeyId key_id;
    std::string label;
    std::set<Scope> scopes;
    std::string key_hash;  // SHA-256 hex of the whole "ilk_…" text.
    std::string hint;      // Its last four characters.
    Timestamp created_at;
    std::optional<Timestamp> revoked_at;

    bool is_active() const { return !revoked_at; }
};

struct Tenant {
    TenantId tenant_id;
    std::string name;
    Timestamp created_at;
    std::vector<HumanId> human_ids;      // Members, invited ones included.
    std::vector<AccessKey> access_keys;  // Active and lately revoked, oldest first.
};

// As stored; the key hashes are in here and nowhere else.
Json encode_state(const Tenant& tenant);
Result<Tenant> decode_tenant_state(const Json& json);

// As callers see it: id, name, time, and how many humans and active keys.
Json encode(const Tenant& tenant);
Json tenant_schema();
// {"tenants": […], "next_after": id or null}.
Json encode_tenant_page(const std::vector<Tenant>& tenants, const std::optional<TenantId>& next);
Json tenant_page_schema();

// As callers see it: never the key, never its hash.
Json encode(const AccessKey& key);
// {"keys": […]}.
Json encode_access_keys(const std::vector<AccessKey>& keys);
Json access_keys_schema();
Json access_key_schema();

struct NewAccessKey {
    AccessKey key;
    std::string audit_ref;
};
// `secret` is there only in the first answer. A repeated request gets null: an answer that is kept
// for repetition must not hold a key.
Json encode(const NewAccessKey& made, const SecretString* secret);
Json new_access_key_schema();

struct CreateTenant {
    TenantId tenant_id;
    std::string name;
};
Result<CreateTenant> decode_create_tenant(const Json& json);
Json create_tenant_schema();

struct CreateAccessKey {
    std::string label;
    std::set<Scope> scopes;
    std::optional<IdempotencyKey> idempotency_key;
};
Result<CreateAccessKey> decode_create_access_key(const Json& json);
Json create_access_key_schema();
// What an idempotency key is bound to.
Result<std::string> request_hash_of(const CreateAccessKey& request);

}  // namespace interlock
