// Walks a chain and names the first record that is not what was once sealed. Reads no store:
// entries are handed in, in order of their numbers.
//
// What it holds a chain to (ADR 0015):
//   every record hangs on the one before it and stands in its place;
//   no more than kUnsealedMax records and kUnsealedLife go by without a seal, unless the first
//   seal adopts the records before it;
//   each seal names the one before, is signed by a key of the lineage, and its root of the
//   protected rows is what the records before it add up to.
// A fault ends the walk, unless a sealed CHAIN_BROKEN names that very fault: then the walk goes on
// behind it, and the break is told for ever.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/rules/hash_chain.h"
#include "engine/rules/row_set.h"
#include "engine/rules/seal.h"

namespace interlock {

struct BreakFound {
    std::int64_t seq = 0;  // Of the CHAIN_BROKEN record.
    Timestamp at;
    ChainBreak broken;
    std::string accepted_by = {};  // "" while nobody has.
};

// A seal of `_system` over all heads, for the caller to compare with the chains.
struct HeadsPoint {
    std::int64_t seq = 0;
    std::string list;  // "sha256:<hex>" of the list.
    SealedHeads heads;
    std::int64_t epoch = 0;  // Of the key whose turn it is from here on.
};

// Gives an artifact's bytes by "sha256:<hex>".
using ReadArtifact = std::function<std::optional<std::string>(const std::string& ref)>;

class ChainVerifier {
public:
    struct Trust {
        // Which keys may sign; a walk over `_system` adds to it. Null: seals are records like any
        // other, for callers that only want to know whether the links hold.
        KeyLineage* keys = nullptr;
        std::string_view book = kLedgerBook;
        ReadArtifact artifact = {};  // For the lists of rows beside first seals.
        // Told what each record refers to.
        std::function<void(std::int64_t seq, const std::string& ref)> on_artifact = {};
    };
    // Starts at genesis, or right after a seal that the caller trusts.
    explicit ChainVerifier(TenantId tenant_id);
    ChainVerifier(TenantId tenant_id, Trust trust, SealPoint start = {});

    // Feeds the next entry in sequence order. After a fault only its break is looked for.
    void add(std::int64_t seq, std::string_view canonical, std::string_view stored_hash);

    // Compares with a head or checkpoint kept elsewhere; `seq` must have been passed already or be
    // the current one. A head beyond the last entry means the tail was cut off.
    void expect_at_least(const ChainHead& head, std::string_view where);
    // A signed point inside the chain: the entry of that seq must have had that hash.
    void expect_point(std::int64_t seq, std::string_view hash);

    const std::optional<ChainFault>& fault() const { return fault_; }
    const ChainHead& head() const { return head_; }
    std::int64_t count() const { return count_; }

    std::int64_t seals() const { return seals_; }
    const SealPoint& last_seal() const { return seal_; }
    std::int64_t unsealed() const { return unsealed_; }
    Timestamp unsealed_since() const { return unsealed_since_; }
    // Records with the old promise only; nothing when the chain was sealed from its beginning.
    std::optional<std::int64_t> adopted() const { return adopted_; }
    // Where a seal was due, in a chain that has none; what follows from it is the caller's to say.
    const std::optional<ChainFault>& overdue() const { return overdue_; }
    const std::vector<BreakFound>& breaks() const { return breaks_; }
    const std::vector<HeadsPoint>& heads_points() const { return heads_points_; }

    // What the records say the protected rows are, and `changes()` of them since last_seal(). A
    // walk from a seal knows only the latter; the seal's root says what the rows were then.
    const RowSet& rows() const { return rows_; }
    const std::vector<RowChange>& changes() const { return changes_; }
    bool knows_all_rows() const { return knows_all_rows_; }

private:
    struct Outline;
    void take(const Outline& outline, std::string_view canonical);
    void take_seal(const AuditRecord& record);
    void take_rows(const std::vector<RowChange>& rows);
    bool resume(std::int64_t seq, std::string_view canonical, std::string_view stored_hash);
    std::string problem_of(const AuditRecord& record, const Seal& seal) const;
    std::string trust_key(const Seal& seal);
    void begin_rows(const AuditRecord& record, const Seal& seal);
    void learn_rows(const AuditRecord& record);
    void set_fault(std::int64_t seq, std::string_view reason, std::string detail);

    TenantId tenant_id_;
    Trust trust_;
    ChainHead head_;
    std::int64_t count_ = 0;
    std::optional<ChainFault> fault_;
    SealPoint seal_;
    std::int64_t seals_ = 0;
    std::int64_t unsealed_ = 0;
    Timestamp unsealed_since_;
    std::optional<ChainFault> overdue_;
    std::optional<std::int64_t> adopted_;
    std::vector<BreakFound> breaks_;
    std::vector<HeadsPoint> heads_points_;
    RowSet rows_;
    std::vector<RowChange> changes_;
    bool knows_all_rows_ = true;
};

// A seal that begins anew, by adopting or behind a break, brings the rows it found; nothing when
// they are missing or others than it signs.
std::optional<RowSet> rows_brought(
    const AuditRecord& record, const Seal& seal, const ReadArtifact& artifact);
// The list of rows that lies beside a seal which begins anew: "<key> <hash>\n" for each, in order
// of keys. Keys hold no spaces.
std::string row_list(const RowSet& rows);
std::optional<RowSet> parse_row_list(std::string_view text);

// One protected row that is not what the chain says.
struct RowFault {
    std::string key;
    std::string reason;      // "changed_row", "missing_row", "unknown_row"
    std::string said = {};   // SHA-256 hex of what the chain says it was; "" for none.
    std::string found = {};  // The same of what is there.
};
std::vector<RowFault> compare_rows(const RowSet& expected, const RowSet& live);
// The rows as they were before `changes`, given what they are now; nothing when the changes do not
// lead there.
std::optional<RowSet> rows_before(const RowSet& live, const std::vector<RowChange>& changes);

}  // namespace interlock
