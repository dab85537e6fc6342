// How secrets of the vault are sealed and opened: AES-256-GCM, a data key per tenant under a master
// key. What a sealed text belongs to (tenant, exchange, version) is bound to it, so that a row or
// an entry that was moved elsewhere does not open.
#pragma once

#include <optional>
#include <string>

#include "engine/ports/id_source.h"
#include "host/ports/master_keys.h"
#include "host/wire/vault_row.h"

namespace interlock {

// Sixteen hex digits by which a master key is recognised; tells nothing about it.
std::string master_key_id(const SecretString& master_key);

// A ring with the ids of its keys.
class MasterKeyring {
public:
    // `crypto_failed` when a key has not 32 bytes.
    static Result<MasterKeyring> of(MasterRing ring);

    // The key that seals from now on.
    const std::string& sealing_id() const { return next_ ? next_->id : current_.id; }
    const std::string& current_id() const { return current_.id; }
    bool is_rotating() const { return next_.has_value(); }
    // Null when the ring has no such key.
    const SecretString* find(const std::string& id) const;

private:
    struct Named {
        std::string id;
        SecretString key;
    };
    MasterKeyring() = default;

    Named current_;
    std::optional<Named> next_;
};

// A tenant's data key, opened.
struct DataKey {
    std::int64_t version = 0;
    SecretString key;
};
DataKey make_data_key(IdSource& ids, std::int64_t version);

struct DataKeySeal {
    const TenantId& tenant_id;
    const MasterKeyring& ring;
    IdSource& ids;
    Timestamp now;
};
// Under the ring's sealing key.
Result<SealedDataKey> seal_data_key(const DataKeySeal& seal, const DataKey& data_key);

// `master_key_wrong` when the ring does not hold its master key; `corrupt_data` when it does and
// the text does not open: it was changed, or it is another tenant's.
Result<DataKey> open_data_key(
    const MasterKeyring& ring, const TenantId& tenant_id, const SealedDataKey& sealed);

struct KeysSeal {
    const TenantId& tenant_id;
    const DataKey& data_key;
    IdSource& ids;
};
Result<std::string> seal_exchange_keys(const KeysSeal& seal, const ExchangeKeys& keys);
// `corrupt_data` as above.
Result<ExchangeKeys> open_exchange_keys(
    const TenantId& tenant_id, const DataKey& data_key, const VaultEntry& entry);

}  // namespace interlock
