// EXECUTE: orders are written ahead, then asked for as effects
// (docs/contracts/agent-loop.md#order-ids).
#include <algorithm>

#include "base/errors.h"
#include "codec/error_json.h"
#include "loop/rules/dry_run/hints.h"
#include "loop/rules/order_identity.h"
#include "loop/rules/order_terms.h"
#include "loop/service/loop_service.h"

namespace interlock {
namespace {

SymbolBook& book_of(AccountBooks& books, const MarketRules& rules) {
    auto& list = books.books;
    const auto place = std::lower_bound(
        list.begin(), list.end(), rules.symbol, [](const SymbolBook& book, const Symbol& symbol) {
            return book.symbol < symbol;
        });
    if (place != list.end() && place->symbol == rules.symbol) {
        return *place;
    }
    SymbolBook book;
    book.symbol = rules.symbol;
    book.base = rules.base;
    book.quote = rules.quote;
    return *list.insert(place, std::move(book));
}

Json order_effect(const Decision& decision, const VenueOrderRequest& request) {
    return Json::object({
        {"decision_id", decision.decision_id.text()},
        {"tick_id", decision.tick_id.text()},
        {"request", encode(request)},
    });
}

Json cancel_effect(const Decision& decision, const OrderRecord& order) {
    return Json::object({
        {"decision_id", decision.decision_id.text()},
        {"tick_id", decision.tick_id.text()},
        {"account", encode(decision.account)},
        {"symbol", order.symbol().text()},
        {"order_client_id", order.id().text()},
    });
}

Execution row_of(const OrderRecord& order) {
    Execution row;
    row.intent_id = order.intent_id;
    row.order_client_id = order.id();
    row.symbol = order.symbol();
    return row;
}

// The cancels stand in it only where there are any.
Json attempt_detail(const Decision& decision, Json orders) {
    Json detail =
        Json::object({{"orders", std::move(orders)}, {"mode", to_word(decision.account.mode)}});
    if (!decision.cancels.empty()) {
        Json rows = Json::array();
        for (const CancelRow& row : decision.cancels) {
            rows.push(Json::object(
                {{"order_client_id", row.order_client_id.text()}, {"status", row.status}}));
        }
        detail.set("cancels", std::move(rows));
    }
    return detail;
}

// A plan that no longer passes is answered as validation does: all reasons with what would pass;
// the kill switch first and by its name, so that nobody plans anew against it.
Json refused_execution(Error error, const std::string& audit_ref, const GateInput& input) {
    std::vector<Hint> hints;
    if (error == errors::gate_recheck_failed) {
        hints = gate_hints(input, run_gates(input));
    }
    for (const Hint& hint : hints) {
        error.problems.push_back({hint.reason, hint.text});
    }
    if (!hints.empty() && is_of_kill_switch(hints.front().reason)) {
        error.next_step = hints.front().text;
    }
    Json answer = tool_error_answer(error, audit_ref);
    answer.set("execution", Json::array());
    if (!hints.empty()) {
        answer.set("hints", encode(hints));
    }
    return answer;
}

const SymbolBook* book_with(const AccountBooks& books, const OrderClientId& id) {
    for (const SymbolBook& book : books.books) {
        if (book.find(id) != nullptr) {
            return &book;
        }
    }
    return nullptr;
}

}  // namespace

TurnRequest LoopService::execute_turn(Caller caller, ExecutePlanRequest request, Reply reply) {
    TurnRequest turn =
        tool_turn(std::move(caller), "py_execute_plan", request.call, std::move(reply));
    turn.answer_life = std::nullopt;  // Forever.
    turn.decide = [this, request = std::move(request)](Turn& t) { return run_execute(t, request); };
    return turn;
}

Result<TurnReply> LoopService::run_execute(Turn& turn, const ExecutePlanRequest& request) {
    const ToolCall& call = request.call;
    const auto no = [&](const ErrorKind& kind, std::string message) {
        return refuse(turn, call, fail(kind, std::move(message)).error(), AuditStep::execute);
    };
    if (parts_.runner.effects_in_flight() >= kEffectsInFlightMax) {
        auto refusal = fail(errors::overloaded, "Too many effects are under way.");
        refusal.error().retry_after_seconds = 1;
        return refusal;
    }
    TRY_ASSIGN(const LoopMode mode, load_loop_mode(turn, turn.tenant_id()));
    if (request.mode == TradeMode::live && !mode.live_enabled) {
        return no(errors::live_not_enabled, "Live trading is not enabled for this tenant.");
    }
    if (request.mode != mode.mode) {
        return no(
            errors::mode_mismatch,
            "This tenant runs in " + std::string(to_word(mode.mode)) + " mode.");
    }
    TRY_ASSIGN(const auto before, load_decision(turn, turn.tenant_id(), call.decision_id));
    if (!before) {
        return no(errors::gate_not_passed, "Nothing was validated under this decision_id.");
    }
    if (const auto same = require_tick(*before, call.tick_id); !same) {
        return refuse(turn, call, same.error(), AuditStep::execute);
    }
    if (auto why = why_not_executable(*before, {.plan = request.plan, .now = turn.now()})) {
        why->message.insert(0, kill_switch_words(before->validation));
        return refuse(turn, call, *why, AuditStep::execute);
    }
    if (before->account.mode != request.mode) {
        return no(errors::mode_mismatch, "The plan was validated in another mode.");
    }
    auto gathered = gather(turn, before->account, before->plan);
    if (!gathered) {
        return refuse(turn, call, gathered.error(), AuditStep::execute);
    }
    if (const auto allowed = check_opened(turn, before->plan, *gathered); !allowed) {
        return refuse(turn, call, allowed.error(), AuditStep::execute);
    }
    TRY(keep_inputs(turn, *gathered));
    Decision decision = *before;
    if (const auto executed = execute_step(turn, decision, *gathered); !executed) {
        if (decision.stage != DecisionStage::rejected) {
            return std::unexpected(executed.error());  // Not a no: nothing of this turn may stay.
        }
        Json answer = refused_execution(
            executed.error(), decision.audit_ref, gate_input(decision, *gathered));
        save_decision(turn, std::move(decision));
        return Answer{200, to_text(answer), !executed.error().retryable()};
    }
    if (is_answered(decision)) {
        TRY(answer_execution(turn, decision));
        const std::string text = to_text(execution_answer(decision));
        save_decision(turn, std::move(decision));
        return Answer{200, text};
    }
    const OpenOperation operation = turn.open_operation();
    decision.operation = encode(operation);
    save_decision(turn, std::move(decision));
    return StillRunning{operation.operation_id};
}

namespace {

// Says that an order of the plan exists already. A failure is the store's, no verdict on the plan.
Result<std::optional<Error>> why_taken(Turn& turn, const Decision& decision) {
    for (const Intent& intent : decision.plan.intents) {
        const OrderClientId id = derive_order_client_id(decision.decision_id, intent);
        TRY_ASSIGN(const auto taken, load_order(turn, decision.account, id));
        if (taken) {
            return fail(errors::order_client_id_taken, "An order " + id.text() + " exists already.")
                .error();
        }
    }
    return std::optional<Error>();
}

}  // namespace

namespace {

Error recheck_failed(const GateInput& input, const GateReport& report) {
    Error error = fail(errors::gate_recheck_failed, to_text(report.breaches.front())).error();
    const bool is_killed =
        std::any_of(report.breaches.begin(), report.breaches.end(), [](const Breach& breach) {
            return is_of_kill_switch(to_text(breach));
        });
    if (input.from_outside && is_killed) {
        error.message = std::string(kKillSwitchWords) + "Nothing was sent: " + error.message + ".";
    }
    return error;
}

}  // namespace

// The orders of the plan, reserved in account and books; an Error says why none may be sent.
Result<std::vector<OrderRecord>> LoopService::reserve_orders(
    Turn& turn, const Decision& decision, const Gathered& facts, Reserved& reserved) {
    std::vector<OrderRecord> orders;
    for (const Intent& intent : decision.plan.intents) {
        OrderRecord order = new_order(
            {.account = decision.account,
             .decision_id = decision.decision_id,
             .tick_id = decision.tick_id,
             .at = turn.now()},
            intent);
        const MarketFacts* market = facts.market.find(intent.symbol);
        if (market == nullptr) {
            return fail(errors::unknown_symbol, "There is no market for a planned symbol.");
        }
        TRY_ASSIGN(order.reserve_price, reserve_price(intent, market, reserved.account.limits));
        order.touch_price = touch_price(intent, market);
        order = step_order(std::move(order), OrderSent{}, turn.now()).order;
        TRY(reserve_order(reserved.account, book_of(reserved.books, market->rules), order));
        orders.push_back(std::move(order));
    }
    return orders;
}

Result<void> LoopService::reject_execution(
    Turn& turn, Decision& decision, const Gathered& facts, const Error& error) {
    TRY(audit_step(
        turn,
        decision,
        {.event = "EXECUTION_ATTEMPT",
         .step = AuditStep::execute,
         .status = AuditStatus::failed,
         .reason = error.message,
         .detail = Json::object({{"code", error.code()}}),
         .artifacts = {facts.inputs.state_ref, facts.inputs.market_ref}}));
    TRY(audit_step(
        turn,
        decision,
        {.event = "ACTION_REJECTED",
         .step = AuditStep::execute,
         .status = AuditStatus::failed,
         .reason = error.message}));
    decision.stage = DecisionStage::rejected;
    decision.gate_ticket.reset();
    decision.dry_run_ticket.reset();
    TRY(record_step(turn, decision, AuditStatus::skipped));
    return std::unexpected(error);
}

Result<void> LoopService::execute_step(Turn& turn, Decision& decision, const Gathered& facts) {
    decision.execute_inputs = facts.inputs;
    const GateReport recheck = run_gates(gate_input(decision, facts));
    if (!recheck.pass) {
        return reject_execution(
            turn, decision, facts, recheck_failed(gate_input(decision, facts), recheck));
    }
    Reserved reserved{*facts.view.account, *facts.view.books};
    if (reserved.books.unverified.size() >= kUnverifiedMax) {
        return reject_execution(
            turn,
            decision,
            facts,
            fail(errors::overloaded, "Too many executions wait for the venue's word.").error());
    }
    TRY_ASSIGN(const std::optional<Error> taken, why_taken(turn, decision));
    if (taken) {
        return reject_execution(turn, decision, facts, *taken);
    }
    auto orders = reserve_orders(turn, decision, facts, reserved);
    if (!orders) {
        return reject_execution(turn, decision, facts, orders.error());
    }
    // Before anything is staged: an Error of it must leave no order behind.
    if (const auto noted = note_execution(turn, decision, facts, reserved.account); !noted) {
        return reject_execution(turn, decision, facts, noted.error());
    }
    for (const OrderRecord& order : *orders) {
        save_order(turn, order);
        decision.execution.push_back(row_of(order));
    }
    for (const OrderClientId& id : decision.plan.cancels) {
        TRY(write_cancel(turn, decision, reserved.books, id));
    }
    TRY(audit_step(
        turn,
        decision,
        {.event = "EXECUTION_ATTEMPT",
         .step = AuditStep::execute,
         .status = AuditStatus::started,
         .reason = "orders written ahead of the send",
         .detail = attempt_detail(decision, encode_execution(decision)),
         .artifacts = {facts.inputs.state_ref, facts.inputs.market_ref}}));
    for (const OrderRecord& order : *orders) {
        turn.effect({
            .kind = std::string(kOrderEffect),
            .json = order_effect(decision, order.request),
            .delivery = Delivery::at_most_once,
        });
    }
    decision.stage = DecisionStage::executing;
    decision.executed_at = turn.now();
    put_account(turn, std::move(reserved.account));
    save_books(turn, decision.account, std::move(reserved.books));
    return {};
}

Result<void> LoopService::enter_strategy(Turn& turn, Account& account, const StrategyId& id) {
    if (account.strategies.contains(id)) {
        return {};
    }
    // Entries of ours that hold nothing any more make room; those of outside planners are people's.
    std::erase_if(account.strategies, [&](const auto& entry) {
        const StrategyRecord& record = entry.second;
        return record.type != "external" && !record.is_disabled &&
               aggressive_in_window(account, record, turn.now()) == 0;
    });
    if (account.strategies.size() >= kStrategiesMax) {
        return fail(errors::overloaded, "This account counts as many strategies as it can.");
    }
    TRY_ASSIGN(const std::string type, instance_type(turn, account.key, id));
    if (!type.empty()) {
        account.strategies[id].type = type;
    }
    return {};
}

Result<void> LoopService::note_execution(
    Turn& turn, Decision& decision, const Gathered& facts, Account& account) {
    std::vector<StrategyId> aggressive;
    for (const Intent& intent : decision.plan.intents) {
        if (decision.from_outside) {
            TRY(remember_intent(
                account,
                {.symbol = intent.symbol,
                 .side = intent.side,
                 .qty = intent.qty,
                 .limit_price = intent.limit_price,
                 .decision_id = decision.decision_id,
                 .at = turn.now()}));
        }
        const bool is_new =
            std::find(aggressive.begin(), aggressive.end(), intent.strategy_id) == aggressive.end();
        if (is_new && is_aggressive(intent, facts.market.find(intent.symbol), account.limits)) {
            aggressive.push_back(intent.strategy_id);
        }
    }
    for (const StrategyId& strategy_id : aggressive) {
        TRY(enter_strategy(turn, account, strategy_id));
        if (note_aggressive(account, strategy_id, turn.now())) {
            TRY(audit_step(
                turn,
                decision,
                {.event = "STRATEGY_DISABLED",
                 .step = AuditStep::control,
                 .status = AuditStatus::failed,
                 .reason = "repeated execution: " + strategy_id.text() +
                           " may only reduce and cancel until a human re-enables it",
                 .severity = AuditSeverity::critical}));
        }
    }
    return {};
}

Result<void> LoopService::write_cancel(
    Turn& turn, Decision& decision, AccountBooks& books, const OrderClientId& id) {
    CancelRow row{.order_client_id = id};
    if (const SymbolBook* book = book_with(books, id)) {
        SymbolBook& mine = *find_book(books.books, book->symbol);
        OrderRecord order = step_order(*mine.find(id), CancelRequested{}, turn.now()).order;
        turn.effect({
            .kind = std::string(kCancelKind),
            .json = cancel_effect(decision, order),
            .delivery = Delivery::repeatable,
            .life = Duration::of_days(365),
        });
        TRY(put_order(mine, std::move(order)));
    } else {
        TRY_ASSIGN(const auto known, load_order(turn, decision.account, id));
        row.status = known ? "not_open" : "unknown_order";
    }
    decision.cancels.push_back(std::move(row));
    return {};
}

}  // namespace interlock
