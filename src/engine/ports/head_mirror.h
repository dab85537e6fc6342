// A second copy of each chain's head outside the store. It is written after each commit without a
// sync, so it may lag, but it never leads: a store whose head lies behind the mirror was truncated.
// What is kept may have been changed by anybody: a head that cannot be read is given with the
// number kUnreadableHead, so that it is a fault of its chain and of no other.
#pragma once

#include <limits>
#include <map>

#include "base/result.h"
#include "engine/ports/ledger_store.h"

namespace interlock {

// Beyond kHeadSeqMax, so that no walk takes it for a head.
inline constexpr std::int64_t kUnreadableHead = std::numeric_limits<std::int64_t>::max();

class HeadMirror {
public:
    virtual ~HeadMirror() = default;
    virtual void publish(const std::map<TenantId, LedgerHead>& changed) = 0;
    virtual Result<std::map<TenantId, LedgerHead>> load() = 0;
};

}  // namespace interlock
