// A tenant's access keys, as pure functions on the tenant's state.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "host/wire/tenant.h"

namespace interlock {

// `limit_reached` at kActiveKeysMax.
Result<Tenant> add_access_key(Tenant tenant, AccessKey key);

// `not_found` for a key that is not this tenant's. A key that was revoked before stays as it was.
// Past kRevokedKeysMax the one revoked longest ago is dropped from the list.
Result<Tenant> revoke_access_key(Tenant tenant, const KeyId& key_id, Timestamp at);

// After a restore: every active key waits for a human. Gives which were not locked before.
std::vector<KeyId> lock_access_keys(Tenant& tenant);
// A human's word for a locked key; one that is not locked stays as it was. `not_found` for a key
// that is not this tenant's or is revoked.
Result<Tenant> confirm_access_key(Tenant tenant, const KeyId& key_id);

const AccessKey* find_access_key(const Tenant& tenant, const KeyId& key_id);

}  // namespace interlock
