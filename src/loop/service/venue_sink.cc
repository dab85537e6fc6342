#include "loop/service/venue_sink.h"

#include <algorithm>

#include "account/rules/verification.h"
#include "codec/field_reader.h"
#include "loop/service/loop_service.h"

namespace interlock {
namespace {

Result<VenueAccount> account_in(FieldReader& in) {
    const Json* account = in.required_object("account");
    if (account == nullptr) {
        return in.finish(VenueAccount{});
    }
    return decode_venue_account(*account);
}

// A venue's refusal is the sink's: nothing happened. Its reason stays in front of the message.
Error as_refusal(Error error) {
    if (error == errors::venue_rejected) {
        error.kind = &errors::effect_refused;
    }
    return error;
}

Result<OrderAnswer> ask_one(
    Venue& venue, const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) {
    OrderAnswer answer;
    answer.order_client_id = id;
    auto found = venue.find_order(account, symbol, id);
    if (!found) {
        return answer;
    }
    auto fills = venue.fills_of(account, symbol, id);
    if (!fills) {
        return answer;
    }
    answer.is_reachable = true;
    answer.order = *std::move(found);
    answer.fills = *std::move(fills);
    return answer;
}

}  // namespace

Result<Venue*> VenueSink::venue_of(TradeMode mode) const {
    const auto found = parts_.venues.find(mode);
    if (found == parts_.venues.end() || found->second == nullptr) {
        return fail(
            errors::effect_refused,
            "no_venue: There is no venue for " + std::string(to_word(mode)) + " mode.");
    }
    return found->second;
}

Result<EffectReceipt> VenueSink::perform(const OutboxItem& effect) {
    if (parts_.on_request) {
        parts_.on_request(effect);
    }
    const bool ours =
        effect.kind == kOrderEffect || effect.kind == kCancelKind || effect.kind == kReportKind;
    if (effect.kind == kCancelAllKind) {
        return cancel_all(effect);
    }
    if (!ours) {
        return parts_.behind.perform(effect);
    }
    TRY_ASSIGN(const Json json, parse_json(effect.json));
    if (effect.kind == kOrderEffect) {
        return submit(json);
    }
    return effect.kind == kCancelKind ? cancel(json) : report(json);
}

Result<EffectReceipt> VenueSink::submit(const Json& json) {
    FieldReader in(json);
    const Json* wanted = in.required_object("request");
    if (wanted == nullptr) {
        return fail(errors::effect_refused, "bad_effect: An order effect has no request.");
    }
    TRY_ASSIGN(const VenueOrderRequest request, decode_venue_order_request(*wanted));
    TRY_ASSIGN(Venue * venue, venue_of(request.account.mode));
    auto ack = venue->submit(request);
    if (!ack) {
        return std::unexpected(as_refusal(std::move(ack).error()));
    }
    return EffectReceipt{to_text(encode(*ack))};
}

Result<EffectReceipt> VenueSink::cancel(const Json& json) {
    FieldReader in(json);
    TRY_ASSIGN(const VenueAccount account, account_in(in));
    TRY_ASSIGN(const Symbol symbol, Symbol::parse(in.required<std::string>("symbol")));
    const auto id = in.required<OrderClientId>("order_client_id");
    TRY_ASSIGN(Venue * venue, venue_of(account.mode));
    auto order = venue->cancel(account, symbol, id);
    if (!order) {
        return std::unexpected(as_refusal(std::move(order).error()));
    }
    return EffectReceipt{to_text(encode(*order))};
}

Result<EffectReceipt> VenueSink::cancel_all(const OutboxItem& effect) {
    // Every account is tried, whatever became of the ones before it: the orders of one must not
    // stay open because another's venue does not answer.
    std::optional<Error> failed;
    for (const VenueAccount& account : parts_.accounts()) {
        if (effect.tenant_id != system_tenant() && effect.tenant_id != account.tenant_id) {
            continue;
        }
        const auto venue = venue_of(account.mode);
        if (!venue) {
            continue;
        }
        const auto left = (*venue)->cancel_all(account);
        if (!left) {
            failed = left.error();
        } else if (!left->empty()) {
            failed =
                fail(errors::venue_unreachable, "Orders are still open after cancel-all.").error();
        }
    }
    if (failed) {
        return std::unexpected(*std::move(failed));
    }
    // The sink behind knows of cancel-all too; that it is absent is no reason to try for ever.
    auto behind = parts_.behind.perform(effect);
    if (!behind && behind.error() != errors::no_effect_sink) {
        return behind;
    }
    return EffectReceipt{"all orders cancelled"};
}

Result<EffectReceipt> VenueSink::report(const Json& json) {
    FieldReader in(json);
    TRY_ASSIGN(const VenueAccount account, account_in(in));
    TRY_ASSIGN(Venue * venue, venue_of(account.mode));
    std::vector<OrderAnswer> answers;
    for (const Json& item : in.required_array("orders", kVerifyOrdersMax)) {
        FieldReader one(item);
        TRY_ASSIGN(const Symbol symbol, Symbol::parse(one.required<std::string>("symbol")));
        const auto id = one.required<OrderClientId>("order_client_id");
        TRY_ASSIGN(OrderAnswer answer, ask_one(*venue, account, symbol, id));
        answers.push_back(std::move(answer));
    }
    // Last, so that its balances are not older than any fill above.
    const auto report = venue->report(account, in.required<std::int64_t>("cursor"));
    if (!report) {
        // An answer of its own: the question is over, and safe recovery asks again at its pace.
        return EffectReceipt{to_text(Json::object({{"unreachable", report.error().message}}))};
    }
    return EffectReceipt{to_text(encode_report_answer(*report, answers))};
}

Result<std::optional<EffectReceipt>> VenueSink::find(const EffectId& effect_id) {
    return parts_.behind.find(effect_id);
}

Result<std::optional<EffectReceipt>> VenueSink::settle(const OutboxItem& effect) {
    if (effect.kind == kOrderEffect) {
        return settle_order(effect);
    }
    if (adds_no_exposure(effect.kind)) {
        TRY_ASSIGN(EffectReceipt receipt, perform(effect));
        return std::optional<EffectReceipt>(std::move(receipt));
    }
    return parts_.behind.settle(effect);
}

Result<std::optional<EffectReceipt>> VenueSink::settle_order(const OutboxItem& effect) {
    TRY_ASSIGN(const Json json, parse_json(effect.json));
    FieldReader in(json);
    const Json* wanted = in.required_object("request");
    if (wanted == nullptr) {
        return std::optional<EffectReceipt>();
    }
    TRY_ASSIGN(const VenueOrderRequest request, decode_venue_order_request(*wanted));
    TRY_ASSIGN(Venue * venue, venue_of(request.account.mode));
    TRY_ASSIGN(
        const auto order,
        venue->find_order(request.account, request.symbol, request.order_client_id));
    TRY_ASSIGN(
        std::vector<VenueFill> fills,
        venue->fills_of(request.account, request.symbol, request.order_client_id));
    if (order) {
        sought_.erase(effect.effect_id);
        return std::optional(EffectReceipt{to_text(encode(VenueAck{*order, std::move(fills)}))});
    }
    const Timestamp now = parts_.clock.now();
    OrderRecord& record = sought_[effect.effect_id];
    if (!record.submitted_at) {
        record.request = request;
        record.state = OrderState::unknown;
        // The send was refused after not_after, so it did not happen later than that.
        record.submitted_at = effect.not_after;
    }
    record = step_order(std::move(record), OrderAbsent{}, now).order;
    TRY_ASSIGN(const VenueReport report, venue->report(request.account, 0));
    const bool is_open = std::any_of(
        report.open_orders.begin(), report.open_orders.end(), [&](const VenueOrder& open) {
            return open.order_client_id == request.order_client_id;
        });
    if (has_never_arrived(
            record, {.now = now, .in_open_orders = is_open, .has_trades = !fills.empty()})) {
        sought_.erase(effect.effect_id);
        return std::optional<EffectReceipt>();
    }
    return fail(errors::venue_unreachable, "The venue does not know the order yet.");
}

}  // namespace interlock
