// Verifies the chains of a whole store, for `audit verify` and `doctor`: every chain that the store
// or the head files know of, with a report even where the database itself cannot be read.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/service/archive_read.h"
#include "engine/service/chain_check.h"

namespace interlock {

struct LedgerCheck {
    LedgerStore& store;
    // What the head files say. Must have been read before the store's snapshot was taken: a head
    // written in between would make a healthy chain look cut off.
    std::map<TenantId, LedgerHead> mirror;
    KeyLineage& keys;  // A walk over `_system` adds to it.
    std::string_view book = kLedgerBook;
    std::vector<TenantId> tenants = {};  // Empty: every chain that anyone knows of.
    // The head log's lines, read before the snapshot as well; of the ledger's book only.
    std::vector<std::string> head_log = {};
    // What `_system` says of the heads in all books. Filled when this is the ledger's book.
    HeadExpectations* expected = nullptr;
    // Whose turn it is since the newest list of heads; as in ChainSources, and filled as above.
    std::int64_t* turn = nullptr;
    // The protected rows that are stored, by chain. Nothing: those among the store's states.
    std::optional<std::map<TenantId, RowSet>> rows = std::nullopt;
    // Where files of archived segments are; null: chains begin where the store's do.
    SegmentSource* segments = nullptr;
    bool from_last_seal = false;
    bool is_from_before = false;
    bool check_artifacts = false;
    std::function<void(const TenantId& tenant_id, std::int64_t seq)> on_progress = {};
};

// One report per chain, in order of tenants. An unreadable record is a fault of its chain
// ("unreadable_record"); fails only when it is not even known which chains there are.
Result<std::vector<ChainReport>> check_ledger(const LedgerCheck& check);

// Logs those that do not hold; `where` says whose chains they are. Whether there was one.
bool log_broken_chains(std::string_view where, const std::vector<ChainReport>& reports);

}  // namespace interlock
