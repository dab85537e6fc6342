// What people do to a running strategy: start, stop, switch, pause, resume.
#include "base/errors.h"
#include "loop/service/control_call.h"
#include "trader/service/control_shared.h"
#include "trader/service/strategy_service.h"

namespace interlock {
namespace {

StrategyService::Move plain_move(StrategyId id, ControlAction action, StrategyCall call) {
    StrategyService::Move move{.id = std::move(id), .action = action, .request = {}};
    move.request.call = std::move(call);
    return move;
}

}  // namespace

// A person's move as the control decision it is. Its id is bound to the call's key, so that a call
// repeated with the same key is the same decision.
Result<Json> StrategyService::payload_of(Turn& turn, const Move& move) {
    const std::string& key = move.request.call.idempotency_key.text();
    TRY_ASSIGN(const StrategyInstance instance, find(turn, move.id));
    Json payload = Json::object({
        {"decision_id", std::string(kOperatorDecisionPrefix) + key},
        {"concern_id", concern_id_of(instance.account.account_id, instance.symbol).text()},
        {"account_id", instance.account.account_id.text()},
        {"market_symbol", instance.symbol.text()},
        {"action", to_word(move.action)},
        {"target_strategy_id", move.id.text()},
        {"reason", reason_or(move.request.call.reason, "by a person")},
        {"confidence", Json::number("1")},
        {"dry_run", false},
        {"override", move.request.override_guards},
    });
    if (const ExpectedActive& expected = move.request.expected_active_strategy_id) {
        payload.set("expected_active_strategy_id", *expected ? Json((*expected)->text()) : Json());
    }
    if (move.request.risk_mode) {
        payload.set("risk_mode", to_word(*move.request.risk_mode));
    }
    return payload;
}

// Answered once per key, whatever came of it: a move that was refused is never applied by its own
// repetition, which its sender takes for the answer that was lost (turns.md 1).
void StrategyService::submit_move(
    Caller caller, const ControlFunction& function, Run run, Reply reply) {
    std::string hash = std::move(caller.request_hash);
    TurnRequest turn =
        read_turn(std::move(caller), function.name, std::move(run), std::move(reply));
    turn.key = function.key;
    turn.request_hash = std::move(hash);
    parts_.submit(std::move(turn));
}

void StrategyService::move(Caller caller, Move wanted, Reply reply) {
    const ControlFunction function{
        wanted.action == ControlAction::switch_strategy
            ? "switch_strategy"
            : std::string(to_word(wanted.action)) + "_strategy",
        wanted.request.call.idempotency_key};
    Run run = [this, wanted = std::move(wanted)](Turn& t) -> Result<TurnReply> {
        auto payload = payload_of(t, wanted);
        if (!payload) {
            return refuse_control(t, t.request().function, payload.error());
        }
        return parts_.control.apply(t, *payload);
    };
    submit_move(std::move(caller), function, std::move(run), std::move(reply));
}

void StrategyService::control(
    Caller caller, StrategyId id, ControlStrategyRequest request, Reply reply) {
    switch (request.action) {
        case HelperAction::pause:
        case HelperAction::resume:
            move(
                std::move(caller),
                plain_move(
                    std::move(id),
                    request.action == HelperAction::pause ? ControlAction::pause
                                                          : ControlAction::resume,
                    std::move(request.call)),
                std::move(reply));
            return;
        case HelperAction::reconcile:
            reconcile(std::move(caller), std::move(id), std::move(request.call), std::move(reply));
            return;
        case HelperAction::stop: {
            ControlFunction function{"control_strategy", request.call.idempotency_key};
            parts_.submit(control_turn(
                std::move(caller),
                std::move(function),
                [this, id = std::move(id), call = request.call](Turn& turn) {
                    return run_stop(turn, id, call);
                },
                std::move(reply)));
            return;
        }
        case HelperAction::start:
            break;
    }
    const ControlFunction function{"control_strategy", request.call.idempotency_key};
    Move wanted =
        plain_move(std::move(id), ControlAction::switch_strategy, std::move(request.call));
    Run run = [this, wanted = std::move(wanted)](Turn& t) -> Result<TurnReply> {
        auto instance = find(t, wanted.id);
        if (!instance) {
            return refuse_control(t, "control_strategy", instance.error());
        }
        TRY_ASSIGN(const auto concern, load_concern_of(t, instance->account, instance->symbol));
        const bool taken =
            concern && concern->active_strategy_id && *concern->active_strategy_id != wanted.id;
        if (taken) {
            return refuse_control(
                t,
                "control_strategy",
                Error{
                    &errors::concern_has_active,
                    "Strategy " + concern->active_strategy_id->text() +
                        " is active on this concern.",
                    {},
                    {}});
        }
        TRY_ASSIGN(const Json payload, payload_of(t, wanted));
        return parts_.control.apply(t, payload);
    };
    submit_move(std::move(caller), function, std::move(run), std::move(reply));
}

Result<TurnReply> StrategyService::run_stop(
    Turn& turn, const StrategyId& id, const StrategyCall& call) {
    TRY_ASSIGN(StrategyInstance next, find_own(turn, id));
    TRY_ASSIGN(const auto concern, load_concern_of(turn, next.account, next.symbol));
    if (concern && concern->switching) {
        return fail(errors::switch_under_way, "A switch of this concern is under way.");
    }
    const std::string before(to_word(next.mode));
    if (concern && next.mode == InstanceMode::active) {
        Concern freed = *concern;
        release_activity(turn, freed, next, InstanceMode::off);
        TRY(parts_.loop.cancel_orders(
            turn,
            {.account = next.account,
             .decision_id = "sys_control",
             .which = [id](const OrderRecord& order) { return order.strategy_id == id; }}));
        save_concern(turn, std::move(freed));
    }
    next.mode = InstanceMode::off;
    next.paused = false;
    next.last_transition = before + " -> off by a person";
    return done(
        turn,
        std::move(next),
        {.event = "STRATEGY_STOPPED", .reason = reason_or(call.reason, "stopped")});
}

}  // namespace interlock
