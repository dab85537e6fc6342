// The hash chain of one tenant's ledger (docs/contracts/audit-ledger.md#2-the-chain).
//
//     hash(n) = SHA-256( hash(n-1) as hex || canonical text of record n without `hash` )
//
// seal() extends a chain; chain_verifier.h walks one. Neither reads a store: entries are handed in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/wire/audit_record.h"

namespace interlock {

struct ChainHead {
    std::int64_t seq = 0;
    std::string hash = std::string(kGenesisHash);
    friend bool operator==(const ChainHead&, const ChainHead&) = default;
};

struct SealedRecord {
    AuditRecord record;
    std::string canonical;  // Without `hash`; what was hashed.
};

// Takes secrets out, as seal() does; done twice it changes nothing.
void mask_draft(AuditDraft& draft);
// Seals `draft` as the next record after `head` and moves `head` on to it.
Result<SealedRecord> seal(ChainHead& head, AuditDraft draft);

std::string link_hash(std::string_view prev_hash, std::string_view canonical);

// What is wrong with a chain, and from where on it cannot be trusted.
struct ChainFault {
    std::int64_t seq = 0;  // The first bad (or missing) sequence number.
    std::string reason;    // A word of docs/contracts/audit-ledger.md, 3.3.
    std::string detail;
};

// The bytes that a detached checkpoint signs: what vouched for chains before seals were records.
std::string checkpoint_text(
    const TenantId& tenant_id, const ChainHead& head, std::string_view at_text);

}  // namespace interlock
