#include "engine/rules/hash_chain.h"

#include "base/crypto.h"
#include "base/redaction.h"

namespace interlock {

std::string link_hash(std::string_view prev_hash, std::string_view canonical) {
    return sha256_hex_of(prev_hash, canonical);
}

// Callers' words were judged when they came in. What platforms, venues and files say was not, and a
// credential in it would be hashed in for ever (audit-ledger.md#1-the-record): reasons are judged
// in full, details for known keys, which no id of ours or of a caller's has.
void mask_draft(AuditDraft& draft) {
    if (std::optional<std::string> reason = masked(draft.reason, SecretDepth::full)) {
        draft.reason = *std::move(reason);
    }
    mask_secrets(draft.detail, SecretDepth::known_shapes);
}

Result<SealedRecord> seal(ChainHead& head, AuditDraft draft) {
    SealedRecord sealed;
    mask_draft(draft);
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
