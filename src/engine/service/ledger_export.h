// A chain as a file: written from a store, verified by anyone who holds the public key.
//
// One JSON document per line (docs/contracts/audit-ledger.md, "Export"): a header, every record in
// order with its hash, older chains' checkpoints in their places, the place of the chain under the
// last root over all heads, and a signed head as the last line. An archived segment is such a file,
// too (ADR 0025): it begins and ends with a seal, and has the artifacts of its records.
// Without that line the file is incomplete: whoever cuts records off the end cannot sign a new one.
#pragma once

#include <cstddef>
#include <functional>
#include <istream>
#include <optional>
#include <ostream>
#include <string>

#include "base/crypto.h"
#include "engine/service/chain_check.h"
#include "engine/service/head_proofs.h"

namespace interlock {

// Version 1 had no keys in its first line and no seals; it is still read.
inline constexpr std::int64_t kExportVersion = 2;
inline constexpr std::int64_t kSegmentVersion = 3;
// A longer line cannot be one of ours: records are far smaller.
inline constexpr std::size_t kExportLineBytesMax = std::size_t{16} * 1024 * 1024;

struct SegmentRange {
    std::int64_t from = 1;
    std::int64_t to = 0;
};

struct ExportSources {
    LedgerStore& store;
    const LedgerHead* mirror_head = nullptr;  // As in ChainSources.
    HeadSigner signer;
    Timestamp created_at;
    std::function<void(std::int64_t seq)> on_progress = {};
    // Set: not the whole chain but a segment, which begins with record 1 or an indexed seal and
    // ends with an indexed seal.
    std::optional<SegmentRange> segment = std::nullopt;
};

// Writes the chain as far as its stored head reaches now, verifying it on the way. A chain with a
// fault gets no head line: signing it would vouch for it.
Result<ChainReport> write_export(
    const ExportSources& sources, const TenantId& tenant_id, std::ostream& out);

struct ExportCheck {
    // Raw 32 bytes. Nothing: the key inside the file is used, which proves that the file is of one
    // piece but not whose it is.
    std::optional<std::string> public_key;
    std::function<void(std::int64_t seq)> on_progress = {};
    // What the folder knows of its keys, where the file alone may not lead to them: after a restore
    // nobody vouches for the next one. Null: only what the file says.
    const KeyLineage* keys = nullptr;
};

struct ExportReport {
    ChainReport chain;       // `complete`: the last line is the signed head.
    std::string public_key;  // Of the file, the first one; raw.
    Timestamp created_at;
    // The seal of `_system` whose root covers the chain up to a record, for a witness to confirm.
    std::string anchor_hash;
    std::int64_t anchored_seq = 0;
    std::int64_t to_seq = 0;         // Of a segment: where it ends; 0: this is no segment.
    bool authorship_proven = false;  // The signatures hold under a key that the caller brought.
    std::string incomplete_because;  // Set when no fault was found and the file is not complete.

    bool ok() const { return chain.ok(); }
};
Json encode(const ExportReport& report);

// Never fails on what the file holds: that is what the report is for. Fails when reading fails or
// the first line is no header of an export.
Result<ExportReport> verify_export(std::istream& in, const ExportCheck& check);

}  // namespace interlock
