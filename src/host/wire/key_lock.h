// Access keys that came back with a backup wait for a human: each may have been revoked since. A
// locked key's hash is stored out of reach, so that no reader of the row can take it for a live
// one.
#pragma once

#include <string>
#include <string_view>

#include "base/errors.h"
#include "host/wire/tenant.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind key_locked{
    "key_locked",
    403,
    false,
    "Have a human of the tenant confirm the key: `interlock key confirm`."};
}  // namespace errors

inline constexpr std::string_view kLockedHashPrefix = "locked:";

inline bool is_locked(const AccessKey& key) {
    return key.key_hash.starts_with(kLockedHashPrefix);
}
// The hash of the key itself, locked or not.
inline std::string_view plain_hash(const AccessKey& key) {
    return std::string_view(key.key_hash).substr(is_locked(key) ? kLockedHashPrefix.size() : 0);
}

}  // namespace interlock
