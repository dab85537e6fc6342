#include "core/ledger/hash_chain.h"

#include "base/crypto.h"

namespace interlock {

std::string link_hash(std::string_view prev_hash, std::string_view canonical) {
    return sha256_hex_of(prev_hash, canonical);
}

Result<SealedRecord> seal(ChainHead& head, AuditDraft draft) {
    SealedRecord sealed;
    sealed.record.draft = std::move(draft);
    sealed.record.seq = head.seq + 1;
    sealed.record.prev_hash = head.hash;
    TRY_ASSIGN(sealed.canonical, canonical_text(sealed.record));
    sealed.record.hash = link_hash(head.hash, sealed.canonical);
    head.seq = sealed.record.seq;
    head.hash = sealed.record.hash;
    return sealed;
}

std::string checkpoint_text(
    const TenantId& tenant_id, const ChainHead& head, std::string_view at_text) {
    return "interlock.checkpoint.v1\n" + tenant_id.text() + "\n" + std::to_string(head.seq) + "\n" +
           head.hash + "\n" + std::string(at_text) + "\n";
}

}  // namespace interlock
