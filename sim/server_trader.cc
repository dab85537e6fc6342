// The trader's side of a simulated server: control decisions, the helpers of people, and the
// mistakes that are planted around them.
#include "base/check.h"
#include "sim/server.h"

namespace interlock::sim {
namespace {

StrategyScope scope_in(const Turn& turn) {
    return {turn.tenant_id(), TradeMode::paper};
}

// The instances as stored, also such as are deleted; none when the store does not answer.
std::vector<StrategyInstance> instances_in(TurnRunner& runner) {
    return stored_instances(runner).value_or(std::vector<StrategyInstance>());
}

// The plant hand_over_early: what was just journalled is done at once, cancels or not.
Result<void> hand_over(Turn& turn, const ConcernId& id) {
    TRY_ASSIGN(const auto concern, load_concern(turn, scope_in(turn), id));
    if (!concern || !concern->switching) {
        return {};
    }
    Concern next = *concern;
    const SwitchUnderWay under_way = *next.switching;
    if (under_way.from) {
        TRY_ASSIGN(const auto from, load_instance(turn, scope_in(turn), *under_way.from));
        CHECK(from != nullptr);
        StrategyInstance old = *from;
        release_activity(turn, next, old, InstanceMode::observe);
        save_instance(turn, std::move(old));
    }
    TRY_ASSIGN(const auto to, load_instance(turn, scope_in(turn), under_way.to));
    CHECK(to != nullptr);
    StrategyInstance fresh = *to;
    take_activity(turn, next, fresh);
    save_instance(turn, std::move(fresh));
    next.switching.reset();
    save_concern(turn, std::move(next));
    AuditDraft draft = turn.draft("CONTROL_DECISION");
    draft.decision_id = under_way.decision_id;
    draft.detail = Json::object({
        {"payload", under_way.request},
        {"validation", Json::object()},
        {"status", "applied"},
        {"result", Json::object()},
        {"received_at", to_text(turn.now())},
    });
    TRY(turn.audit(std::move(draft)));
    return {};
}

// The plant apply_again: what is remembered of an applied decision is taken for a refusal.
Result<void> forget_applied(Turn& turn, const DecisionId& id) {
    TRY_ASSIGN(const auto row, load_control_row(turn, turn.tenant_id(), id));
    if (row && row->history.status == ControlStatus::applied) {
        ControlRow forgotten = *row;
        forgotten.history.status = ControlStatus::rejected;
        save_control_row(turn, turn.tenant_id(), id, std::move(forgotten));
    }
    return {};
}

// Decodes a person's request and runs it, or refuses as the face does.
template <class Request, class Run>
void run_helper(
    const Command& command,
    const std::function<void(Result<Answer>)>& reply,
    Result<Request> (*decode)(const Json&),
    Run run) {
    auto request = decode(command.body);
    if (!request) {
        reply(std::unexpected(std::move(request).error()));
        return;
    }
    run(StrategyService::Caller{command.principal, command.tenant_id, command.request_hash},
        StrategyId::trusted(command.strategy_id),
        *std::move(request));
}

}  // namespace

void Server::call_control(const Command& command, std::function<void(Result<Answer>)> reply) {
    TurnRequest turn = plane_->decisions->apply_turn(
        {command.principal, command.tenant_id, {}}, command.body, std::move(reply));
    if (plant_into_control(command, turn)) {
        plane_->decisions->submit(std::move(turn));
    }
}

void Server::call_helper(const Command& command, const std::function<void(Result<Answer>)>& reply) {
    StrategyService& all = *plane_->strategies;
    const std::string& tool = command.tool;
    using Caller = StrategyService::Caller;
    if (tool == "create_strategy") {
        run_helper(
            command, reply, decode_create_strategy, [&](Caller by, StrategyId, auto request) {
                all.create(std::move(by), std::move(request), reply);
            });
    } else if (tool == "update_strategy") {
        run_helper(command, reply, decode_update_strategy, [&](Caller by, StrategyId id, auto how) {
            all.update(std::move(by), std::move(id), std::move(how), reply);
        });
    } else if (tool == "delete_strategy") {
        run_helper(command, reply, decode_delete_strategy, [&](Caller by, StrategyId id, auto how) {
            all.remove(std::move(by), std::move(id), std::move(how), reply);
        });
    } else if (tool == "control_strategy") {
        run_helper(
            command, reply, decode_control_strategy, [&](Caller by, StrategyId id, auto how) {
                all.control(std::move(by), std::move(id), std::move(how), reply);
            });
    } else if (tool == "set_strategy_policy") {
        run_helper(
            command,
            reply,
            decode_strategy_policy_request,
            [&](Caller by, StrategyId id, auto how) {
                all.set_policy(std::move(by), std::move(id), std::move(how), reply);
            });
    } else if (tool == "reconcile_instance") {
        run_helper(command, reply, decode_delete_strategy, [&](Caller by, StrategyId id, auto how) {
            all.reconcile(std::move(by), std::move(id), std::move(how.call), reply);
        });
    } else if (tool == "set_concern") {
        run_helper(command, reply, decode_concern_request, [&](Caller by, StrategyId id, auto how) {
            all.set_concern(std::move(by), ConcernId::trusted(id.text()), how, reply);
        });
    } else {
        const bool switches = tool == "switch_strategy";
        CHECK(switches || tool == "pause_strategy" || tool == "resume_strategy");
        const ControlAction action = switches         ? ControlAction::switch_strategy
                                     : tool[0] == 'p' ? ControlAction::pause
                                                      : ControlAction::resume;
        run_helper(command, reply, decode_move_strategy, [&](Caller by, StrategyId id, auto how) {
            all.move(std::move(by), {std::move(id), action, std::move(how)}, reply);
        });
    }
}

// False when the decision goes no further.
bool Server::plant_into_control(const Command& command, TurnRequest& request) {
    const auto decision = decode_control_decision(command.body);
    if (!decision) {
        if (world_.plant == Plant::drop_refusal) {
            const ControlResult refusal = control_refusal(command.body, decision.error());
            request.reply(Answer{200, to_text(encode(refusal))});
            return false;
        }
        return true;
    }
    if (world_.plant == Plant::hand_over_early) {
        request.decide = [this, decide = std::move(request.decide), id = decision->concern_id](
                             Turn& turn) -> Result<TurnReply> {
            TRY_ASSIGN(TurnReply reply, decide(turn));
            TRY(hand_over(turn, id));
            return reply;
        };
    }
    if (world_.plant == Plant::apply_again) {
        request.decide = [decide = std::move(request.decide),
                          id = decision->decision_id](Turn& turn) -> Result<TurnReply> {
            TRY(forget_applied(turn, id));
            return decide(turn);
        };
    }
    return true;
}

// The plant tick_observer: whenever strategies tick, those that only observe act as well.
void Server::plant_into_tick() {
    if (world_.plant != Plant::tick_observer) {
        return;
    }
    for (const StrategyInstance& instance : instances_in(plane_->runner)) {
        if (instance.mode != InstanceMode::observe || instance.is_deleted) {
            continue;
        }
        TurnRequest act = plane_->ticker->act_turn(instance.account, instance.strategy_id);
        act.decide = [this, instance, act](Turn& turn) -> Result<TurnReply> {
            TRY(act_as_active(turn, instance, act));
            return Answer{200, "{}"};
        };
        act.reply = [](const Result<Answer>&) {};
        engine_->submit_internal(std::move(act));
    }
}

Result<void> Server::act_as_active(
    Turn& turn, const StrategyInstance& instance, const TurnRequest& act) {
    TRY_ASSIGN(const auto concern, load_concern_of(turn, instance.account, instance.symbol));
    const auto pose = [&](InstanceMode mode,
                          const std::optional<StrategyId>& active) -> Result<void> {
        TRY_ASSIGN(
            const auto now, load_instance(turn, scope_of(instance.account), instance.strategy_id));
        TRY_ASSIGN(const auto stored, load_concern_of(turn, instance.account, instance.symbol));
        if (now && stored) {
            StrategyInstance next = *now;
            next.mode = mode;
            save_instance(turn, std::move(next));
            Concern posed = *stored;
            posed.active_strategy_id = active;
            save_concern(turn, std::move(posed));
        }
        return {};
    };
    TRY_ASSIGN(
        const auto now, load_instance(turn, scope_of(instance.account), instance.strategy_id));
    if (!now || !concern || now->mode != InstanceMode::observe) {
        return {};
    }
    TRY(pose(InstanceMode::active, instance.strategy_id));
    TRY(act.decide(turn));
    return pose(InstanceMode::observe, concern->active_strategy_id);
}

// The mistakes a restart makes with strategies.
void Server::forget_rows(const std::string& prefix, const Json& empty) {
    const auto rows = plane_->runner.stored_states(prefix);
    for (const auto& [key, state] : rows.value_or(std::map<std::string, StoredState>())) {
        TurnRequest turn;
        turn.tenant_id = system_tenant();
        turn.principal = internal_principal("recovery");
        turn.function = "forget_rows";
        turn.reply = [](const Result<Answer>&) {};
        turn.decide = [machine = key, empty](Turn& t) -> Result<TurnReply> {
            t.save(machine, empty);
            return Answer{200, "{}"};
        };
        engine_->submit_internal(std::move(turn));
    }
}

void Server::plant_at_start() {
    if (world_.plant == Plant::forget_folds) {
        forget_rows(std::string(kFoldPrefix), Json::object({{"open", Json::array()}}));
    }
    if (world_.plant == Plant::forget_blocked) {
        forget_rows("blocked/", Json::object({{"code", ""}, {"strategies", Json::object()}}));
    }
    if (world_.plant != Plant::forget_pause && world_.plant != Plant::forget_running) {
        return;
    }
    for (const StrategyInstance& instance : instances_in(plane_->runner)) {
        if (world_.plant == Plant::forget_pause && instance.paused) {
            unpause(instance);
        }
        if (world_.plant == Plant::forget_running) {
            StrategyInstance off = instance;
            off.mode = InstanceMode::off;
            if (plane_->running.reconcile(off)) {
                return;
            }
        }
    }
}

void Server::unpause(const StrategyInstance& instance) {
    TurnRequest turn;
    turn.tenant_id = instance.account.tenant_id;
    turn.principal = internal_principal("recovery");
    turn.function = "unpause";
    turn.reply = [](const Result<Answer>&) {};
    turn.decide = [instance](Turn& t) -> Result<TurnReply> {
        StrategyInstance next = instance;
        next.paused = false;
        save_instance(t, std::move(next));
        return Answer{200, "{}"};
    };
    engine_->submit_internal(std::move(turn));
}

}  // namespace interlock::sim
