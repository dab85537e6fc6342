// What somebody can do to a store who writes the database and knows the format, but does not hold
// the sealing key.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/crypto.h"
#include "engine/rules/hash_chain.h"
#include "testing/plane_world.h"

namespace interlock {

using StoreContents = MemoryLedgerContents;

inline void replace_in_store(std::string& text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from << " is not in " << text;
    text.replace(at, from.size(), to);
}

// Hashes a chain anew from genesis and sets its head, as anybody can who knows the format.
inline void hash_anew(StoreContents& contents, const TenantId& tenant_id) {
    std::string before(kGenesisHash);
    std::int64_t seq = 0;
    for (auto& [place, entry] : contents.ledger) {
        if (place.first != tenant_id) {
            continue;
        }
        const std::size_t at = entry.canonical_json.rfind("\"prev_hash\":\"") + 13;
        entry.canonical_json.replace(at, 64, before);
        entry.hash = before = link_hash(before, entry.canonical_json);
        seq = place.second;
    }
    contents.heads[tenant_id] = {seq, before};
}

inline void erase_chain(
    StoreContents& contents, const TenantId& tenant_id, std::int64_t after = 0) {
    std::erase_if(contents.ledger, [&](const auto& item) {
        return item.first.first == tenant_id && item.first.second > after;
    });
    std::erase_if(contents.checkpoints, [&](const auto& item) {
        return item.first.first == tenant_id && item.first.second > after;
    });
    if (after == 0) {
        contents.heads.erase(tenant_id);
    } else {
        contents.heads[tenant_id] = {after, contents.ledger.at({tenant_id, after}).hash};
    }
}

inline bool is_seal_text(const std::string& text) {
    return text.contains("\"event\":\"CHECKPOINT_SEALED\"");
}

// Takes all seals out of a chain, closes the gaps and hashes it anew.
inline void strip_seals(StoreContents& contents, const TenantId& tenant_id) {
    std::vector<LedgerEntry> kept;
    for (const auto& [place, entry] : contents.ledger) {
        if (place.first == tenant_id && !is_seal_text(entry.canonical_json)) {
            kept.push_back(entry);
        }
    }
    erase_chain(contents, tenant_id);
    std::int64_t seq = 0;
    for (LedgerEntry& entry : kept) {
        const std::string was = std::to_string(entry.seq);
        const std::string now = std::to_string(++seq);
        replace_in_store(
            entry.canonical_json,
            "\"seq\":" + was + ",\"severity\"",
            "\"seq\":" + now + ",\"severity\"");
        replace_in_store(
            entry.canonical_json,
            "\"audit_id\":\"" + tenant_id.text() + "." + was + "\"",
            "\"audit_id\":\"" + tenant_id.text() + "." + now + "\"");
        entry.seq = seq;
        contents.ledger.emplace(std::pair(tenant_id, seq), entry);
    }
    hash_anew(contents, tenant_id);
}

// Hangs a record on the end of a chain, with the head that goes with it.
inline void append_forged(
    StoreContents& contents, const TenantId& tenant_id, std::vector<RowChange> rows) {
    ChainHead head{contents.heads.at(tenant_id).seq, contents.heads.at(tenant_id).hash};
    AuditDraft draft;
    draft.tenant_id = tenant_id;
    draft.event = "ROWS_CHANGED";
    draft.decision_id = DecisionId::trusted("d");
    draft.tick_id = TickId::trusted("-");
    draft.principal = "human:hum_1";
    draft.timestamp = FakeClock::kNoon;
    draft.rows = std::move(rows);
    const SealedRecord sealed = *seal(head, std::move(draft));
    contents.ledger.emplace(
        std::pair(tenant_id, head.seq),
        LedgerEntry{tenant_id, head.seq, sealed.canonical, head.hash});
    contents.heads.at(tenant_id).seq = head.seq;
    contents.heads.at(tenant_id).hash = head.hash;
}

}  // namespace interlock
