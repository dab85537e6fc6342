// Judging and applying a control decision (docs/contracts/control-decision.md#rules).
#include <utility>

#include "base/canonical_json.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "trader/service/control_service.h"
#include "trader/service/control_shared.h"
#include "trader/wire/control_text.h"

namespace interlock {
namespace {

std::string text_of(const Json& payload, std::string_view key) {
    if (!payload.is_object()) {
        return {};
    }
    const Json* value = payload.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

// The longest decision there can be is shorter. What is longer is kept by its size and hash, so
// that refusals do not fill the ledger.
constexpr std::size_t kPayloadBytesMax = 16 * 1024;

Json told_by_hash(const Json& payload, const std::string& text) {
    Json told = Json::object({{"bytes", text.size()}, {"sha256", sha256_hex(text)}});
    for (const std::string_view key : {"decision_id", "concern_id", "action"}) {
        const std::string word = text_of(payload, key);
        if (!word.empty() && word.size() <= kIdLengthMax) {
            told.set(std::string(key), word);
        }
    }
    return told;
}

Error too_long(std::size_t bytes) {
    const std::string problem = "must have at most " + std::to_string(kPayloadBytesMax) +
                                " bytes, found " + std::to_string(bytes);
    return {
        &errors::invalid_payload,
        "document: " + problem,
        {},
        {{.path = "document", .problem = problem}}};
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
        .market_modes =
            [this](Turn& turn, const VenueAccount& account) { return market_modes(turn, account); },
        .warnings =
            [this](Turn& turn, const VenueAccount& account) { return warnings_of(turn, account); },
        .active_strategies =
            [this](Turn& turn, const VenueAccount& account) {
                return active_strategies(turn, account);
            },
        .instance_type = [](Turn& turn, const VenueAccount& account, const StrategyId& id)
            -> Result<std::string> {
            TRY_ASSIGN(const auto instance, load_any_instance(turn, scope_of(account), id));
            return instance ? instance->strategy_type : std::string();
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
    const std::string id = text_of(payload, "decision_id");
    const bool is_ours =
        id.starts_with(kBuiltinDecisionPrefix) || id.starts_with(kSystemDecisionPrefix) ||
        id.starts_with(kOperatorDecisionPrefix) || id.starts_with(kSupervisorDecisionPrefix);
    Result<Request> request = fail(
        errors::invalid_payload,
        "decision_id: ids that begin with auto., sys_, op_ or hermes. are the server's own.");
    if (!is_ours) {
        request = read_request(payload);
    }
    if (!request) {
        Error error = std::move(request).error();
        if (const std::string text = to_text(payload); text.size() > kPayloadBytesMax) {
            payload = told_by_hash(payload, text);
            error = too_long(text.size());
        }
        turn.decide = [this, payload = std::move(payload), error = std::move(error)](Turn& t) {
            return refuse_unreadable(t, payload, error);
        };
        return turn;
    }
    const auto read = std::make_shared<const Request>(*std::move(request));
    turn.decide = [this, read](Turn& t) { return apply(t, *read); };
    return turn;
}

Result<ControlService::Request> ControlService::read_request(const Json& payload) {
    Request request;
    TRY_ASSIGN(request.decision, decode_control_decision(payload));
    auto text = canonical_json(payload);
    if (!text) {  // The one number of a decision is one that no double is near.
        const std::string& problem = text.error().message;
        return std::unexpected(Error{
            &errors::invalid_confidence,
            "confidence: " + problem,
            {},
            {{.path = "confidence", .problem = problem}}});
    }
    request.payload_text = *std::move(text);
    request.fingerprint = fingerprint(request.decision);
    return request;
}

Result<TurnReply> ControlService::refuse_unreadable(
    Turn& turn, const Json& payload, const Error& error) {
    const ControlResult result = control_refusal(payload, error);
    const Json answer = encode(result);
    AuditDraft draft = turn.draft("CONTROL_DECISION");
    if (auto id = DecisionId::parse(result.decision_id)) {
        draft.decision_id = *std::move(id);
    }
    draft.status = AuditStatus::failed;
    draft.reason = error.message;
    draft.detail = Json::object({
        // Some numbers have no canonical form; then the text stands for what came.
        {"payload", canonical_json(payload) ? payload : Json(to_text(payload))},
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
    const auto request = read_request(payload);
    if (!request) {
        return refuse_unreadable(turn, payload, request.error());
    }
    return apply(turn, *request);
}

Result<TurnReply> ControlService::apply(Turn& turn, const Request& request) {
    Attempt attempt{.request = request, .decision = request.decision};
    TRY_ASSIGN(const ControlFacts facts, gather_facts(turn, attempt));
    attempt.verdict = judge_control(attempt.decision, facts);
    const ControlVerdict& verdict = attempt.verdict;
    if (verdict.status == ControlStatus::applied && !attempt.decision.dry_run) {
        return carry_out(turn, attempt);
    }
    ControlResult result = result_of(attempt);
    if (verdict.status == ControlStatus::applied) {
        result.result = change_json("simulated", false);
    } else if (verdict.is_duplicate) {
        TRY_ASSIGN(Json original, answer_of(turn, turn.tenant_id(), *attempt.row));
        result.result.set("original", std::move(original));
    }
    return settle(turn, attempt, result);
}

Result<ControlFacts> ControlService::gather_facts(Turn& turn, Attempt& attempt) {
    const ControlDecision& decision = attempt.decision;
    TRY_ASSIGN(const LoopMode mode, load_loop_mode(turn, turn.tenant_id()));
    attempt.scope = {turn.tenant_id(), mode.mode};
    TRY_ASSIGN(attempt.concern, load_concern(turn, attempt.scope, decision.concern_id));
    if (attempt.concern) {
        TRY_ASSIGN(attempt.account, load_account(turn, attempt.concern->account));
        if (attempt.concern->active_strategy_id) {
            TRY_ASSIGN(
                attempt.active,
                load_instance(turn, attempt.scope, *attempt.concern->active_strategy_id));
        }
    }
    if (decision.target_strategy_id) {
        TRY_ASSIGN(
            attempt.target, load_instance(turn, attempt.scope, *decision.target_strategy_id));
    }
    TRY_ASSIGN(attempt.row, load_control_row(turn, turn.tenant_id(), decision.decision_id));
    ControlFacts facts;
    if (attempt.target && decision.action == ControlAction::switch_strategy) {
        TRY_ASSIGN(facts.target_problem, problem_of(turn, *attempt.target));
    }
    if (attempt.active && decision.action == ControlAction::resume) {
        facts.target_problem = problem_on(attempt.account, *attempt.active);
    }
    facts.now = turn.now();
    facts.concern = attempt.concern.get();
    facts.active = attempt.active.get();
    facts.target = attempt.target.get();
    facts.kill_switch_active = parts_.latch.is_raised(turn.tenant_id());
    TRY_ASSIGN(facts.stop, stop_of(turn, attempt.account));
    if (attempt.concern) {
        TRY_ASSIGN(facts.asset_problem, asset_problem_of(turn, attempt.concern->symbol));
    }
    if (attempt.row) {
        facts.history = attempt.row->history;
    }
    facts.guards = parts_.config.guards;
    return facts;
}

Result<std::string> ControlService::asset_problem_of(Turn& turn, const Symbol& symbol) {
    const auto allowed = parts_.loop.check_assets(turn, {&symbol, 1});
    if (!allowed && allowed.error().http_status() >= 500) {
        return std::unexpected(allowed.error());
    }
    return allowed ? std::string() : std::string(symbol.text()) + " is not on this key's list.";
}

Result<std::string> ControlService::stop_of(Turn& turn, const AccountView& view) {
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
    TRY_ASSIGN(const AccountView view, load_account(turn, instance.account));
    return problem_on(view, instance);
}

std::string ControlService::problem_on(const AccountView& view, const StrategyInstance& instance) {
    if (!parts_.runtime.find(instance.account, instance.strategy_id)) {
        const OpenedStrategy opened = open_strategy(instance.strategy_type, instance.config);
        if (!opened.problem.empty()) {
            return opened.problem;
        }
    }
    if (view.account && !view.account->trading_enabled) {
        return "Its account is disabled.";
    }
    if (view.account && !view.account->universe.contains(instance.symbol)) {
        return "Its market is not in the approved universe.";
    }
    const MarketSet market = parts_.feed.facts(std::vector<Symbol>{instance.symbol});
    const MarketFacts* facts = market.find(instance.symbol);
    if (facts == nullptr || facts->status_halted) {
        return "Its market cannot be traded now.";
    }
    return {};
}

ControlResult ControlService::result_of(Attempt& attempt) {
    const ControlDecision& decision = attempt.decision;
    ControlVerdict& verdict = attempt.verdict;
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
    result.warnings = std::move(verdict.warnings);
    result.errors = std::move(verdict.errors);
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
    Json change = change_json("applied", true);
    switch (attempt.decision.action) {
        case ControlAction::pause: {
            TRY_ASSIGN(change, do_pause(turn, attempt));
            break;
        }
        case ControlAction::resume: {
            TRY_ASSIGN(change, do_resume(turn, attempt));
            break;
        }
        case ControlAction::set_risk_mode:
        case ControlAction::switch_strategy:
            TRY(do_risk_mode(turn, attempt));
            break;
    }
    ControlResult result = result_of(attempt);
    result.result = std::move(change);
    result.applied_at = turn.now();
    return settle(turn, attempt, result);
}

Result<Json> ControlService::do_pause(Turn& turn, const Attempt& attempt) {
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
    if (const SymbolBook* book = find_book(view.books->books, next.symbol)) {
        for (const OrderRecord& order : book->open) {
            if (order.strategy_id == next.strategy_id) {
                open.push(Json::object({
                    {"order_client_id", order.id().text()},
                    {"cancel_requested", order.cancel_requested},
                }));
            }
        }
    }
    const VenueAccount account = next.account;
    save_and_reconcile(turn, parts_.runtime, std::move(next));
    TRY(settle_blocks(turn, account, parts_.runtime.keeper()));
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
    save_and_reconcile(turn, parts_.runtime, std::move(next));
    return change_json("applied", true);
}

Result<void> ControlService::do_risk_mode(Turn& turn, const Attempt& attempt) {
    Concern concern = *attempt.concern;
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

Result<Answer> ControlService::settle(
    Turn& turn, const Attempt& attempt, const ControlResult& result) {
    const ControlVerdict& verdict = attempt.verdict;
    TRY_ASSIGN(
        std::string detail,
        detail_text(
            {.result = result,
             .payload = attempt.request.payload_text,
             .override_guards = attempt.decision.override_guards,
             .attempt = verdict.attempt,
             .received_at = turn.now()}));
    std::string answer = answer_text(result);
    TRY(record(
        turn,
        {.tenant_id = attempt.scope.tenant_id,
         .decision = attempt.decision,
         .fingerprint = attempt.request.fingerprint,
         .detail = std::move(detail),
         .answer = answer,
         .status = result.status,
         .attempt = verdict.attempt,
         // A repeated or conflicting id leaves the first word standing; so does a switch that is
         // still under way under this very id.
         .remember = !verdict.is_duplicate && !has_error(result, errors::decision_id_conflict) &&
                     !has_error(result, errors::switch_in_progress)}));
    return Answer{200, std::move(answer)};
}

Result<void> ControlService::record(Turn& turn, Record record) {
    AuditDraft draft = turn.draft("CONTROL_DECISION");
    draft.tenant_id = record.tenant_id;
    draft.decision_id = record.decision.decision_id;
    draft.status = audit_status_of(record.status);
    draft.reason = record.decision.reason;
    draft.detail_text = std::move(record.detail);
    TRY(turn.audit(std::move(draft)));
    if (!record.remember || record.decision.dry_run) {
        return {};
    }
    save_control_row(
        turn,
        record.tenant_id,
        record.decision.decision_id,
        {.history =
             {.fingerprint = record.fingerprint,
              .status = record.status,
              .attempts = record.attempt},
         .seq = turn.head_of(record.tenant_id).seq,
         .answer_text = std::move(record.answer)});
    return {};
}

}  // namespace interlock
