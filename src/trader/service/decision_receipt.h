// A receipt: one decision as a small signed file that anyone can check without the database
// (docs/contracts/receipt.md). It holds the decision, every input of it, its audit records with
// their places in the chain, and a signed head of that chain; checking it re-runs the decision.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/ports/ledger_store.h"
#include "engine/service/chain_check.h"
#include "engine/service/head_proofs.h"
#include "trader/rules/replay/decision_replay.h"

namespace interlock {

// Version 1 was signed by the first key itself; it is still read.
inline constexpr std::int64_t kReceiptVersion = 2;
inline constexpr std::size_t kReceiptBytesMax = std::size_t{16} * 1024 * 1024;
// Audit records of one decision.
inline constexpr std::size_t kReceiptRecordsMax = 10'000;

struct ReceiptSources {
    LedgerStore& store;  // Showing one moment.
    HeadSigner signer;
    Timestamp created_at;
};
// The text of the file. Refuses to vouch for a decision that does not replay (`replay_differs`,
// `not_replayable`) or whose chain is broken (`corrupt_data`).
Result<std::string> write_receipt(
    const ReceiptSources& sources, const TenantId& tenant_id, const DecisionId& decision_id);

struct ReceiptReport {
    // The first thing that is wrong; "" when all holds.
    std::string problem;
    TenantId tenant_id;
    DecisionId decision_id;
    std::string public_key;  // Of the file, the first one; raw.
    Timestamp created_at;
    std::int64_t records = 0;
    std::int64_t artifacts = 0;
    ReplayVerdict replay;
    std::optional<Decision> decision;
    std::string anchor_hash;         // The seal of `_system` that it names, for a witness.
    bool authorship_proven = false;  // The signature holds under a key that the caller brought.

    bool ok() const { return problem.empty(); }
};
Json encode(const ReceiptReport& report);

// Never fails on what the text holds: that is what the report is for. `public_key` is raw; nothing:
// the key inside the file is used, which proves that it is of one piece but not whose it is.
ReceiptReport verify_receipt(
    std::string_view text, const std::optional<std::string>& public_key = {});

}  // namespace interlock
