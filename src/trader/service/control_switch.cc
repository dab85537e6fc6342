// Drives concerns (trader/rules/concern_step.h): gathers how things stand, steps, records, saves
// and carries out. Here too are the ways by which the world's word reaches a switch under way.
#include "base/errors.h"
#include "base/log.h"
#include "trader/service/control_shared.h"

namespace interlock {
namespace {

// Orders of other instances that may still trade this concern, the active one's and those of one
// that was stopped before. Orders of outside planners are not a strategy's and stay.
Result<std::set<StrategyId>> others_with_orders(
    Turn& turn, const Concern& concern, const StrategyId& to) {
    std::set<StrategyId> others;
    TRY_ASSIGN(const AccountView view, load_account(turn, concern.account));
    const SymbolBook* book = find_book(view.books->books, concern.symbol);
    if (book == nullptr) {
        return others;
    }
    for (const OrderRecord& order : book->open) {
        if (order.strategy_id == to || others.contains(order.strategy_id)) {
            continue;
        }
        TRY_ASSIGN(
            const auto instance,
            load_any_instance(turn, scope_of(concern.account), order.strategy_id));
        if (instance) {
            others.insert(order.strategy_id);
        }
    }
    return others;
}

TimerItem deadline_timer(const Concern& concern, Timestamp due_at) {
    return {
        .timer_id = TimerId::trusted(
            "switch:" + concern_key(scope_of(concern.account), concern.concern_id)),
        .tenant_id = concern.account.tenant_id,
        .kind = std::string(kSwitchTimer),
        .json = to_text(Json::object(
            {{"account", encode(concern.account)}, {"concern_id", concern.concern_id.text()}})),
        .due_at = due_at,
    };
}

// Carries out the effects of one step.
struct ConcernHands {
    Turn& turn;
    ControlService::Parts& parts;
    ConcernStep& step;

    Result<void> operator()(const CancelOrdersOf& cancel) {
        return cancel_orders(
            [&](const OrderRecord& order) {
                return order.symbol() == step.concern.symbol &&
                       cancel.strategies.contains(order.strategy_id) &&
                       !(cancel.entries_only && order.is_reduce);
            },
            cancel.again);
    }
    Result<void> operator()(const CancelMarket& cancel) {
        return cancel_orders([&](const OrderRecord& order) {
            return order.symbol() == step.concern.symbol &&
                   !(cancel.entries_only && order.is_reduce);
        });
    }
    Result<void> operator()(const TellOpenOrders& tell) {
        Json open = Json::array();
        TRY_ASSIGN(const AccountView view, load_account(turn, step.concern.account));
        if (const SymbolBook* book = find_book(view.books->books, step.concern.symbol)) {
            for (const OrderRecord& order : book->open) {
                if (order.strategy_id == tell.strategy_id) {
                    open.push(Json::object({
                        {"order_client_id", order.id().text()},
                        {"cancel_requested", order.cancel_requested},
                    }));
                }
            }
        }
        step.answer->result.set("open_orders", std::move(open));
        return {};
    }
    Result<void> operator()(const StartDeadline& deadline) {
        turn.set_timer(deadline_timer(step.concern, deadline.at));
        return {};
    }
    Result<void> operator()(ClearDeadline) {
        turn.clear_timer(deadline_timer(step.concern, turn.now()).timer_id);
        return {};
    }
    Result<void> operator()(ReleaseActivity& release) {
        turn.release_claim(activity_claim(step.concern, release.instance.strategy_id));
        return save(std::move(release.instance));
    }
    Result<void> operator()(TakeActivity& take) {
        TRY(parts.loop.open_or_load(turn, step.concern.account));
        turn.take_claim(activity_claim(step.concern, take.instance.strategy_id));
        return save(std::move(take.instance));
    }
    Result<void> operator()(SaveStrategy& saved) { return save(std::move(saved.instance)); }
    Result<void> operator()(SettleBlocks) {
        return settle_blocks(turn, step.concern.account, parts.runtime.keeper());
    }
    // The outcome belongs to the tenant of the concern, in whosever turn it came: the venue's word
    // after a global kill switch comes in one of the system's.
    Result<void> operator()(const EndSwitch& end) {
        TRY_ASSIGN(const ControlRequest request, read_control_request(end.under_way.request));
        TRY_ASSIGN(
            Answer answer,
            settle_attempt(
                turn,
                {.tenant_id = step.concern.account.tenant_id,
                 .request = request,
                 .result = end.answer,
                 .attempt = end.attempt,
                 .received_at = end.under_way.started_at}));
        if (!end.under_way.operation.is_null()) {
            TRY_ASSIGN(const auto operation, decode_open_operation(end.under_way.operation));
            turn.complete(operation, std::move(answer));
        }
        return {};
    }

private:
    Result<void> cancel_orders(LoopService::WhichOrders which, bool again = false) {
        TRY(parts.loop.cancel_orders(
            turn,
            {.account = step.concern.account,
             .decision_id = "sys_control",
             .which = std::move(which),
             .again = again}));
        return {};
    }
    Result<void> save(StrategyInstance instance) {
        save_and_reconcile(turn, parts.runtime, std::move(instance));
        return {};
    }
};

}  // namespace

Result<void> put_on_record(Turn& turn, AuditDraft draft) {
    AuditDraft signed_by = turn.draft({});
    draft.actor = signed_by.actor;
    draft.principal = std::move(signed_by.principal);
    TRY(turn.audit(std::move(draft)));
    return {};
}

Result<void> ControlService::open() {
    TRY_ASSIGN(const auto concerns, stored_concerns(parts_.runner));
    for (const Concern& concern : concerns) {
        watch(concern.account, concern.symbol);
        if (!concern.switching) {
            continue;
        }
        TurnRequest turn;
        turn.tenant_id = concern.account.tenant_id;
        turn.principal = internal_principal("recovery");
        turn.function = "roll_back_switch";
        turn.decide = [this,
                       account = concern.account,
                       id = concern.concern_id,
                       decision_id = concern.switching->decision_id](Turn& t) -> Result<TurnReply> {
            TRY(drive_switch(t, account, id, ServerRestarted{decision_id}));
            return Answer{200, "{}"};
        };
        turn.reply = [](Result<Answer> answer) {
            if (!answer) {
                log_error("switch_rollback_failed", {{"message", answer.error().message}});
            }
        };
        parts_.submit(std::move(turn));
    }
    return {};
}

Result<std::optional<ControlResult>> ControlService::drive(
    Turn& turn, const Concern& concern, ConcernEvent event, const ConcernFacts& facts) {
    TRY_ASSIGN(ConcernStep step, step_concern(concern, std::move(event), facts));
    for (AuditDraft& draft : step.audit) {
        TRY(put_on_record(turn, std::move(draft)));
    }
    ConcernHands hands{turn, parts_, step};
    for (ConcernEffect& effect : step.effects) {
        TRY(std::visit(hands, effect));
    }
    if (const bool begins = step.concern.switching.has_value();
        begins != concern.switching.has_value()) {
        turn.after_commit([this, begins, account = concern.account, id = concern.concern_id] {
            auto& ids = switching_[account];
            begins ? void(ids.insert(id)) : void(ids.erase(id));
        });
    }
    if (step.concern != concern) {
        save_concern(turn, std::move(step.concern));
    }
    return std::move(step.answer);
}

Result<TurnReply> ControlService::carry_out(
    Turn& turn, const Attempt& attempt, ControlVerdict verdict) {
    const Concern& concern = *attempt.concern;
    const ControlDecision& decision = attempt.decision;
    ConcernFacts facts{
        .now = turn.now(),
        .kill_switch_active = parts_.latch.is_raised(concern.account.tenant_id),
        .active = attempt.active,
        .target = attempt.target,
        .config = parts_.config,
    };
    DecisionPassed passed{decision, result_of(decision, verdict, &concern), verdict.attempt};
    std::optional<OpenOperation> waits;
    if (decision.action == ControlAction::switch_strategy) {
        TRY_ASSIGN(facts.others, others_with_orders(turn, concern, attempt.target->strategy_id));
    }
    if (!facts.others.empty()) {
        TRY_ASSIGN(passed.request, parse_json(attempt.request.payload_text));
        waits = turn.open_operation();
        passed.operation = encode(*waits);
    }
    TRY_ASSIGN(const auto answer, drive(turn, concern, std::move(passed), facts));
    if (!answer) {
        return StillRunning{waits->operation_id};
    }
    return settle_attempt(
        turn,
        {.tenant_id = attempt.scope.tenant_id,
         .request = attempt.request,
         .result = *answer,
         .attempt = verdict.attempt,
         .received_at = turn.now()});
}

Result<void> ControlService::drive_switch(
    Turn& turn, const VenueAccount& account, const ConcernId& id, ConcernEvent event) {
    const StrategyScope scope = scope_of(account);
    TRY_ASSIGN(const auto concern, load_concern(turn, scope, id));
    if (!concern || !concern->switching) {
        return {};
    }
    const StrategyId& to = concern->switching->to;
    ConcernFacts facts{
        .now = turn.now(),
        .kill_switch_active = parts_.latch.is_raised(account.tenant_id),
        .config = parts_.config,
    };
    if (concern->active_strategy_id) {
        TRY_ASSIGN(facts.active, load_instance(turn, scope, *concern->active_strategy_id));
    }
    TRY_ASSIGN(facts.target, load_instance(turn, scope, to));
    if (facts.target) {
        TRY_ASSIGN(facts.target_problem, problem_of(turn, *facts.target));
    }
    TRY_ASSIGN(facts.others, others_with_orders(turn, *concern, to));
    TRY(drive(turn, *concern, std::move(event), facts));
    return {};
}

Result<void> ControlService::on_orders(Turn& turn, const VenueAccount& account) {
    const auto found = switching_.find(account);
    if (found == switching_.end()) {
        return {};
    }
    for (const ConcernId& id : found->second) {
        TRY(drive_switch(turn, account, id, OrdersChanged{}));
    }
    return {};
}

Result<void> ControlService::on_deadline(Turn& turn, const TimerItem& timer) {
    TRY_ASSIGN(const Json json, parse_json(timer.json));
    const Json* account_json = json.find("account");
    const Json* id_json = json.find("concern_id");
    if (account_json == nullptr || id_json == nullptr || !id_json->is_string()) {
        return fail(errors::corrupt_data, "A switch's timer cannot be read.");
    }
    TRY_ASSIGN(const VenueAccount account, decode_venue_account(*account_json));
    TRY_ASSIGN(const ConcernId id, ConcernId::parse(id_json->as_string()));
    return drive_switch(turn, account, id, DeadlinePassed{});
}

}  // namespace interlock
