// Strategy instances for people: create, change, start, stop, delete, and the reads everyone has
// (docs/contracts/control-decision.md#strategy-instances).
//
// Whatever moves a concern (start, switch, pause, resume) becomes a control decision of its own and
// goes through the same judgement as an agent's.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "loop/service/control_call.h"
#include "loop/service/loop_service.h"
#include "trader/service/control_service.h"
#include "trader/service/strategy_runtime.h"
#include "trader/service/strategy_ticker.h"
#include "trader/wire/strategy_requests.h"

namespace interlock {

class StrategyService {
public:
    struct Parts {
        TurnRunner& runner;
        SubmitTurn submit;
        LoopService& loop;
        StrategyRuntime& runtime;
        StrategyTicker& ticker;
        ControlService& control;
        const MarketFeed& feed;
    };
    explicit StrategyService(Parts parts) : parts_(std::move(parts)) {}

    // After a restart: what ran runs again, what was paused stays so.
    Result<void> open();

    using Caller = LoopService::Caller;
    using Reply = LoopService::Reply;
    void create(Caller caller, CreateStrategyRequest request, Reply reply);
    void update(Caller caller, StrategyId id, UpdateStrategyRequest request, Reply reply);
    void remove(Caller caller, StrategyId id, DeleteStrategyRequest request, Reply reply);
    void control(Caller caller, StrategyId id, ControlStrategyRequest request, Reply reply);
    void set_policy(Caller caller, StrategyId id, StrategyPolicyRequest request, Reply reply);
    // switch_strategy, pause_strategy, resume_strategy.
    struct Move {
        StrategyId id;
        ControlAction action = ControlAction::pause;
        MoveStrategyRequest request;
    };
    void move(Caller caller, Move move, Reply reply);
    void reconcile(Caller caller, StrategyId id, StrategyCall call, Reply reply);
    void set_concern(Caller caller, ConcernId id, ConcernRequest request, Reply reply);

    // Reads.
    struct Include {
        bool config = false;
        bool state = false;
        bool render = false;
        bool debug = false;
        bool report = true;
    };
    void list(Caller caller, Reply reply);
    void get(Caller caller, StrategyId id, Include include, Reply reply);
    void list_concerns(Caller caller, Reply reply);

    // The turns behind them, for the simulator and the benchmark.
    TurnRequest create_turn(Caller caller, CreateStrategyRequest request, Reply reply);
    TurnRequest get_turn(Caller caller, StrategyId id, Include include, Reply reply);

private:
    using Run = std::function<Result<TurnReply>(Turn&)>;
    TurnRequest read_turn(Caller caller, std::string function, Run run, Reply reply);

    Result<StrategyScope> scope(Turn& turn);
    Result<StrategyInstance> find(Turn& turn, const StrategyId& id);
    Result<StrategyInstance> find_own(Turn& turn, const StrategyId& id);
    Result<TurnReply> run_create(Turn& turn, const CreateStrategyRequest& request);
    Result<TurnReply> run_update(
        Turn& turn, const StrategyId& id, const UpdateStrategyRequest& request);
    Result<TurnReply> run_remove(Turn& turn, const StrategyId& id, const StrategyCall& call);
    Result<TurnReply> run_stop(Turn& turn, const StrategyId& id, const StrategyCall& call);
    Result<bool> has_open_orders(Turn& turn, const StrategyInstance& instance);
    // One record of what a person changed; the answer shows the instance.
    struct Change {
        std::string event;
        std::string reason;
        Json detail = Json::object();
    };
    Result<TurnReply> done(Turn& turn, StrategyInstance instance, Change change);
    Result<Json> payload_of(Turn& turn, const Move& move);
    void submit_move(Caller caller, const ControlFunction& function, Run run, Reply reply);

    // strategy_reads.cc
    Result<TurnReply> run_get(Turn& turn, const StrategyId& id, const Include& include);
    Result<Json> report_of(Turn& turn, const StrategyInstance& instance);
    Result<TurnReply> run_list(Turn& turn);
    Result<TurnReply> run_list_concerns(Turn& turn);

    Parts parts_;
};

// The instance as the reads and the answers of helpers show it, without config and state.
// `blocked`: why it does not trade.
Json describe(
    const StrategyInstance& instance,
    const Concern* concern,
    const std::optional<Blocked>& blocked);

// Every registered type with its schemas.
Json describe_strategy_types();

}  // namespace interlock
