// The switch procedure (docs/contracts/control-decision.md#switching): journal → freeze → cancel
// and confirm → hand over, or roll back.
#include "base/canonical_json.h"
#include "base/errors.h"
#include "base/log.h"
#include "trader/service/control_shared.h"

namespace interlock {
namespace {

TimerId timer_of(const Concern& concern) {
    return TimerId::trusted("switch:" + concern_key(scope_of(concern.account), concern.concern_id));
}

void set_outcome(Json& answer, ControlStatus status, bool ok) {
    answer.set("ok", ok);
    answer.set("status", to_word(status));
}

Json error_list(const Error& error) {
    return Json::array({Json::object({
        {"code", error.code()},
        {"message", error.message},
        {"retryable", error.retryable()},
        {"next_step", error.next()},
    })});
}

struct Cancels {
    const std::set<StrategyId>& strategies;
    bool again = false;  // Also those asked for before.
};
Result<void> cancel_orders_of(
    Turn& turn, LoopService& loop, const Concern& concern, const Cancels& cancels) {
    TRY(loop.cancel_orders(
        turn,
        {.account = concern.account,
         .decision_id = "sys_control",
         .which =
             [&cancels, &concern](const OrderRecord& order) {
                 return order.symbol() == concern.symbol &&
                        cancels.strategies.contains(order.strategy_id);
             },
         .again = cancels.again}));
    return {};
}

}  // namespace

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
        turn.decide = [this, concern](Turn& t) -> Result<TurnReply> {
            TRY_ASSIGN(
                const auto now, load_concern(t, scope_of(concern.account), concern.concern_id));
            const bool same = now && now->switching &&
                              now->switching->decision_id == concern.switching->decision_id;
            if (same) {
                TRY(roll_back(
                    t,
                    *now,
                    Error{
                        &errors::switch_interrupted,
                        "The server went down before the switch was done.",
                        {},
                        {}}));
            }
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

Result<TurnReply> ControlService::begin_switch(Turn& turn, Attempt& attempt) {
    const ControlDecision& decision = attempt.decision;
    const Concern& concern = *attempt.concern;
    TRY_ASSIGN(
        const std::set<StrategyId> others,
        others_with_orders(turn, concern, *decision.target_strategy_id));
    if (!others.empty()) {
        return journal_switch(turn, attempt, others);
    }
    const RiskMode risk_mode = decision.risk_mode.value_or(concern.risk_mode);
    TRY(hand_over(
        turn,
        concern,
        {.decision_id = decision.decision_id,
         .to = *decision.target_strategy_id,
         .risk_mode = risk_mode}));
    ControlResult result = result_of(attempt);
    result.risk_mode = risk_mode;
    result.result = Json::object({{"mode_change", "applied"}, {"reconciled", true}});
    result.applied_at = turn.now();
    return settle(turn, attempt, result);
}

// The first of a switch's two commits.
Result<TurnReply> ControlService::journal_switch(
    Turn& turn, Attempt& attempt, const std::set<StrategyId>& others) {
    const ControlDecision& decision = attempt.decision;
    Concern concern = *attempt.concern;
    TRY_ASSIGN(Json payload, parse_json(attempt.request.payload_text));
    const OpenOperation operation = turn.open_operation();
    concern.switching = SwitchUnderWay{
        .decision_id = decision.decision_id,
        .from = concern.active_strategy_id,
        .to = *decision.target_strategy_id,
        .risk_mode = decision.risk_mode.value_or(concern.risk_mode),
        .started_at = turn.now(),
        .deadline = turn.now() + parts_.config.cancel_timeout,
        .operation = encode(operation),
        .request = payload,
        .verdict = Json::object(
            {{"answer", encode(result_of(attempt))}, {"attempt", attempt.verdict.attempt}}),
    };
    // A cancel that an earlier switch asked for may have been lost or refused.
    TRY(cancel_orders_of(turn, parts_.loop, concern, {.strategies = others, .again = true}));
    turn.set_timer({
        .timer_id = timer_of(concern),
        .tenant_id = concern.account.tenant_id,
        .kind = std::string(kSwitchTimer),
        .json = to_text(Json::object(
            {{"account", encode(concern.account)}, {"concern_id", concern.concern_id.text()}})),
        .due_at = concern.switching->deadline,
    });
    AuditDraft draft = turn.draft("CONTROL_APPLYING");
    draft.decision_id = decision.decision_id;
    draft.status = AuditStatus::started;
    draft.reason = decision.reason;
    draft.detail = Json::object({
        {"payload", std::move(payload)},
        {"from_strategy_id",
         concern.active_strategy_id ? Json(concern.active_strategy_id->text()) : Json()},
        {"to_strategy_id", concern.switching->to.text()},
        {"deadline", to_text(concern.switching->deadline)},
    });
    TRY(turn.audit(std::move(draft)));
    turn.after_commit([this, account = concern.account, id = concern.concern_id] {
        switching_[account].insert(id);
    });
    save_concern(turn, std::move(concern));
    return StillRunning{operation.operation_id};
}

// Orders of other instances that may still trade this concern, the active one's and those of one
// that was stopped before. Orders of outside planners are not a strategy's and stay.
Result<std::set<StrategyId>> ControlService::others_with_orders(
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

// The one commit of a switch.
Result<void> ControlService::hand_over(Turn& turn, Concern concern, const HandOver& change) {
    const StrategyScope scope = scope_of(concern.account);
    TRY_ASSIGN(const auto to, load_instance(turn, scope, change.to));
    if (!to) {
        return fail(errors::target_missing, "The target was deleted in the meantime.");
    }
    TRY(parts_.loop.open_or_load(turn, concern.account));
    if (concern.active_strategy_id) {
        TRY_ASSIGN(const auto from, load_instance(turn, scope, *concern.active_strategy_id));
        if (from) {
            StrategyInstance old = *from;
            release_activity(turn, concern, old, parts_.config.after_switch);
            old.last_transition =
                "active -> " + std::string(to_word(old.mode)) + " by " + change.decision_id.text();
            save_and_reconcile(turn, parts_.runtime, std::move(old));
        }
    }
    StrategyInstance next = *to;
    const std::string before(to_word(next.mode));
    take_activity(turn, concern, next);
    next.last_transition = before + " -> active by " + change.decision_id.text();
    save_and_reconcile(turn, parts_.runtime, std::move(next));
    TRY(settle_blocks(turn, concern.account, parts_.runtime.keeper()));
    concern.risk_mode = change.risk_mode;
    concern.switching.reset();
    save_concern(turn, std::move(concern));
    return {};
}

Result<void> ControlService::finish_switch(Turn& turn, Concern concern) {
    const TenantId tenant_id = concern.account.tenant_id;
    const SwitchUnderWay under_way = *concern.switching;
    if (parts_.latch.is_raised(concern.account.tenant_id)) {
        return roll_back(
            turn,
            std::move(concern),
            Error{
                &errors::control_kill_switch_active,
                "The kill switch was raised before the switch was done.",
                {},
                {}});
    }
    TRY_ASSIGN(const auto to, load_instance(turn, scope_of(concern.account), under_way.to));
    std::string problem = "It was deleted in the meantime.";
    if (to) {
        TRY_ASSIGN(problem, problem_of(turn, *to));
    }
    if (!problem.empty()) {
        return roll_back(
            turn, std::move(concern), Error{&errors::target_not_runnable, problem, {}, {}});
    }
    end_journal(turn, concern);
    TRY(hand_over(
        turn,
        std::move(concern),
        {.decision_id = under_way.decision_id,
         .to = under_way.to,
         .risk_mode = under_way.risk_mode}));
    Json answer = *under_way.verdict.find("answer");
    set_outcome(answer, ControlStatus::applied, true);
    answer.set("risk_mode", to_word(under_way.risk_mode));
    answer.set("result", Json::object({{"mode_change", "applied"}, {"reconciled", true}}));
    answer.set("applied_at", to_text(turn.now()));
    return close_switch(turn, tenant_id, under_way, std::move(answer));
}

Result<void> ControlService::roll_back(Turn& turn, Concern concern, const Error& why) {
    const TenantId tenant_id = concern.account.tenant_id;
    const SwitchUnderWay under_way = *concern.switching;
    concern.switching.reset();
    if (why == errors::cancel_unconfirmed) {
        const ExecutionQuality before = concern.quality;
        concern.quality = std::max(before, ExecutionQuality::degraded);
        auto& reasons = concern.quality_reasons;
        if (std::ranges::find(reasons, "cancel_unconfirmed") == reasons.end()) {
            reasons.push_back("cancel_unconfirmed");
            std::ranges::sort(reasons);
        }
        concern.clean_evaluations = 0;
        TRY(note_quality(turn, concern, before));
    }
    Json answer = *under_way.verdict.find("answer");
    set_outcome(answer, ControlStatus::failed, false);
    answer.set("errors", error_list(why));
    answer.set("risk_mode", to_word(concern.risk_mode));
    answer.set("result", Json::object({{"mode_change", "rolled_back"}, {"reconciled", true}}));
    end_journal(turn, concern);
    save_concern(turn, std::move(concern));
    return close_switch(turn, tenant_id, under_way, std::move(answer));
}

void ControlService::end_journal(Turn& turn, const Concern& concern) {
    turn.clear_timer(timer_of(concern));
    turn.after_commit([this, account = concern.account, id = concern.concern_id] {
        const auto found = switching_.find(account);
        if (found != switching_.end() && found->second.erase(id) > 0 && found->second.empty()) {
            switching_.erase(found);
        }
    });
}

// The outcome belongs to the tenant of the concern, in whosever turn it came: the venue's word
// after a global kill switch comes in one of the system's.
Result<void> ControlService::close_switch(
    Turn& turn, const TenantId& tenant_id, const SwitchUnderWay& under_way, Json answer) {
    TRY_ASSIGN(const ControlDecision decision, decode_control_decision(under_way.request));
    const bool applied = answer.find("ok")->as_bool();
    const ControlStatus status = applied ? ControlStatus::applied : ControlStatus::failed;
    const Json* stored = under_way.verdict.find("attempt");
    const std::int64_t attempt = stored == nullptr ? 1 : stored->as_int64().value_or(1);
    TRY_ASSIGN(
        std::string detail,
        canonical_json(Json::object({
            {"payload", under_way.request},
            {"validation", *answer.find("validation")},
            {"status", to_word(status)},
            {"from_strategy_id", *answer.find("from_strategy_id")},
            {"to_strategy_id", *answer.find("to_strategy_id")},
            {"risk_mode", *answer.find("risk_mode")},
            {"warnings", *answer.find("warnings")},
            {"errors", *answer.find("errors")},
            {"result", *answer.find("result")},
            {"override", decision.override_guards},
            {"dry_run", decision.dry_run},
            {"attempt", attempt},
            {"received_at", to_text(under_way.started_at)},
            {"applied_at", *answer.find("applied_at")},
        })));
    std::string text = to_text(answer);
    TRY(record(
        turn,
        {.tenant_id = tenant_id,
         .decision = decision,
         .fingerprint = fingerprint(decision),
         .detail = std::move(detail),
         .answer = text,
         .status = status,
         .attempt = attempt}));
    if (!under_way.operation.is_null()) {
        TRY_ASSIGN(const OpenOperation operation, decode_open_operation(under_way.operation));
        turn.complete(operation, Answer{200, std::move(text)});
    }
    return {};
}

Result<void> ControlService::on_orders(Turn& turn, const VenueAccount& account) {
    const auto found = switching_.find(account);
    if (found == switching_.end()) {
        return {};
    }
    for (const ConcernId& id : found->second) {
        TRY_ASSIGN(const auto concern, load_concern(turn, scope_of(account), id));
        if (!concern || !concern->switching) {
            continue;
        }
        TRY_ASSIGN(const auto others, others_with_orders(turn, *concern, concern->switching->to));
        if (others.empty()) {
            TRY(finish_switch(turn, *concern));
            continue;
        }
        // What was on its way to the venue when the switch began could not be cancelled then.
        TRY(cancel_orders_of(turn, parts_.loop, *concern, {.strategies = others}));
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
    TRY_ASSIGN(const auto concern, load_concern(turn, scope_of(account), id));
    if (!concern || !concern->switching || concern->switching->deadline > turn.now()) {
        return {};
    }
    TRY_ASSIGN(const auto others, others_with_orders(turn, *concern, concern->switching->to));
    if (others.empty()) {
        return finish_switch(turn, *concern);
    }
    return roll_back(
        turn,
        *concern,
        Error{
            &errors::cancel_unconfirmed,
            "The venue did not confirm in time that the old strategy's orders are gone.",
            {},
            {}});
}

}  // namespace interlock
