// Where the vault's master key comes from: a file, the environment, a test.
//
// While a master key is being replaced there are two, and both open what they sealed. Every step
// can be repeated: a crash leaves either the old key alone, both, or the new one alone.
#pragma once

#include <optional>

#include "base/result.h"
#include "base/secret_string.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind master_key_missing{
    "master_key_missing",
    503,
    false,
    "Give back the master key that sealed this vault: its file, or INTERLOCK_MASTER_KEY."};
inline constexpr ErrorKind master_key_wrong{
    "master_key_wrong",
    503,
    false,
    "Give the master key that sealed this vault; nothing was changed."};
}  // namespace errors

inline constexpr std::size_t kMasterKeyBytes = 32;

struct MasterRing {
    SecretString current;              // 32 raw bytes, as the next.
    std::optional<SecretString> next;  // While one is being replaced: seals from now on.
};

class MasterKeys {
public:
    virtual ~MasterKeys() = default;
    // Nothing when there is no master key yet; an error when there is one that cannot be read.
    virtual Result<std::optional<MasterRing>> load() = 0;
    // Makes the first one, durably. One that is there already is given instead.
    virtual Result<MasterRing> create() = 0;
    // Makes the next one, durably. One that is there already is given instead.
    virtual Result<MasterRing> begin_rotation() = 0;
    // The next one takes the place of the current one, which is gone. Without a next one nothing
    // happens.
    virtual Result<MasterRing> end_rotation() = 0;
};

}  // namespace interlock
