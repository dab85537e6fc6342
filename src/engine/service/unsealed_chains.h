// How far each chain has grown since its last seal, and when the next seal is due.
#pragma once

#include <map>
#include <optional>

#include "engine/ports/ledger_store.h"
#include "engine/rules/seal.h"

namespace interlock {

class UnsealedChains {
public:
    struct Growth {
        std::int64_t records = 0;
        Timestamp since;  // Of the first of them.
    };

    Growth of(const TenantId& tenant_id) const;
    void set(const TenantId& tenant_id, Growth growth);
    // A commit whose records were made at this time; its seals end what came before.
    void note(const TurnCommit& commit, Timestamp at);

    bool is_due(const TenantId& tenant_id, Timestamp now) const;
    // Whether any chain is; cheap, but may still say so after a seal until reckon().
    bool is_due(Timestamp now) const { return due_at_ && now >= *due_at_; }
    void reckon();

private:
    void note_due(const Growth& growth);

    std::map<TenantId, Growth> growths_;
    std::optional<Timestamp> due_at_;  // Of the chain that waits longest.
};

}  // namespace interlock
