// Vouches for the relay's chains as the ledger vouches for its own: seals in the same form and by
// the same keys, a copy of the heads outside the file, a walk since the last seals at start, and a
// continuation behind what does not hold. Lane only, but for open(), settle() and heads().
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include "engine/ports/head_mirror.h"
#include "engine/ports/seal_keys.h"
#include "engine/service/ledger_check.h"
#include "relay/service/relay_lane.h"

namespace interlock {

class RelayChains : private HeadMirror {
public:
    // All of these outlive it.
    struct Parts {
        RelayLane& lane;
        HeadMirror& mirror;
        SealKeys& keys;
    };
    // Has the lane publish its heads, seal what is due each second, and seal all at its end.
    explicit RelayChains(Parts parts);

    // What the ledger knows by the time the relay opens.
    struct Known {
        KeyLineage keys;
        HeadExpectations expected = {};  // Of `_system`'s last seal.
        std::int64_t turn = 0;           // As in ChainSources.
        bool is_from_before = false;
    };
    // Walks every chain since its last seal. `chains` is the relay's file, read as a ledger; `rows`
    // are its protected rows. Faults are in the reports, for the caller to act on.
    Result<std::vector<ChainReport>> open(LedgerStore& chains, RowSet rows, Known known);
    // Continues what does not hold, adopts what is from before, seals the rest. After the lane's
    // open() and before its start().
    void settle();

    // Any thread: the heads as committed, for the root over all of them.
    std::vector<HeadLine> heads() const;

private:
    void publish(const std::map<TenantId, LedgerHead>& changed) override;
    Result<std::map<TenantId, LedgerHead>> load() override { return parts_.mirror.load(); }
    void seal_due(RelayTurn& turn, bool is_first);
    void seal_all(RelayTurn& turn);
    void seal(RelayTurn& turn, const TenantId& tenant_id, bool is_first);
    RelayTurn::SealOrder order_for(const TenantId& tenant_id, std::string_view event);
    void settle_chain(RelayTurn& turn, const ChainReport& report);

    Parts parts_;
    std::map<TenantId, SealPoint> sealed_;
    std::vector<ChainReport> to_settle_;
    // Replaced as a whole by the lane; the engine asks for them.
    using Heads = std::map<TenantId, LedgerHead>;
    std::atomic<std::shared_ptr<const Heads>> heads_{std::make_shared<const Heads>()};
};

}  // namespace interlock
