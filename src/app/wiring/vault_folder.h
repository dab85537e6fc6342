// The vault of a data folder: where its master key comes from, a look at it beside a running
// server, and the replacement of its master key while none runs.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "host/ports/master_keys.h"
#include "host/service/vault_service.h"

namespace interlock {

// What was said about the master key. A key in the environment wins over a file.
struct MasterKeyChoice {
    std::optional<SecretString> key;      // INTERLOCK_MASTER_KEY, 64 hex digits.
    std::optional<SecretString> old_key;  // INTERLOCK_MASTER_KEY_OLD: the one it takes over from.
    std::string file;                     // Otherwise here.
};

// From the environment, else the configured file, else master.key in the data folder.
MasterKeyChoice chosen_master_key(
    const std::string& data_folder, const std::string& configured_file);

Result<std::unique_ptr<MasterKeys>> open_master_keys(const MasterKeyChoice& choice);

Result<VaultStatus> read_vault(const std::string& data_folder, const MasterKeyChoice& choice);

// Takes the folder's lock: `conflict` while a server runs.
Result<RotationReport> rotate_vault(const std::string& data_folder, const MasterKeyChoice& choice);

std::string describe(const VaultStatus& status);

}  // namespace interlock
