// What orders and cancels came to: each outcome of an effect steps its order, books its fills and,
// when it was the last one, answers the call that asked (agent-loop.md#verification).
#include <algorithm>

#include "account/wire/booked_fill.h"
#include "base/errors.h"
#include "codec/error_json.h"
#include "codec/field_reader.h"
#include "engine/ports/effect_sink.h"
#include "loop/service/loop_service.h"
#include "loop/service/trade_reads.h"

namespace interlock {
namespace {

struct OrderEffect {
    DecisionId decision_id;
    VenueOrderRequest request;
};

Result<OrderEffect> decode_order_effect(const std::string& text) {
    TRY_ASSIGN(const Json json, parse_json(text));
    FieldReader in(json);
    OrderEffect effect;
    effect.decision_id = in.required<DecisionId>("decision_id");
    if (const Json* request = in.required_object("request")) {
        TRY_ASSIGN(effect.request, decode_venue_order_request(*request));
    }
    return in.finish(std::move(effect));
}

struct CancelEffect {
    DecisionId decision_id;
    VenueAccount account;
    Symbol symbol;
    OrderClientId id;
};

Result<CancelEffect> decode_cancel_effect(const std::string& text) {
    TRY_ASSIGN(const Json json, parse_json(text));
    FieldReader in(json);
    CancelEffect effect;
    effect.decision_id = in.required<DecisionId>("decision_id");
    effect.id = in.required<OrderClientId>("order_client_id");
    if (const Json* account = in.required_object("account")) {
        TRY_ASSIGN(effect.account, decode_venue_account(*account));
    }
    TRY_ASSIGN(effect.symbol, Symbol::parse(in.required<std::string>("symbol")));
    return in.finish(std::move(effect));
}

// The venue's word for a refusal stands before the first colon of the message.
std::string reject_code(const EffectOutcome& outcome) {
    const std::size_t colon = outcome.error_message.find(':');
    const bool worded = outcome.error_code == errors::effect_refused.code &&
                        colon != std::string::npos && colon <= 40 &&
                        outcome.error_message.find(' ') > colon;
    return worded ? outcome.error_message.substr(0, colon) : outcome.error_code;
}

std::string submit_status(const EffectOutcome& outcome) {
    switch (outcome.fate) {
        case EffectFate::done:
            return "acked";
        case EffectFate::refused:
        case EffectFate::never_arrived:
            return "rejected";
        case EffectFate::unknown:
            break;
    }
    return outcome.error_code == errors::venue_timeout.code ? "timeout" : "unknown";
}

// What a reader of the log wants to know of an order.
void tell_order(Json& detail, const OrderRecord& order) {
    const VenueOrderRequest& request = order.request;
    detail.set("account", encode(request.account));
    detail.set("symbol", order.symbol().text());
    detail.set("side", to_word(request.side));
    detail.set("qty", to_text(request.qty));
    detail.set("limit_price", request.limit_price ? Json(to_text(*request.limit_price)) : Json());
}

std::string_view order_event(EffectFate fate) {
    switch (fate) {
        case EffectFate::done:
            return "ORDER_ACKED";
        case EffectFate::refused:
            return "ORDER_REJECTED";
        case EffectFate::never_arrived:
            return "ORDER_NEVER_ARRIVED";
        case EffectFate::unknown:
            break;
    }
    return "ORDER_UNKNOWN";
}

}  // namespace

Result<void> LoopService::record_fill(
    Turn& turn, const OrderRecord& order, const BookedTrade& trade) {
    AuditDraft draft = turn.draft(std::string(kFillBookedEvent));
    draft.tenant_id = order.request.account.tenant_id;
    draft.actor = AuditActor::python;
    draft.decision_id = order.decision_id;
    draft.tick_id = order.tick_id;
    draft.step = AuditStep::verify;
    draft.detail = encode(BookedFill{order.request.account, trade.fill, trade.third_fee_price});
    draft.detail.set("realized", to_text(trade.realized));
    draft.detail.set("fee_quote", to_text(trade.fee_quote));
    TRY(turn.audit(std::move(draft)));
    return {};
}

Result<void> LoopService::book_fills(
    Turn& turn, Reserved& next, OrderRecord& order, const std::vector<VenueFill>& fills) {
    std::vector<Symbol> wanted;
    add_fee_symbols(wanted, next.account.quote, fills);
    const MarketSet market = parts_.feed.facts(wanted);
    for (const VenueFill& fill : fills) {
        SymbolBook* book = find_book(next.books.books, fill.symbol);
        if (book == nullptr || has_trade(order, fill.trade_id)) {
            continue;
        }
        TRY(roll_to(next.account, turn.now()));  // It counts for the day of our own clock.
        const FillInput priced = priced_fill(fill, next.account, next.books.books, market);
        TRY_ASSIGN(const FillApplied applied, apply_fill({next.account, *book, order}, priced));
        if (applied.applied) {
            TRY(record_fill(turn, order, booked_trade(priced, *book, applied)));
        }
    }
    return {};
}

Result<void> LoopService::on_order(Turn& turn, const EffectOutcome& outcome) {
    TRY_ASSIGN(const OrderEffect effect, decode_order_effect(outcome.effect.json));
    const VenueOrderRequest& request = effect.request;
    TRY_ASSIGN(const AccountView view, load_account(turn, request.account));
    if (!view.account) {
        return fail(errors::corrupt_data, "An order belongs to no account.");
    }
    Reserved next{*view.account, *view.books};
    TRY_ASSIGN(
        std::vector<OrderRecord> found,
        records_of(turn, request.account, {request.order_client_id}));
    if (found.empty()) {
        return fail(errors::corrupt_data, "An order was sent that was never written ahead.");
    }
    OrderRecord order = std::move(found.front());
    OrderEvent event = OrderOutcomeUnknown{};
    std::vector<VenueFill> fills;
    if (outcome.fate == EffectFate::done) {
        TRY_ASSIGN(const Json json, parse_json(outcome.receipt));
        TRY_ASSIGN(VenueAck ack, decode_venue_ack(json));
        fills = std::move(ack.fills);
        event = OrderReported{std::move(ack.order)};
    } else if (outcome.fate == EffectFate::refused) {
        event = OrderRejected{reject_code(outcome)};
    } else if (outcome.fate == EffectFate::never_arrived) {
        event = OrderNeverArrived{};
    }
    OrderStep step = step_order(std::move(order), event, turn.now());
    order = std::move(step.order);
    std::vector<std::string> trouble = std::move(step.drift);
    if (const auto booked = book_fills(turn, next, order, fills); !booked) {
        trouble.push_back(std::string(booked.error().code()) + ":" + order.id().text());
    }
    if (SymbolBook* book = find_book(next.books.books, order.symbol())) {
        TRY(release_order(next.account, *book, order));
    }
    save_order(turn, order);
    put_account(turn, std::move(next.account));
    save_books(turn, request.account, std::move(next.books));
    TRY(note_submit(turn, order, outcome));
    if (outcome.fate == EffectFate::unknown) {
        trouble.push_back("submit_unknown:" + order.id().text());
    }
    if (!trouble.empty()) {
        TRY(enter_recovery_of(turn, request.account, std::move(trouble)));
    }
    return tell_orders_changed(turn, request.account);
}

Result<void> LoopService::note_submit(
    Turn& turn, const OrderRecord& order, const EffectOutcome& outcome) {
    TRY_ASSIGN(
        const auto stored, load_decision(turn, order.request.account.tenant_id, order.decision_id));
    if (!stored) {
        return fail(errors::corrupt_data, "An order belongs to no decision.");
    }
    Decision decision = *stored;
    const auto row = std::find_if(
        decision.execution.begin(), decision.execution.end(), [&](const Execution& execution) {
            return execution.order_client_id == order.id();
        });
    if (row == decision.execution.end()) {
        return fail(errors::corrupt_data, "An order is not part of its decision.");
    }
    const bool was_lost = row->submit_status == "timeout" || row->submit_status == "unknown";
    row->submit_status = submit_status(outcome);
    row->exchange_order_id = order.exchange_order_id;
    row->reject_code = order.reject_code;
    if (outcome.fate == EffectFate::never_arrived) {
        row->reject_code = "never_arrived";
    }
    Json detail = encode(*row);
    tell_order(detail, order);
    if (was_lost) {
        detail.set(std::string(kLateAnswer), true);
    }
    TRY(audit_step(
        turn,
        decision,
        {.event = std::string(order_event(outcome.fate)),
         .step = AuditStep::execute,
         .status = outcome.fate == EffectFate::done ? AuditStatus::passed : AuditStatus::failed,
         .reason = outcome.error_message,
         .detail = std::move(detail)}));
    if (decision.stage == DecisionStage::executing && is_answered(decision)) {
        TRY(answer_execution(turn, decision));
    } else if (decision.stage != DecisionStage::executing) {
        // An unknown outcome was settled after the call had its answer: look at it again.
        TRY(ask_venue(turn, decision.account, {.cause = AskCause::verify}));
    }
    if (overlay_.on_order_news) {
        overlay_.on_order_news(turn, {.order = order, .fate = outcome.fate});
    }
    save_decision(turn, std::move(decision));
    return {};
}

Json LoopService::execution_answer(const Decision& decision) {
    Json errors = Json::array();
    for (const Execution& row : decision.execution) {
        if (row.submit_status != "acked") {
            errors.push(Json::object({
                {"code", row.reject_code.empty() ? row.submit_status : row.reject_code},
                {"order_client_id", row.order_client_id.text()},
                {"message",
                 row.submit_status == "rejected"
                     ? "The venue refused this order; nothing of it is live."
                     : "The outcome is not known; the executor finds out. Do not send it again."},
            }));
        }
    }
    Json cancels = Json::array();
    for (const CancelRow& row : decision.cancels) {
        if (row.status == "unknown_order" || row.status == "unknown") {
            errors.push(Json::object({
                {"code", row.status},
                {"order_client_id", row.order_client_id.text()},
                {"message",
                 row.status == "unknown"
                     ? "Whether it was cancelled is not known; the executor finds out."
                     : "This account never had such an order; nothing was cancelled."},
            }));
        }
        cancels.push(Json::object(
            {{"order_client_id", row.order_client_id.text()}, {"status", row.status}}));
    }
    return Json::object({
        {"status", execution_status(decision)},
        {"execution", encode_execution(decision)},
        {"cancels", std::move(cancels)},
        {"errors", std::move(errors)},
        {"audit_ref", decision.audit_ref},
    });
}

Result<void> LoopService::answer_execution(Turn& turn, Decision& decision) {
    decision.stage = DecisionStage::executed;
    const std::string_view status = execution_status(decision);
    TRY(audit_step(
        turn,
        decision,
        {.event = "EXECUTION_ATTEMPT",
         .step = AuditStep::execute,
         .status = status == "error" ? AuditStatus::failed : AuditStatus::passed,
         .reason = "all outcomes are in: " + std::string(status),
         .detail = Json::object({{"orders", encode_execution(decision)}})}));
    if (!decision.operation.is_null()) {
        TRY_ASSIGN(const OpenOperation operation, decode_open_operation(decision.operation));
        turn.complete(operation, Answer{200, to_text(execution_answer(decision))});
        decision.operation = Json();
    }
    TRY_ASSIGN(const AccountView view, load_account(turn, decision.account));
    AccountBooks books = *view.books;
    books.unverified.push_back(decision.decision_id);
    save_books(turn, decision.account, std::move(books));
    save_decision(turn, decision);  // The question below names its orders.
    return ask_venue(turn, decision.account, {.cause = AskCause::verify});
}

Result<void> LoopService::on_cancel(Turn& turn, const EffectOutcome& outcome) {
    TRY_ASSIGN(const CancelEffect effect, decode_cancel_effect(outcome.effect.json));
    Json detail = Json::object({{"order_client_id", effect.id.text()}});
    if (outcome.fate == EffectFate::done) {
        TRY_ASSIGN(const Json json, parse_json(outcome.receipt));
        TRY_ASSIGN(VenueOrder seen, decode_venue_order(json));
        TRY_ASSIGN(const AccountView view, load_account(turn, effect.account));
        TRY_ASSIGN(std::vector<OrderRecord> found, records_of(turn, effect.account, {effect.id}));
        if (view.account && !found.empty()) {
            Reserved next{*view.account, *view.books};
            const OrderStep step =
                step_order(std::move(found.front()), OrderReported{std::move(seen)}, turn.now());
            if (SymbolBook* book = find_book(next.books.books, effect.symbol)) {
                TRY(release_order(next.account, *book, step.order));
            }
            save_order(turn, step.order);
            put_account(turn, std::move(next.account));
            save_books(turn, effect.account, std::move(next.books));
            TRY(tell_orders_changed(turn, effect.account));
            tell_order(detail, step.order);
        }
    }
    TRY_ASSIGN(
        const auto stored, load_decision(turn, effect.account.tenant_id, effect.decision_id));
    if (!stored) {
        return {};  // Cancelled by safe recovery, for no decision.
    }
    Decision decision = *stored;
    for (CancelRow& row : decision.cancels) {
        if (row.order_client_id != effect.id) {
            continue;
        }
        if (row.status == "pending") {
            row.status = outcome.fate == EffectFate::done      ? "canceled"
                         : outcome.fate == EffectFate::refused ? "not_open"
                                                               : "unknown";
        }
        detail.set("status", row.status);
    }
    TRY(audit_step(
        turn,
        decision,
        {.event = "ORDER_CANCELED",
         .step = AuditStep::execute,
         .status = outcome.fate == EffectFate::done ? AuditStatus::passed : AuditStatus::failed,
         .reason = outcome.error_message,
         .detail = std::move(detail)}));
    if (decision.stage == DecisionStage::executing && is_answered(decision)) {
        TRY(answer_execution(turn, decision));
    }
    save_decision(turn, std::move(decision));
    return {};
}

Result<void> LoopService::on_cancel_all(Turn& turn, const EffectOutcome& outcome) {
    if (outcome.fate == EffectFate::unknown) {
        return {};  // It is sent again until it is known.
    }
    for (const Watched& one : watched()) {
        const bool concerned = outcome.effect.tenant_id == system_tenant() ||
                               outcome.effect.tenant_id == one.account.tenant_id;
        if (concerned) {
            TRY(ask_venue(turn, one.account, {.cause = AskCause::recovery}));
        }
    }
    return {};
}

}  // namespace interlock
