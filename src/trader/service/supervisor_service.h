// The supervisor: an optional role, off unless configured, that looks at every concern once a
// minute, lets the selector of trader/rules/supervisor decide and puts each decision on the record,
// `keep` included, with everything it was decided by. What it wants to change it asks for as a
// control decision, through the one write that agents have; it has no other way. docs/supervisor.md
// tells how to turn it on and how to read it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/service/ledger_service.h"
#include "loop/service/loop_service.h"
#include "trader/rules/supervisor/selector.h"
#include "trader/service/control_service.h"
#include "trader/service/strategy_store.h"
#include "trader/service/strategy_ticker.h"
#include "trader/service/supervisor_config.h"

namespace interlock {

inline constexpr std::string_view kSupervisorEvent = "SUPERVISOR_DECISION";

class SupervisorService {
public:
    // Records that one call of list() looks through.
    static constexpr std::int64_t kScanMax = 2000;
    static constexpr std::int64_t kListMax = 200;

    struct Parts {
        SubmitTurn submit;
        LoopService& loop;
        StrategyTicker& ticker;
        ControlService& control;
        LedgerService& ledger;
        KillLatch& latch;
        const MarketFeed& feed;
        SupervisorConfig config;
    };
    explicit SupervisorService(Parts parts) : parts_(std::move(parts)) {}

    // The rounds that are due, one turn per tenant and mode; from one thread only. Each finds the
    // concerns there are, which then get a turn each, one after the other. `now` is
    // Clock::monotonic(), so that a wall clock that steps freezes none.
    std::vector<TurnRequest> due_turns(Duration now);
    TurnRequest round_turn(StrategyScope scope);

    // Newest first, those before `before`; any thread.
    struct Page {
        std::optional<std::int64_t> before = std::nullopt;
        std::int64_t limit = 50;
        bool only_actions = false;
    };
    Result<Json> list(const TenantId& tenant_id, const Page& page);

private:
    struct Visit {
        VenueAccount account;
        Symbol symbol;
        std::vector<StrategyId> ids;
    };
    // The concerns of one round; engine thread only.
    struct Round {
        StrategyScope scope;
        std::vector<Visit> visits;
        std::size_t done = 0;
    };
    Result<TurnReply> run_round(Turn& turn, const StrategyScope& scope);
    void go_on(const std::shared_ptr<Round>& round, std::size_t finished);
    TurnRequest visit_turn(const std::shared_ptr<Round>& round);
    Result<TurnReply> run_visit(Turn& turn, const Visit& visit);

    Result<std::optional<SupervisorFacts>> gather(Turn& turn, const Visit& visit);
    Result<CandidateFacts> look_at(
        Turn& turn,
        LoopService::Gathered& facts,
        const std::shared_ptr<const StrategyInstance>& instance,
        const std::shared_ptr<const Concern>& concern);
    struct Decided {
        const SupervisorFacts& facts;
        const SupervisorDecision& decision;
        DecisionId id;
        std::string bundle;  // "sha256:…"
        std::optional<Blocked> blocked;
    };
    // Why the concern does not trade.
    Result<std::optional<Blocked>> why_blocked(Turn& turn, const Visit& visit);
    Result<void> record(Turn& turn, const Decided& decided);

    Parts parts_;
    std::map<StrategyScope, std::optional<Duration>> due_;  // Nothing: at once.
    // Rounds that are not through yet: the next one waits for them. Engine thread only.
    std::set<StrategyScope> under_way_;
};

}  // namespace interlock
