// A start that finds what is broken and ends before its first round of the engine: what tools do
// that run without a server, and a server whose port is taken. It stops nobody.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "host/service/ledger_service.h"
#include "testing/fake_id_source.h"
#include "testing/null_turn_observer.h"
#include "testing/plane_world.h"

namespace interlock {

// Says of chains what a test says.
class SaidHeads final : public HeadMirror {
public:
    explicit SaidHeads(std::map<TenantId, LedgerHead> heads = {}) : heads_(std::move(heads)) {}
    void publish(const std::map<TenantId, LedgerHead>& changed) override {
        for (const auto& [tenant_id, head] : changed) {
            heads_[tenant_id] = head;
        }
    }
    Result<std::map<TenantId, LedgerHead>> load() override { return heads_; }

private:
    std::map<TenantId, LedgerHead> heads_;
};

// On the world's store and keys; rebuild the world afterwards. Gives what was found.
inline Result<std::vector<ChainReport>> open_alone(
    PlaneWorld& world, std::map<TenantId, LedgerHead> said = {}) {
    SaidHeads mirror(std::move(said));
    FakeIdSource ids("alone");
    NullTurnObserver observer;
    const PrincipalDirectory nobody;
    TurnRunner runner({world.store, world.clock, ids, mirror, world.keys, observer});
    TRY(runner.open());
    LedgerService ledger(
        {runner,
         world.store,
         mirror,
         world.clock,
         world.keys,
         world.head_log,
         [](const TurnRequest&) {},
         nobody});
    return ledger.open();
}

}  // namespace interlock
