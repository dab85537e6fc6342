// Judging and applying a control decision (seed 000; SEMANTICS S3).
#include <utility>

#include "base/errors.h"
#include "base/log.h"
#include "services/control/control_service.h"
#include "services/control/control_shared.h"

namespace interlock {
namespace {

std::string text_of(const Json& payload, std::string_view key) {
    if (!payload.is_object()) {
        return {};
    }
    const Json* value = payload.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

Json change_json(std::string_view word, bool reconciled) {
    return Json::object({{"mode_change", word}, {"reconciled", reconciled}});
}

AuditStatus audit_status_of(ControlStatus status) {
    switch (status) {
        case ControlStatus::applied:
            return AuditStatus::passed;
        case ControlStatus::noop:
            return AuditStatus::skipped;
        case ControlStatus::rejected:
        case ControlStatus::failed:
            break;
    }
    return AuditStatus::failed;
}

}  // namespace

ControlService::ControlService(Parts parts)
    : parts_(std::move(parts)), shared_(std::make_shared<Shared>()) {
    parts_.loop.set_overlay({
        .risk_mode =
            [this](Turn& turn, const VenueAccount& account, const std::vector<Symbol>& symbols) {
                return strictest_mode(turn, account, symbols);
            },
        .on_orders =
            [this](Turn& turn, const VenueAccount& account) { return on_orders(turn, account); },
        .on_order_news =
            [this](Turn& turn, const LoopService::OrderNews& news) { on_order_news(turn, news); },
    });
    parts_.runner.on_timer(std::string(kSwitchTimer), [this](Turn& turn, const TimerItem& timer) {
        return on_deadline(turn, timer);
    });
}

TurnRequest ControlService::apply_turn(Caller caller, Json payload, Reply reply) {
    TurnRequest turn;
    turn.tenant_id = std::move(caller.tenant_id);
    turn.principal = std::move(caller.principal);
    turn.function = "apply_control_decision";
    turn.reply = std::move(reply);
    // Masked before anything is kept of it: the payload goes into the ledger and a switch's journal
    // as it came (002 §6.1.8).
    turn.decide = [this, payload = redact(payload)](Turn& t) -> Result<TurnReply> {
        const std::string id = text_of(payload, "decision_id");
        const bool is_ours =
            id.starts_with(kBuiltinDecisionPrefix) || id.starts_with(kSystemDecisionPrefix) ||
            id.starts_with(kOperatorDecisionPrefix) || id.starts_with(kSupervisorDecisionPrefix);
        if (is_ours) {
            return refuse_unreadable(
                t,
                payload,
                Error{
                    &errors::invalid_payload,
                    "decision_id: ids that begin with auto., sys_, op_ or hermes. are "
                    "the server's own.",
                    {},
                    {}});
        }
        return apply(t, payload);
    };
    return turn;
}

Result<TurnReply> ControlService::refuse_unreadable(
    Turn& turn, const Json& payload, const Error& error) {
    ControlResult result;
    result.decision_id = text_of(payload, "decision_id");
    result.concern_id = text_of(payload, "concern_id");
    result.action = text_of(payload, "action");
    const Json* dry_run = payload.is_object() ? payload.find("dry_run") : nullptr;
    result.dry_run = dry_run != nullptr && dry_run->is_bool() && dry_run->as_bool();
    result.errors = {error};
    result.result = change_json("none", false);
    Json answer = encode(result);
    AuditDraft draft = turn.draft("CONTROL_DECISION");
    if (auto id = DecisionId::parse(result.decision_id)) {
        draft.decision_id = *std::move(id);
    }
    draft.status = AuditStatus::failed;
    draft.reason = error.message;
    draft.detail = Json::object({
        {"payload", payload},
        {"validation", encode(result.validation)},
        {"status", "rejected"},
        {"errors", *answer.find("errors")},
        {"result", result.result},
        {"received_at", to_text(turn.now())},
    });
    TRY(turn.audit(std::move(draft)));
    return Answer{200, to_text(answer)};
}

Result<TurnReply> ControlService::apply(Turn& turn, const Json& payload) {
    auto decision = decode_control_decision(payload);
    if (!decision) {
        return refuse_unreadable(turn, payload, decision.error());
    }
    Attempt attempt;
    attempt.payload = payload;
    attempt.decision = *std::move(decision);
    std::string problem;
    TRY_ASSIGN(const ControlFacts facts, gather_facts(turn, attempt, problem));
    attempt.verdict = judge_control(attempt.decision, facts);
    const ControlVerdict& verdict = attempt.verdict;
    if (verdict.status == ControlStatus::applied && !attempt.decision.dry_run) {
        return carry_out(turn, attempt);
    }
    ControlResult result = result_of(attempt);
    if (verdict.status == ControlStatus::applied) {
        result.result = change_json("simulated", false);
    } else if (verdict.is_duplicate) {
        TRY_ASSIGN(Json original, parse_json(attempt.row->answer_text));
        result.result.set("original", std::move(original));
    }
    TRY_ASSIGN(
        std::string answer,
        record(
            turn,
            {.decision = attempt.decision,
             .payload = attempt.payload,
             .answer = encode(result),
             .status = verdict.status,
             .attempt = verdict.attempt,
             // A repeated or conflicting id leaves the first word standing; so does a switch that
             // is still under way under this very id.
             .remember = !verdict.is_duplicate && !attempt.decision.dry_run &&
                         !has_error(verdict, errors::decision_id_conflict) &&
                         !has_error(verdict, errors::switch_in_progress)}));
    return Answer{200, std::move(answer)};
}

Result<ControlFacts> ControlService::gather_facts(
    Turn& turn, Attempt& attempt, std::string& problem) {
    const ControlDecision& decision = attempt.decision;
    TRY_ASSIGN(const LoopMode mode, load_loop_mode(turn, turn.tenant_id()));
    attempt.scope = {turn.tenant_id(), mode.mode};
    TRY_ASSIGN(attempt.concern, load_concern(turn, attempt.scope, decision.concern_id));
    if (attempt.concern && attempt.concern->active_strategy_id) {
        TRY_ASSIGN(
            attempt.active,
            load_instance(turn, attempt.scope, *attempt.concern->active_strategy_id));
    }
    if (decision.target_strategy_id) {
        TRY_ASSIGN(
            attempt.target, load_instance(turn, attempt.scope, *decision.target_strategy_id));
    }
    if (attempt.target && decision.action == ControlAction::switch_strategy) {
        TRY_ASSIGN(problem, problem_of(turn, *attempt.target));
    }
    if (attempt.active && decision.action == ControlAction::resume) {
        StrategyInstance lifted = *attempt.active;
        lifted.is_latched = false;  // Resuming is what lifts it.
        TRY_ASSIGN(problem, problem_of(turn, lifted));
    }
    TRY_ASSIGN(attempt.row, load_control_row(turn, decision.decision_id));
    ControlFacts facts;
    facts.now = turn.now();
    facts.concern = attempt.concern.get();
    facts.active = attempt.active.get();
    facts.target = attempt.target.get();
    facts.target_problem = problem;
    facts.kill_switch_active = parts_.latch.is_raised(turn.tenant_id());
    if (attempt.concern) {
        TRY_ASSIGN(facts.stop, stop_of(turn, attempt.concern->account));
    }
    if (attempt.row) {
        facts.history = attempt.row->history;
    }
    facts.guards = parts_.config.guards;
    return facts;
}

Result<std::string> ControlService::stop_of(Turn& turn, const VenueAccount& account) {
    TRY_ASSIGN(const AccountView view, load_account(turn, account));
    if (!view.account) {
        return std::string();  // Opened with the first tick.
    }
    TRY_ASSIGN(const bool enabled, parts_.loop.is_trading_enabled(turn, *view.account));
    if (!enabled) {
        return std::string("trading is disabled on this account");
    }
    if (view.account->recovery.phase == RecoveryPhase::escalated) {
        return std::string("safe recovery of this account has escalated");
    }
    return std::string();
}

Result<std::string> ControlService::problem_of(Turn& turn, const StrategyInstance& instance) {
    if (instance.is_latched) {
        return "It failed three times in a row: " + instance.last_error;
    }
    if (!parts_.runtime.find(instance.account, instance.strategy_id)) {
        const OpenedStrategy opened = open_strategy(instance.strategy_type, instance.config);
        if (!opened.problem.empty()) {
            return opened.problem;
        }
    }
    TRY_ASSIGN(const AccountView view, load_account(turn, instance.account));
    if (view.account && !view.account->trading_enabled) {
        return std::string("Its account is disabled.");
    }
    if (view.account && !view.account->universe.contains(instance.symbol)) {
        return std::string("Its market is not in the approved universe.");
    }
    const MarketSet market = parts_.feed.facts(std::vector<Symbol>{instance.symbol});
    const MarketFacts* facts = market.find(instance.symbol);
    if (facts == nullptr || facts->status_halted) {
        return std::string("Its market cannot be traded now.");
    }
    return std::string();
}

ControlResult ControlService::result_of(const Attempt& attempt) {
    const ControlDecision& decision = attempt.decision;
    const ControlVerdict& verdict = attempt.verdict;
    ControlResult result;
    result.status = verdict.status;
    result.decision_id = decision.decision_id.text();
    result.concern_id = decision.concern_id.text();
    result.action = std::string(to_word(decision.action));
    result.from_strategy_id = verdict.from;
    result.to_strategy_id = verdict.to;
    result.risk_mode = verdict.risk_mode;
    if (!result.risk_mode && attempt.concern) {
        result.risk_mode = attempt.concern->risk_mode;
    }
    result.dry_run = decision.dry_run;
    result.validation = verdict.validation;
    result.warnings = verdict.warnings;
    result.errors = verdict.errors;
    result.result = change_json("none", false);
    return result;
}

Result<TurnReply> ControlService::carry_out(Turn& turn, Attempt& attempt) {
    if (attempt.decision.action == ControlAction::switch_strategy) {
        return begin_switch(turn, attempt);
    }
    if (attempt.concern->switching && attempt.decision.action == ControlAction::pause) {
        // A pause must not be lost to a hand-over that comes after it.
        TRY(roll_back(
            turn,
            *attempt.concern,
            Error{
                &errors::switch_interrupted, "A pause came before the switch was done.", {}, {}}));
        TRY_ASSIGN(attempt.concern, load_concern(turn, attempt.scope, attempt.decision.concern_id));
    }
    Concern concern = *attempt.concern;
    Json change = change_json("applied", true);
    switch (attempt.decision.action) {
        case ControlAction::pause: {
            TRY_ASSIGN(change, do_pause(turn, attempt, concern));
            break;
        }
        case ControlAction::resume: {
            TRY_ASSIGN(change, do_resume(turn, attempt));
            break;
        }
        case ControlAction::set_risk_mode:
        case ControlAction::switch_strategy:
            TRY(do_risk_mode(turn, attempt, concern));
            break;
    }
    ControlResult result = result_of(attempt);
    result.result = std::move(change);
    result.applied_at = turn.now();
    TRY_ASSIGN(
        std::string answer,
        record(
            turn,
            {.decision = attempt.decision,
             .payload = attempt.payload,
             .answer = encode(result),
             .status = ControlStatus::applied,
             .attempt = attempt.verdict.attempt}));
    return Answer{200, std::move(answer)};
}

Result<Json> ControlService::do_pause(Turn& turn, const Attempt& attempt, Concern& concern) {
    StrategyInstance next = *attempt.active;
    next.paused = true;
    next.last_transition = "paused by " + attempt.decision.decision_id.text();
    if (parts_.config.on_pause != OnPause::keep) {
        const bool all = parts_.config.on_pause == OnPause::cancel_all;
        TRY(parts_.loop.cancel_orders(
            turn,
            {.account = next.account,
             .decision_id = "sys_control",
             .which = [id = next.strategy_id, all](const OrderRecord& order) {
                 return order.strategy_id == id && (all || !order.is_reduce);
             }}));
    }
    Json open = Json::array();
    TRY_ASSIGN(const AccountView view, load_account(turn, next.account));
    if (const SymbolBook* book = find_book(view.books->books, concern.symbol)) {
        for (const OrderRecord& order : book->open) {
            if (order.strategy_id == next.strategy_id) {
                open.push(Json::object({
                    {"order_client_id", order.id().text()},
                    {"cancel_requested", order.cancel_requested},
                }));
            }
        }
    }
    reconcile_after(turn, parts_.runtime, next);
    save_instance(turn, std::move(next));
    Json change = change_json("applied", true);
    change.set("open_orders", std::move(open));
    return change;
}

Result<Json> ControlService::do_resume(Turn& turn, const Attempt& attempt) {
    StrategyInstance next = *attempt.active;
    next.paused = false;
    next.is_latched = false;
    next.fail_count = 0;
    next.last_error.clear();
    next.last_transition = "resumed by " + attempt.decision.decision_id.text();
    reconcile_after(turn, parts_.runtime, next);
    save_instance(turn, std::move(next));
    return change_json("applied", true);
}

Result<void> ControlService::do_risk_mode(Turn& turn, const Attempt& attempt, Concern& concern) {
    const RiskMode mode = *attempt.decision.risk_mode;
    const bool stops_entries = mode >= RiskMode::reduce_only;
    concern.risk_mode = mode;
    if (concern.switching) {
        concern.switching->risk_mode = std::max(concern.switching->risk_mode, mode);
    }
    if (stops_entries) {
        TRY(parts_.loop.cancel_orders(
            turn,
            {.account = concern.account,
             .decision_id = "sys_control",
             .which = [symbol = concern.symbol, mode](const OrderRecord& order) {
                 return order.symbol() == symbol && (mode == RiskMode::halted || !order.is_reduce);
             }}));
    }
    save_concern(turn, std::move(concern));
    return {};
}

Result<std::string> ControlService::record(Turn& turn, Record record) {
    AuditDraft draft = turn.draft("CONTROL_DECISION");
    draft.decision_id = record.decision.decision_id;
    draft.status = audit_status_of(record.status);
    draft.reason = record.decision.reason;
    draft.detail = Json::object({
        {"payload", record.payload},
        {"validation", *record.answer.find("validation")},
        {"status", to_word(record.status)},
        {"warnings", *record.answer.find("warnings")},
        {"errors", *record.answer.find("errors")},
        {"result", *record.answer.find("result")},
        {"override", record.decision.override_guards},
        {"dry_run", record.decision.dry_run},
        {"attempt", record.attempt},
        {"received_at", to_text(turn.now())},
        {"applied_at", *record.answer.find("applied_at")},
    });
    TRY(turn.audit(std::move(draft)));
    std::string text = to_text(record.answer);
    if (record.remember && !record.decision.dry_run) {
        std::shared_ptr<const ControlRow> before;
        if (record.attempt > 1) {
            TRY_ASSIGN(before, load_control_row(turn, record.decision.decision_id));
        }
        save_control_row(
            turn,
            record.decision.decision_id,
            {.history =
                 {.fingerprint = fingerprint(record.decision),
                  .status = record.status,
                  .attempts = record.attempt,
                  .answer = {}},
             .answer_text = text,
             .first_at = before ? before->first_at : turn.now(),
             .last_at = turn.now()});
    }
    return text;
}

Result<void> ControlService::set_account_strategy(
    Turn& turn, const StrategyInstance& instance, bool is_active) {
    TRY_ASSIGN(const AccountView view, parts_.loop.open_or_load(turn, instance.account));
    Account account = *view.account;
    if (is_active) {
        enter_strategy(account, instance);
    } else {
        leave_strategy(account, instance);
    }
    ++account.version;
    parts_.loop.put_account(turn, std::move(account));
    return {};
}

}  // namespace interlock
