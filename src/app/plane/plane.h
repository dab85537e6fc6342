// The plane: every service wired to the ports it is given, without a thread of its own. The server
// puts an engine and outbox threads around it, the simulator and tests drive it step by step, so
// all three run the same code in the same order.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/ports/kill_flag.h"
#include "engine/service/fold_service.h"
#include "engine/service/kill_latch.h"
#include "engine/service/outbox_runner.h"
#include "engine/service/turn_runner.h"
#include "host/service/approval_service.h"
#include "host/service/archive_service.h"
#include "host/service/internal_errors.h"
#include "host/service/kill_switch_service.h"
#include "host/service/ledger_service.h"
#include "host/service/principal_directory.h"
#include "host/service/probe_service.h"
#include "loop/service/loop_control.h"
#include "loop/service/loop_service.h"
#include "trader/service/control_service.h"
#include "trader/service/strategy_service.h"
#include "trader/service/supervisor_service.h"

namespace interlock {

struct PlaneConfig {
    bool two_person_rule = false;
    bool has_sink = false;
    LoopConfig loop = {};
    ControlConfig control = {};
    SupervisorConfig supervisor = {};
};

class Plane {
public:
    // All of these outlive the plane.
    struct Parts {
        LedgerStore& store;
        Clock& clock;
        IdSource& ids;
        HeadMirror& mirror;
        TurnObserver& observer;
        EffectSink& sink;
        KillFlag& flag;
        SealKeys& keys;
        HeadLog& head_log;
        // Brings a turn to the engine; from any thread in the server.
        SubmitTurn submit;
        // Brings committed effects to the outbox.
        std::function<void(std::vector<OutboxItem>)> dispatch;
        // Where prices come from; null: this plane does not trade.
        const MarketFeed* feed = nullptr;
        // An account exists: open it at its venue. Idempotent; on the engine thread.
        LoopService::OnAccount on_account = nullptr;
        // The size of an archived segment's file; without it nothing is archived.
        std::function<std::optional<std::int64_t>(const std::string&, const std::string&)>
            segment_bytes = [](const std::string&, const std::string&) { return std::nullopt; };
    };
    Plane(Parts parts, PlaneConfig config);

    struct Recovery {
        std::vector<OutboxItem> resend;     // Repeatable effects that may not have run.
        std::vector<OutboxItem> unsettled;  // Effects that may have run: to be settled, not resent.
        std::vector<ChainReport> chains;
    };
    // Loads everything, latches what was latched, verifies the chains. Afterwards the turns that
    // record the unsettled effects as unknown have been submitted.
    Result<Recovery> open();
    // A chain of the relay does not hold: its tenant is stopped, and its ledger says so for good.
    Result<void> relay_broke(const ChainReport& report);
    // Engine thread, or after it has ended: ends folds and seals every chain.
    void close();

    TurnRunner runner;
    KillLatch latch;
    PrincipalDirectory directory;
    OutboxRunner outbox;
    LedgerService ledger;
    ArchiveService archive;
    FoldService folds;
    ApprovalService approvals;
    KillSwitchService kill;
    InternalErrors internal_errors;
    ProbeService probes;
    std::unique_ptr<LoopService> loop;  // Null without a feed, and so are the next.
    std::unique_ptr<LoopControl> control;
    StrategyRuntime running;
    std::unique_ptr<StrategyTicker> ticker;
    std::unique_ptr<ControlService> decisions;
    std::unique_ptr<StrategyService> strategies;
    std::unique_ptr<SupervisorService> supervisor;

private:
    void stop_for_breaks(const std::vector<ChainReport>& chains);

    Parts parts_;
};

}  // namespace interlock
