// Ticks the strategies that run (docs/contracts/control-decision.md#strategy-instances). A tick
// looks at every due instance of an account on the same facts; those with nothing to change share
// one record, PLAN skipped. One that wants something gets a turn of its own, in which its plan goes
// PLAN → VALIDATE → DRY-RUN → EXECUTE like an outside planner's (I3).
//
// A tick that fails touches only its own instance; three in a row latch it: no more ticks, its
// orders are cancelled and people are alerted, until it is resumed or reloaded.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loop/service/loop_service.h"
#include "trader/service/strategy_runtime.h"
#include "trader/service/strategy_store.h"

namespace interlock {

namespace errors {
// A strategy's own mistake: it latches the strategy and is none of the tenant's.
inline constexpr ErrorKind strategy_failed{
    "strategy_failed", 422, false, "Read the strategy's last_error, mend it, then resume it."};
}  // namespace errors

class StrategyTicker {
public:
    static constexpr std::int64_t kErrorsInRowMax = 3;
    static constexpr int kAdjustRoundsMax = 3;

    struct Parts {
        LoopService& loop;
        StrategyRuntime& runtime;
        const MarketFeed& feed;
        SubmitTurn submit;
    };
    explicit StrategyTicker(Parts parts) : parts_(std::move(parts)) {}

    // The turns of everything that is due; the watch submits them, the simulator runs them. `now`
    // is Clock::monotonic().
    std::vector<TurnRequest> due_turns(Duration now);
    TurnRequest tick_turn(StrategyRuntime::Batch batch);
    // One instance acts on its plan; void when it comes after `not_after`.
    TurnRequest act_turn(
        VenueAccount account, StrategyId id, std::optional<Timestamp> not_after = std::nullopt);

    // The two halves of a tick, for whoever keeps instances and their record (bots/service).
    struct Round {
        std::optional<Blocked> blocked = std::nullopt;  // Why none of them trades.
        std::vector<StrategyId> quiet;                  // Have nothing to change, or are not let.
        std::vector<StrategyId> acting;                 // Have something to change, and may.
        // The hashes of the `state` and `market` that they looked at; those are not kept.
        Json seen = {};
        BlockedRow noted = {};                           // What blocks them, as on record.
        std::map<StrategyId, Blocked> held = {};         // Those that their own market blocks.
        std::map<StrategyId, std::string> smaller = {};  // Those that trade, and are held to less.
        bool has_latched = false;                        // One of them ticks no more.
        // Their account is looked at after a start (account/rules/recovery.h): nothing was stepped,
        // noted or recorded, and what they left at the venue stays there.
        bool is_waiting = false;
    };
    Result<Round> look_at(Turn& turn, const StrategyRuntime::Batch& batch);
    struct Act {
        VenueAccount account;
        std::vector<StrategyId> ids;
        std::optional<Timestamp> not_after = std::nullopt;
    };
    // Once the turn is committed, each of them acts.
    void act_after(Turn& turn, Act act);

    // Everything a step of an instance sees, kept alive.
    struct Sight {
        std::shared_ptr<const StrategyInstance> instance;
        std::shared_ptr<const Concern> concern;
        std::shared_ptr<const Strategy> strategy;
        MarketSignals signals;
        std::vector<OwnOrder> own_orders;
        std::optional<OwnTrades> trades;  // When the strategy asks for them.
        RiskPosture posture = RiskPosture::balanced;
        bool may_trade = false;
        std::optional<Blocked> blocked;  // Why it does not trade although it is active.
    };
    // Nothing: the instance does not tick now (paused, off, latched, frozen by a switch).
    Result<std::optional<Sight>> look(
        Turn& turn, const LoopService::Gathered& facts, const StrategyId& id);
    // The same without asking whether it ticks: what a report looks at.
    Result<Sight> sight_of(
        const LoopService::Gathered& facts,
        std::shared_ptr<const StrategyInstance> of,
        std::shared_ptr<const Concern> concern) const;
    // Why an instance does not trade although it is active: the switches' reason first, then its
    // keeper's, its account's and its market's.
    Result<std::optional<Blocked>> why_blocked(
        Turn& turn, const StrategyInstance& instance, const Concern* concern) const;
    // Steps the strategy on its own effective risk mode; never throws.
    Result<StrategyStep> step(const Sight& sight, const LoopService::Gathered& facts) const;

private:
    Result<void> tick_one(
        Turn& turn, LoopService::Gathered& facts, const StrategyId& id, Round& round);
    Result<TurnReply> run_tick(Turn& turn, const StrategyRuntime::Batch& batch);
    Result<TurnReply> run_act(Turn& turn, const VenueAccount& account, const StrategyId& id);
    struct Acting {
        const StrategyInstance& instance;
        PlanPart part;
        std::optional<Json>& memory;  // What the tick's first step leaves behind.
    };
    enum class Did { nothing, counted, recorded };
    Result<Did> run_part(Turn& turn, const Acting& acting);
    Result<void> drive(Turn& turn, Decision& decision, const LoopService::Gathered& facts);
    Result<void> note_quiet(Turn& turn, const VenueAccount& account, const Round& round);
    std::shared_ptr<const Strategy> strategy_of(const StrategyInstance& instance) const;
    std::optional<Blocked> why_held(
        const StrategyInstance& instance,
        const Concern* concern,
        const Account* account,
        const MarketSet& market) const;
    // Whether it latched the instance; then the caller settles its blocks.
    Result<bool> fail_tick(Turn& turn, StrategyInstance instance, const Error& error);
    TurnRequest failure_turn(VenueAccount account, StrategyId id, Error error);

    Parts parts_;
};

}  // namespace interlock
