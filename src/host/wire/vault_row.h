// What the vault stores about one tenant: a data key sealed under a master key, and exchange keys
// sealed under the data key. Nothing in it is a secret in clear; a hint is the last four
// characters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/wire/ids.h"
#include "host/wire/exchange_keys.h"

namespace interlock {

inline constexpr std::size_t kVaultEntriesMax = 8;  // Exchanges of one tenant.

struct SealedDataKey {
    std::int64_t version = 0;   // From 1; never used twice by a tenant.
    std::string master_key_id;  // Which master key opens it.
    std::string sealed;         // Raw bytes.
    Timestamp made_at;
};

struct VaultEntry {
    std::string exchange;
    std::string api_key_hint;
    std::string sealed;  // Raw bytes, under the row's data key.
    std::string stored_by;
    Timestamp stored_at;
    std::optional<KeyPermissions> permissions;  // As last heard; nothing: never verified.
    std::optional<Timestamp> checked_at;        // When they were heard.
};

struct VaultRow {
    std::int64_t last_version = 0;  // Of any data key this tenant ever had.
    std::optional<SealedDataKey> data_key;
    std::vector<VaultEntry> entries;  // Oldest first, one per exchange.

    VaultEntry* find(std::string_view exchange);
    const VaultEntry* find(std::string_view exchange) const;
};

// "vault/<tenant>": the machine that holds it.
inline constexpr std::string_view kVaultPrefix = "vault/";
std::string vault_machine(const TenantId& tenant_id);

Json encode(const VaultRow& row);
Result<VaultRow> decode_vault_row(const Json& json);

}  // namespace interlock
