// A second copy of each chain's head outside the store. It is written after each commit without a
// sync, so it may lag, but it never leads: a store whose head lies behind the mirror was truncated.
#pragma once

#include <map>

#include "base/result.h"
#include "ports/ledger_store.h"

namespace interlock {

class HeadMirror {
public:
    virtual ~HeadMirror() = default;
    virtual void publish(const std::map<TenantId, LedgerHead>& changed) = 0;
    virtual Result<std::map<TenantId, LedgerHead>> load() = 0;
};

}  // namespace interlock
