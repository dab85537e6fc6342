// The one write of a supervising agent: a control decision is judged, applied at most once and put
// on the record, whatever becomes of it (docs/contracts/control-decision.md#rules).
//
// What a concern becomes is decided by trader/rules/concern_step.h. A switch spans turns. It is
// journalled in its concern, which freezes the old strategy; the old strategy's orders are
// cancelled; when the venue has confirmed that all of them are gone, one commit hands the concern
// over. When that does not happen in time, or the server goes down in between, the switch is rolled
// back: the old strategy goes on. At no moment do two trade.
//
// Here too lives the judgement of a concern's execution, which holds up what would loosen.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "loop/service/loop_service.h"
#include "trader/rules/concern_step.h"
#include "trader/rules/execution_quality.h"
#include "trader/service/control_record.h"
#include "trader/service/strategy_runtime.h"
#include "trader/service/strategy_store.h"

namespace interlock {

class ControlService {
public:
    struct Parts {
        TurnRunner& runner;
        SubmitTurn submit;
        LoopService& loop;
        StrategyRuntime& runtime;
        KillLatch& latch;
        const MarketFeed& feed;
        ControlConfig config;
    };
    explicit ControlService(Parts parts);

    // After a restart: rolls back every switch that was under way.
    Result<void> open();

    using Caller = LoopService::Caller;
    using Reply = LoopService::Reply;
    // `payload` as it came: one that cannot be read is an attempt like any other. It is read here,
    // on the caller's thread; the engine only judges.
    TurnRequest apply_turn(Caller caller, Json payload, Reply reply);
    // The same inside a turn, for the helpers of people.
    Result<TurnReply> apply(Turn& turn, const Json& payload);

    void submit(TurnRequest turn) { parts_.submit(std::move(turn)); }

    // Why an instance could not run now; empty: it can.
    Result<std::string> problem_of(Turn& turn, const StrategyInstance& instance);

    // A concern that is watched is judged every 20 seconds, and at once after bad news.
    void watch(const VenueAccount& account, const Symbol& symbol);
    // What the venue watch learned; any thread.
    void note_venue(TradeMode mode, std::optional<Timestamp> reached_at, std::int64_t skew_ms);
    std::vector<TurnRequest> quality_turns(Duration now);  // Clock::monotonic().
    enum class Judgement { regular, after_news };
    // After news a concern can only get worse: leaving takes regular evaluations.
    TurnRequest quality_turn(const VenueAccount& account, Judgement judgement);
    // The `execution` block of a report.
    Json execution_of(const Concern& concern, Timestamp now) const;

private:
    // One attempt while it is being decided.
    struct Attempt {
        const ControlRequest& request;
        const ControlDecision& decision;
        StrategyScope scope = {};
        AccountView account = {};  // The concern's.
        std::shared_ptr<const Concern> concern = {};
        std::shared_ptr<const StrategyInstance> active = {};
        std::shared_ptr<const StrategyInstance> target = {};
        std::shared_ptr<const ControlRow> row = {};
    };

    // control_apply.cc
    // What `tell` says of each concern of the account.
    template <class T>
    Result<std::vector<T>> told_of_concerns(
        Turn& turn, const VenueAccount& account, std::optional<T> (*tell)(const Concern&));
    Result<TurnReply> apply(Turn& turn, const ControlRequest& request);
    Result<ControlFacts> gather_facts(Turn& turn, Attempt& attempt);
    Result<std::string> asset_problem_of(Turn& turn, const Symbol& symbol);
    Result<std::string> stop_of(Turn& turn, const AccountView& view);
    // The same as problem_of() but for the error latch, which a resume lifts.
    std::string problem_on(const AccountView& view, const StrategyInstance& instance);

    // control_switch.cc
    Result<TurnReply> carry_out(Turn& turn, const Attempt& attempt, ControlVerdict verdict);
    // The one driver of a concern: steps it, puts it on the record, saves it and carries out what
    // the step asks for. Gives the answer to what was asked.
    Result<std::optional<ControlResult>> drive(
        Turn& turn, const Concern& concern, ConcernEvent event, const ConcernFacts& facts);
    // The same for what comes to a switch under way from elsewhere.
    Result<void> drive_switch(
        Turn& turn, const VenueAccount& account, const ConcernId& id, ConcernEvent event);
    Result<void> on_orders(Turn& turn, const VenueAccount& account);
    Result<void> on_deadline(Turn& turn, const TimerItem& timer);

    // control_quality.cc
    void on_order_news(Turn& turn, const LoopService::OrderNews& news);
    Result<void> judge(
        Turn& turn, const VenueAccount& account, const Symbol& symbol, Judgement judgement);

    Parts parts_;
    // Accounts with a switch under way; engine thread only.
    std::map<VenueAccount, std::set<ConcernId>> switching_;
    // Every concern there is, likewise. One made in the batch under way is not among them yet:
    // nothing of it trades before it is committed.
    std::map<VenueAccount, std::set<ConcernId>> concerns_;
    struct Shared;  // What other threads read and write.
    std::shared_ptr<Shared> shared_;
};

}  // namespace interlock
