// The hash chain of one tenant's ledger (SEMANTICS S14).
//
//     hash(n) = SHA-256( hash(n-1) as hex || canonical text of record n without `hash` )
//
// seal() extends a chain; ChainVerifier walks one and names the first record that is not what was
// once sealed. Neither reads a store: entries are handed in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "contracts/audit/audit_record.h"

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

// Seals `draft` as the next record after `head` and moves `head` on to it.
Result<SealedRecord> seal(ChainHead& head, AuditDraft draft);

std::string link_hash(std::string_view prev_hash, std::string_view canonical);

// What is wrong with a chain, and from where on it cannot be trusted.
struct ChainFault {
    std::int64_t seq = 0;     // The first bad (or missing) sequence number.
    std::string_view reason;  // "missing_record", "content_changed", "broken_link",
                              // "misplaced_record", "malformed_record", "truncated_tail",
                              // "bad_checkpoint", "head_mismatch".
    std::string detail;
};

class ChainVerifier {
public:
    // Starts at genesis, or at a checkpoint that the caller trusts.
    explicit ChainVerifier(TenantId tenant_id, ChainHead start = {});

    // Feeds the next entry in sequence order. After a fault further entries are ignored.
    void add(std::int64_t seq, std::string_view canonical, std::string_view stored_hash);

    // Compares with a head or checkpoint kept elsewhere; `seq` must have been passed already or be
    // the current one. A head beyond the last entry means the tail was cut off.
    void expect_at_least(const ChainHead& head, std::string_view where);
    // A signed point inside the chain: the entry of that seq must have had that hash.
    void expect_point(std::int64_t seq, std::string_view hash);

    const std::optional<ChainFault>& fault() const { return fault_; }
    const ChainHead& head() const { return head_; }
    std::int64_t count() const { return count_; }

private:
    void set_fault(std::int64_t seq, std::string_view reason, std::string detail);

    TenantId tenant_id_;
    ChainHead head_;
    std::int64_t count_ = 0;
    std::optional<ChainFault> fault_;
};

// The bytes an Ed25519 checkpoint signs.
std::string checkpoint_text(
    const TenantId& tenant_id, const ChainHead& head, std::string_view at_text);

}  // namespace interlock
