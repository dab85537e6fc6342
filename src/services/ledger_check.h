// Verifies the chains of a whole store, for `audit verify` and `doctor`: every chain that the store
// or the head files know of, with a report even where the database itself cannot be read.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "services/ledger_service.h"

namespace interlock {

struct LedgerCheck {
    LedgerStore& store;
    // What the head files say. Must have been read before the store's snapshot was taken: a head
    // written in between would make a healthy chain look cut off.
    std::map<TenantId, LedgerHead> mirror;
    std::string public_key;         // Raw 32 bytes.
    std::vector<TenantId> tenants;  // Empty: every chain that anyone knows of.
    bool from_last_checkpoint = false;
    std::function<void(const TenantId& tenant_id, std::int64_t seq)> on_progress = {};
};

// One report per chain, in order of tenants. An unreadable record is a fault of its chain
// ("unreadable_record"); fails only when it is not even known which chains there are.
Result<std::vector<ChainReport>> check_ledger(const LedgerCheck& check);

// Logs those that do not hold; `where` says whose chains they are. Whether there was one.
bool log_broken_chains(std::string_view where, const std::vector<ChainReport>& reports);

}  // namespace interlock
