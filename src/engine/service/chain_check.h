// Verifies chains of a store: records, seals, protected rows, artifacts, and what `_system` says of
// the heads of all others. Start, `audit verify`, exports and releases of the stop use it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/crypto.h"
#include "base/json.h"
#include "engine/ports/ledger_store.h"
#include "engine/rules/chain_verifier.h"

namespace interlock {

// A segment of a chain that was archived, and whether its file was there to be read.
struct SegmentFound {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::string file;
    enum class State { not_at_hand, whole, changed } state = State::not_at_hand;
};

// What a walk over one chain found.
struct ChainReport {
    TenantId tenant_id;
    std::int64_t records = 0;  // Verified ones.
    std::int64_t first_seq = 1;
    ChainHead head;                // The last good record.
    std::int64_t checkpoints = 0;  // Seals and older checkpoints that hold.
    std::optional<ChainFault> fault;
    // True when something outside the entries vouches for the end of the chain: the head kept
    // apart.
    bool complete = false;
    std::vector<RowFault> rows = {};           // Protected rows that are not what the chain says.
    std::vector<BreakFound> breaks = {};       // Earlier faults that are on record.
    std::optional<std::int64_t> adopted = {};  // Records from before seals were records.
    std::int64_t artifacts = 0;                // Whose bytes were hashed again.
    std::vector<SegmentFound> segments = {};   // That were archived.
    SealPoint last_seal = {};
    std::int64_t unsealed = 0;
    Timestamp unsealed_since = {};
    bool has_gap = false;  // Records themselves are bad or missing, not only what goes with them.
    std::int64_t known_seq = 0;  // The highest number that anybody knows of the chain.

    bool ok() const { return !fault && complete && breaks.empty(); }
};
std::string_view to_word(SegmentFound::State state);
Json encode(const ChainReport& report);

// The heads that seals of `_system` name: book and tenant, then seq and hash.
using HeadExpectations =
    std::map<std::pair<std::string, TenantId>, std::map<std::int64_t, std::string>>;

struct ChainSources {
    LedgerStore& store;
    KeyLineage& keys;
    std::string_view book = kLedgerBook;
    const LedgerHead* mirror_head = nullptr;  // The head file's word; null when there is none.
    const RowSet* live_rows = nullptr;        // Null: rows are not compared.
    // What `_system` said of this chain; null: nothing.
    const std::map<std::int64_t, std::string>* expected = nullptr;
    // The key whose turn it is since the newest list of heads: beyond what that list names of the
    // chain, nothing that an earlier one signed counts.
    std::int64_t turn = 0;
    // Start at the newest seal instead of where the chain begins.
    bool from_last_seal = false;
    // The seal at which it begins, 0 for genesis: with files of archived segments at hand it is
    // further back than the store alone reaches.
    std::optional<std::int64_t> begin_seq = std::nullopt;
    // The folder is from before seals were records: chains without one are as good as they were.
    bool is_from_before = false;
    bool check_artifacts = false;
    // Told now and then how far the walk got; empty: nobody watches.
    std::function<void(std::int64_t seq)> on_progress = {};
};

struct ChainWalk {
    ChainReport report;
    std::vector<HeadsPoint> heads_points;  // Of `_system`.
};
Result<ChainWalk> walk_chain(const ChainSources& sources, const TenantId& tenant_id);

// The protected rows that are stored, by the chain they hang on.
Result<std::map<TenantId, RowSet>> live_rows(LedgerStore& store);

// The keys that seals of `_system` name, found by their index without a walk.
Result<void> load_lineage(LedgerStore& store, KeyLineage& keys);

// Reads the lists under these seals into `expected`, and whose turn it is since the newest of them;
// the first that is missing or another than was signed is the fault.
Result<std::optional<ChainFault>> read_head_lists(
    LedgerStore& store,
    const std::vector<HeadsPoint>& points,
    HeadExpectations& expected,
    std::int64_t& turn);

// The seal that stands at an indexed place; nothing when there is none that holds.
struct FoundSeal {
    SealPoint point;
    Seal seal;
    AuditRecord record;
};
Result<std::optional<FoundSeal>> find_seal(
    LedgerStore& store, const Checkpoint& place, const KeyLineage* keys);

// The heads that the newest seal of `_system` names; none when it is not a seal over heads.
Result<std::vector<HeadsPoint>> last_heads_point(
    LedgerStore& store, const SealPoint& last_seal, const KeyLineage& keys);

// What the head log knows better than the chain of `_system`; `lines` are the log's, oldest first.
// With `all` every line is compared, otherwise the last.
Result<std::optional<ChainFault>> behind_head_log(
    LedgerStore& store, const std::vector<std::string>& lines, ChainReport& report, bool all);

// Whether somebody vouches for the end of a chain: a key whose turn it is or was later.
struct ChainTail {
    HeadLine line;
    std::string_view proof;
    std::int64_t turn = 0;
};
bool is_proven(const ChainTail& tail, const KeyLineage& keys);

// An artifact whose bytes give its name; nothing when it is gone or changed.
std::optional<std::string> find_artifact(
    LedgerStore& store, const TenantId& tenant_id, std::string_view ref);

// A detached checkpoint of before seals were records, and the signed head of an export.
bool is_signed_by(const Checkpoint& checkpoint, std::string_view public_key);
Json encode(const Checkpoint& checkpoint);
Result<Checkpoint> decode_checkpoint(const Json& json);

}  // namespace interlock
