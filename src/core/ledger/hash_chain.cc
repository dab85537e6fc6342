#include "core/ledger/hash_chain.h"

#include "base/canonical_json.h"
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

ChainVerifier::ChainVerifier(TenantId tenant_id, ChainHead start)
    : tenant_id_(std::move(tenant_id)), head_(std::move(start)) {}

void ChainVerifier::add(
    std::int64_t seq, std::string_view canonical, std::string_view stored_hash) {
    if (fault_) {
        return;
    }
    const std::int64_t expected = head_.seq + 1;
    if (seq > expected) {
        set_fault(
            expected,
            "missing_record",
            "record " + std::to_string(expected) + " is missing; the next one is " +
                std::to_string(seq));
        return;
    }
    const auto json = parse_json(canonical);
    if (!json) {
        set_fault(expected, "malformed_record", json.error().message);
        return;
    }
    const auto record = decode_audit_record(*json);
    if (!record) {
        set_fault(expected, "malformed_record", record.error().message);
        return;
    }
    if (seq != expected || record->seq != expected || record->draft.tenant_id != tenant_id_) {
        set_fault(
            expected,
            "misplaced_record",
            "at " + std::to_string(expected) + " stands record " + record->draft.tenant_id.text() +
                "." + std::to_string(record->seq));
        return;
    }
    if (link_hash(head_.hash, canonical) != stored_hash) {
        // Which of the two it was matters to whoever investigates: the text, or what it hangs on.
        const bool linked = record->prev_hash == head_.hash;
        set_fault(
            expected,
            linked ? "content_changed" : "broken_link",
            linked ? "the record's text does not give its stored hash"
                   : "the record names another predecessor");
        return;
    }
    if (record->prev_hash != head_.hash) {
        set_fault(expected, "broken_link", "the record names another predecessor");
        return;
    }
    head_.seq = expected;
    head_.hash = std::string(stored_hash);
    ++count_;
}

void ChainVerifier::expect_at_least(const ChainHead& head, std::string_view where) {
    if (fault_) {
        return;
    }
    if (head.seq > head_.seq) {
        set_fault(
            head_.seq + 1,
            "truncated_tail",
            std::string(where) + " says the chain reaches " + std::to_string(head.seq) +
                ", but the last record is " + std::to_string(head_.seq));
    } else if (head.seq == head_.seq && head.hash != head_.hash) {
        set_fault(
            head.seq,
            "head_mismatch",
            std::string(where) + " holds another hash for record " + std::to_string(head.seq));
    }
}

void ChainVerifier::expect_point(std::int64_t seq, std::string_view hash) {
    if (!fault_ && seq == head_.seq && hash != head_.hash) {
        set_fault(seq, "bad_checkpoint", "a signed checkpoint holds another hash for this record");
    }
}

void ChainVerifier::set_fault(std::int64_t seq, std::string_view reason, std::string detail) {
    fault_ = ChainFault{seq, reason, std::move(detail)};
}

std::string checkpoint_text(
    const TenantId& tenant_id, const ChainHead& head, std::string_view at_text) {
    return "interlock.checkpoint.v1\n" + tenant_id.text() + "\n" + std::to_string(head.seq) + "\n" +
           head.hash + "\n" + std::string(at_text) + "\n";
}

}  // namespace interlock
