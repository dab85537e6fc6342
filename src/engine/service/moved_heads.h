// The chains that a batch moves beyond their last seals, and the proofs that go with them.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "engine/ports/ledger_store.h"
#include "engine/ports/seal_keys.h"
#include "engine/rules/hash_chain.h"

namespace interlock {

class MovedHeads {
public:
    // In chain order. A head that is a seal vouches for itself and needs no proof.
    void add(std::span<const LedgerEntry> entries, std::span<const Checkpoint> seals);
    std::vector<HeadProof> prove(std::string_view book, const SealKeys& keys) const;

private:
    std::map<TenantId, ChainHead> heads_;
};

}  // namespace interlock
