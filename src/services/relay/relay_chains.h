// Vouches for the relay's chains as the ledger vouches for its own: signed checkpoints in the same
// form, a copy of the heads outside the file, and a walk since the last checkpoints at start.
// Lane only, but for open().
#pragma once

#include <map>
#include <vector>

#include "base/crypto.h"
#include "ports/head_mirror.h"
#include "services/ledger_service.h"
#include "services/relay/relay_lane.h"

namespace interlock {

class RelayChains {
public:
    // All of these outlive it.
    struct Parts {
        RelayLane& lane;
        HeadMirror& mirror;
        const Ed25519KeyPair& key;
    };
    // Has the lane publish its heads, sign what is due each second, and sign all at its end.
    explicit RelayChains(Parts parts);

    // Walks every chain since its last checkpoint. `chains` is the relay's file, read as a ledger.
    // Faults are in the reports, for the caller to act on. Before the lane starts.
    Result<std::vector<ChainReport>> open(LedgerStore& chains);

private:
    struct Signed {
        std::int64_t seq = 0;
        Timestamp at;
    };
    void sign_due(RelayTurn& turn);
    void sign_all(RelayTurn& turn);
    void sign(RelayTurn& turn, const TenantId& tenant_id, const ChainHead& head);

    Parts parts_;
    std::map<TenantId, Signed> signed_;
};

}  // namespace interlock
