// The reading tools (docs/contracts/agent-loop.md#tools), verification and record on request, and
// the views people and the command line have.
#include <algorithm>

#include "base/canonical_json.h"
#include "base/errors.h"
#include "codec/error_json.h"
#include "codec/field_reader.h"
#include "codec/json_list.h"
#include "loop/rules/canonical_state.h"
#include "loop/service/loop_service.h"

namespace interlock {
namespace {

// A plan that names every approved market, so that its facts are gathered.
Plan universe_plan(const std::set<Symbol>& universe) {
    Plan plan;
    for (const Symbol& symbol : universe) {
        Intent intent;
        intent.symbol = symbol;
        plan.intents.push_back(std::move(intent));
    }
    return plan;
}

// How far a caller's clock may be off before it is told.
constexpr Duration kAsOfTolerance = Duration::of_seconds(60);

Json one_error(const ErrorKind& kind, std::string message) {
    return encode(fail(kind, std::move(message)).error());
}

}  // namespace

TurnRequest LoopService::state_turn(Caller caller, CanonicalStateRequest request, Reply reply) {
    TurnRequest turn =
        tool_turn(std::move(caller), "py_get_canonical_state", request.call, std::move(reply));
    turn.answer_life = kReadAnswerLife;
    turn.decide = [this, request = std::move(request)](Turn& t) { return run_state(t, request); };
    return turn;
}

Result<Json> LoopService::read_state(Turn& turn, const VenueAccount& account) {
    TRY_ASSIGN(const AccountView view, open_or_load(turn, account));
    TRY_ASSIGN(const Gathered facts, gather(turn, account, universe_plan(view.account->universe)));
    return canonical_state({
        .state = facts.state,
        .account = *facts.view.account,
        .books = facts.view.books->books,
        .market = facts.market,
    });
}

Result<TurnReply> LoopService::run_state(Turn& turn, const CanonicalStateRequest& request) {
    TRY_ASSIGN(const VenueAccount account, account_of(turn, request.call.account_id));
    auto state = read_state(turn, account);
    if (!state) {
        return refuse(turn, request.call, state.error(), AuditStep::plan);
    }
    // Only the present is held. Who asks for another moment is given it and told so.
    Json problems = Json::array();
    if (request.as_of < turn.now() - kAsOfTolerance ||
        request.as_of > turn.now() + kAsOfTolerance) {
        problems.push(one_error(
            errors::as_of_not_held,
            "You asked for the state as of " + to_text(request.as_of) + "; this is that of " +
                to_text(turn.now()) + "."));
    }
    AuditDraft draft = turn.draft("STATE_READ");
    draft.decision_id = request.call.decision_id;
    draft.tick_id = request.call.tick_id;
    draft.step = AuditStep::plan;
    draft.detail.set("as_of", to_text(request.as_of));
    TRY_ASSIGN(const std::string ref, turn.audit(std::move(draft)));
    return Answer{
        200,
        to_text(Json::object({
            {"status", "ok"},
            {"state", *std::move(state)},
            {"errors", std::move(problems)},
            {"audit_ref", ref},
        }))};
}

TurnRequest LoopService::snapshot_turn(Caller caller, MarketSnapshotRequest request, Reply reply) {
    TurnRequest turn =
        tool_turn(std::move(caller), "py_get_market_snapshot", request.call, std::move(reply));
    turn.answer_life = kReadAnswerLife;
    turn.decide = [this, request = std::move(request)](Turn& t) {
        return run_snapshot(t, request);
    };
    return turn;
}

Result<TurnReply> LoopService::run_snapshot(Turn& turn, const MarketSnapshotRequest& request) {
    const MarketSet set = parts_.feed.facts(request.symbols);
    Json market = Json::array();
    Json problems = Json::array();
    std::size_t fresh = 0;
    for (const Symbol& symbol : request.symbols) {
        const MarketFacts* facts = set.find(symbol);
        if (facts == nullptr) {
            problems.push(one_error(
                errors::unknown_symbol, "There is no market " + std::string(symbol.text()) + "."));
            continue;
        }
        if (staleness_seconds_of(*facts, turn.now()) > request.max_staleness_sec) {
            problems.push(one_error(
                errors::stale_market_data,
                "The data of " + std::string(symbol.text()) + " is older than asked for."));
        } else {
            ++fresh;
        }
        market.push(market_entry(*facts, turn.now()));
    }
    AuditDraft draft = turn.draft("MARKET_READ");
    draft.decision_id = request.call.decision_id;
    draft.tick_id = request.call.tick_id;
    draft.step = AuditStep::plan;
    draft.detail.set("symbols", request.symbols.size());
    TRY_ASSIGN(const std::string ref, turn.audit(std::move(draft)));
    const bool ok = fresh > 0 || request.symbols.empty();
    return Answer{
        200,
        to_text(Json::object({
            {"status", ok ? "ok" : "error"},
            {"market", std::move(market)},
            {"errors", std::move(problems)},
            {"audit_ref", ref},
        }))};
}

TurnRequest LoopService::verify_turn(Caller caller, VerifyExecutionRequest request, Reply reply) {
    TurnRequest turn =
        tool_turn(std::move(caller), "py_verify_execution", request.call, std::move(reply));
    turn.answer_life = kReadAnswerLife;
    turn.decide = [this, request = std::move(request)](Turn& t) { return run_verify(t, request); };
    return turn;
}

Result<TurnReply> LoopService::run_verify(Turn& turn, const VerifyExecutionRequest& request) {
    const ToolCall& call = request.call;
    TRY_ASSIGN(const VenueAccount account, account_of(turn, call.account_id));
    TRY_ASSIGN(const auto decision, load_decision(turn, turn.tenant_id(), call.decision_id));
    if (decision) {
        if (const auto same = require_tick(*decision, call.tick_id); !same) {
            return refuse(turn, call, same.error(), AuditStep::verify);
        }
    }
    TRY_ASSIGN(
        const std::vector<OrderRecord> records,
        records_of(turn, account, request.order_client_ids));
    if (records.size() != request.order_client_ids.size() || records.empty()) {
        return refuse(
            turn,
            call,
            fail(
                errors::unknown_order,
                "At least one order_client_id is not an order of this account.")
                .error(),
            AuditStep::verify);
    }
    if (parts_.runner.effects_in_flight() >= kEffectsInFlightMax) {
        auto refusal = fail(errors::overloaded, "Too many effects are under way.");
        refusal.error().retry_after_seconds = 1;
        return refusal;
    }
    const OpenOperation operation = turn.open_operation();
    Json ids = Json::array();
    for (const OrderClientId& id : request.order_client_ids) {
        ids.push(id.text());
    }
    TRY(ask_venue(
        turn,
        account,
        {.cause = AskCause::tool,
         .ids = request.order_client_ids,
         .operation = Json::object({
             {"operation", encode(operation)},
             {"order_client_ids", std::move(ids)},
             {"decision_id", call.decision_id.text()},
             {"tick_id", call.tick_id.text()},
         })}));
    return StillRunning{operation.operation_id};
}

// The answer to py_verify_execution, once the venue's word is in our books.
Result<void> LoopService::answer_verification(
    Turn& turn, const VenueAccount& account, const VenueWord& word) {
    FieldReader in(word.request);
    VerifyInput input;
    std::vector<OrderClientId> ids;
    for (const Json& item : in.required_array("order_client_ids", kVerifyOrdersMax)) {
        TRY_ASSIGN(
            OrderClientId id, OrderClientId::parse(item.is_string() ? item.as_string() : ""));
        ids.push_back(std::move(id));
    }
    TRY_ASSIGN(input.orders, records_of(turn, account, ids));
    for (const OrderAnswer& answer : word.answers) {
        if (std::find(ids.begin(), ids.end(), answer.order_client_id) != ids.end()) {
            input.answers.push_back(answer);
        }
    }
    if (word.answers.empty()) {
        // The venue could not be reached: that says nothing of any order (I4).
        for (const OrderClientId& id : ids) {
            input.answers.push_back({.order_client_id = id, .order = {}, .fills = {}});
        }
    }
    input.drift = word.drift;
    input.now = turn.now();
    const Verification verification = verify_orders(input);
    AuditDraft draft = turn.draft("VERIFICATION_RESULT");
    draft.tenant_id = account.tenant_id;
    draft.actor = AuditActor::python;
    draft.decision_id = in.required<DecisionId>("decision_id");
    draft.tick_id = in.required<TickId>("tick_id");
    draft.step = AuditStep::verify;
    draft.status =
        verification.overall == VerifyOutcome::matched ? AuditStatus::passed : AuditStatus::failed;
    draft.reason = to_word(verification.overall);
    TRY_ASSIGN(const std::string ref, turn.audit(std::move(draft)));
    const Json* open = in.required_object("operation");
    if (open == nullptr) {
        return fail(errors::corrupt_data, "A verification has no call that waits for it.");
    }
    TRY_ASSIGN(const OpenOperation operation, decode_open_operation(*open));
    turn.complete(
        operation,
        Answer{
            200,
            to_text(Json::object({
                {"status", "ok"},
                {"verification", encode(verification)},
                {"errors", Json::array()},
                {"audit_ref", ref},
            }))});
    return {};
}

TurnRequest LoopService::record_turn(Caller caller, RecordDecisionRequest request, Reply reply) {
    TurnRequest turn =
        tool_turn(std::move(caller), "py_record_decision", request.call, std::move(reply));
    turn.decide = [this, request = std::move(request)](Turn& t) { return run_record(t, request); };
    return turn;
}

Result<TurnReply> LoopService::run_record(Turn& turn, const RecordDecisionRequest& request) {
    const ToolCall& call = request.call;
    TRY_ASSIGN(const auto stored, load_decision(turn, turn.tenant_id(), call.decision_id));
    if (!stored) {
        return refuse(
            turn,
            call,
            fail(errors::unknown_decision, "Nothing was planned under this decision_id.").error(),
            AuditStep::record);
    }
    if (const auto same = require_tick(*stored, call.tick_id); !same) {
        return refuse(turn, call, same.error(), AuditStep::record);
    }
    Decision decision = *stored;
    auto text = canonical_json(request.record);
    if (!text) {
        return refuse(turn, call, text.error(), AuditStep::record);
    }
    const std::string ref = turn.put_artifact(*std::move(text));
    decision.record = request.record;
    TRY(audit_step(
        turn,
        decision,
        {.event = "DECISION_RECORDED",
         .step = AuditStep::record,
         .reason = "the planner's own account of it",
         .artifacts = {ref},
         .by_planner = true}));
    const std::string ledger_ref = decision.ledger_ref.empty() ? ref : decision.ledger_ref;
    const std::string audit_ref = decision.audit_ref;
    save_decision(turn, std::move(decision));
    return Answer{
        200,
        to_text(Json::object({
            {"status", "ok"},
            {"ledger_ref", ledger_ref},
            {"audit_ref", audit_ref},
            {"errors", Json::array()},
        }))};
}

// Those with an entry in the account, and those of ours that are active without one.
Result<Json> LoopService::read_strategies(Turn& turn, const Account& account) {
    TRY_ASSIGN(const std::vector<StrategyId> active, active_strategies(turn, account.key));
    std::map<StrategyId, StrategyRecord> records = account.strategies;
    for (auto& [id, record] : records) {
        record.is_active = record.is_active && record.type == "external";
    }
    for (const StrategyId& id : active) {
        StrategyRecord& record = records[id];
        record.is_active = true;
        TRY_ASSIGN(record.type, instance_type(turn, account.key, id));
    }
    Json strategies = Json::array();
    for (const auto& [id, record] : records) {
        strategies.push(Json::object({
            {"strategy_id", id.text()},
            {"type", record.type},
            {"is_active", record.is_active},
            {"is_disabled", record.is_disabled},
            {"disabled_reason", record.disabled_reason},
        }));
    }
    return strategies;
}

TurnRequest LoopService::account_turn(Caller caller, AccountId account_id, Reply reply) {
    TurnRequest turn;
    turn.tenant_id = std::move(caller.tenant_id);
    turn.principal = std::move(caller.principal);
    turn.function = "get_account";
    turn.reply = std::move(reply);
    turn.decide = [this, account_id = std::move(account_id)](Turn& t) -> Result<TurnReply> {
        TRY_ASSIGN(const VenueAccount account, account_of(t, account_id));
        TRY_ASSIGN(Json state, read_state(t, account));
        TRY_ASSIGN(const AccountView view, load_account(t, account));
        state.set("recovery", encode(view.account->recovery));
        state.set("tier", encode(view.account->tier));
        TRY_ASSIGN(Json strategies, read_strategies(t, *view.account));
        state.set("strategies", std::move(strategies));
        TRY_ASSIGN(const auto blocked, why_blocked(t, account));
        state.set("blocked", encode(blocked));
        TRY_ASSIGN(const auto warnings, warnings_of(t, account));
        state.set("warnings", json_list(warnings));
        return Answer{200, to_text(state)};
    };
    return turn;
}

TurnRequest LoopService::decision_turn(Caller caller, DecisionId decision_id, Reply reply) {
    TurnRequest turn;
    turn.tenant_id = std::move(caller.tenant_id);
    turn.principal = std::move(caller.principal);
    turn.function = "get_decision";
    turn.reply = std::move(reply);
    turn.decide = [decision_id = std::move(decision_id)](Turn& t) -> Result<TurnReply> {
        TRY_ASSIGN(const auto decision, load_decision(t, t.tenant_id(), decision_id));
        if (!decision) {
            return fail(errors::unknown_decision, "Nothing was planned under this decision_id.");
        }
        Json json = replay_record(*decision);
        json.set("stage", to_word(decision->stage));
        json.set("attempt", decision->attempt);
        json.set("account", encode(decision->account));
        json.set("planner", decision->planner);
        json.set("planner_record", decision->record);
        json.set("ledger_ref", decision->ledger_ref);
        json.set("audit_ref", decision->audit_ref);
        return Answer{200, to_text(json)};
    };
    return turn;
}

}  // namespace interlock
