// A tenant's access keys, as pure functions on the tenant's state.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "contracts/principal/tenant.h"

namespace interlock {

// `limit_reached` at kActiveKeysMax.
Result<Tenant> add_access_key(Tenant tenant, AccessKey key);

// `not_found` for a key that is not this tenant's. A key that was revoked before stays as it was.
// Past kRevokedKeysMax the one revoked longest ago is dropped from the list.
Result<Tenant> revoke_access_key(Tenant tenant, const KeyId& key_id, Timestamp at);

const AccessKey* find_access_key(const Tenant& tenant, const KeyId& key_id);

}  // namespace interlock
