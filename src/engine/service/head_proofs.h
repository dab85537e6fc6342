// What exports and receipts carry so that a stranger with the first public key can check them: a
// head signed by the current key, the keys that lead to it, and the chain's place under the last
// root over all heads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "base/json.h"
#include "engine/ports/ledger_store.h"
#include "engine/rules/seal.h"

namespace interlock {

// Who signs a head, export or receipt now: the folder's current sealing key.
struct HeadSigner {
    std::string first_public_key;  // Raw; what a stranger knows.
    std::int64_t epoch = 0;
    const Ed25519KeyPair& key;
};
// What leads from the first key to the signer's. Fails when nothing does.
Result<KeyLineage> lineage_of(LedgerStore& store, const HeadSigner& signer);
Checkpoint sign_head(
    const SignText& sign, const TenantId& tenant_id, const ChainHead& head, Timestamp at);
// Where a chain stands under the last root over all heads: the seal of `_system` and the path to
// its root. A stranger who trusts a witness about that seal knows by it that the chain reached its
// head.
struct Anchor {
    ChainHead head;
    std::string system_hash;  // Of the seal.
};
// Nothing when no seal of `_system` names the chain yet.
Result<std::optional<Json>> find_anchor(
    LedgerStore& store, const KeyLineage& keys, const TenantId& tenant_id);
Result<Anchor> read_anchor(const Json& json, const TenantId& tenant_id, const KeyLineage& keys);

// Steps as exports and receipts carry them: [[epoch, public key, signature], …].
Json encode_steps(const std::vector<KeyStep>& steps);
// Nothing when a step does not follow from the one before.
std::optional<KeyLineage> decode_steps(std::string_view first_public_key, const Json& json);

}  // namespace interlock
