// Transitions of one order. The rule behind all of them: what the venue showed once cannot be
// un-shown by an older answer, and nothing but a listed trade makes a fill.
#include "account/rules/order_record.h"

#include <algorithm>

#include "account/rules/exact.h"
#include "account/rules/stored_time.h"
#include "base/errors.h"
#include "base/match.h"
#include "codec/field_reader.h"
#include "market/wire/market_fields.h"

namespace interlock {
namespace {

constexpr TextBounds kWordBounds{.length_min = 0, .length_max = 128};

bool is_absent(OrderState state) {
    return state == OrderState::rejected || state == OrderState::never_arrived;
}

// We believe that nothing of it is, or is any more, at the venue, without the venue having shown
// its end.
bool is_thought_absent(const OrderRecord& order) {
    return is_absent(order.state) ||
           (order.state == OrderState::canceled && order.cancel_reason == kVanishedReason);
}

// The state a report leads to; the caller has taken over its filled quantity already.
OrderState state_after(const OrderRecord& order, OrderState seen) {
    const bool has_fills = order.reported_qty.is_positive();
    switch (seen) {
        case OrderState::resting:
        case OrderState::partially_filled:
            if (order.state == OrderState::filled || order.state == OrderState::canceled) {
                return order.state;
            }
            return has_fills ? OrderState::partially_filled : OrderState::resting;
        case OrderState::filled:
            return OrderState::filled;
        case OrderState::canceled:
            return order.state == OrderState::filled ? OrderState::filled : OrderState::canceled;
        case OrderState::rejected:
            if (order.state == OrderState::filled || order.state == OrderState::canceled) {
                return order.state;
            }
            return OrderState::rejected;
        case OrderState::submitting:
        case OrderState::unknown:
        case OrderState::never_arrived:
            break;  // Our own words; a venue that uses them says nothing.
    }
    return order.state;
}

void take_report(OrderStep& step, const VenueOrder& seen) {
    OrderRecord& order = step.order;
    if (order.exchange_order_id.empty()) {
        order.exchange_order_id = seen.exchange_order_id;
    } else if (
        !seen.exchange_order_id.empty() && seen.exchange_order_id != order.exchange_order_id) {
        step.drift.emplace_back("duplicate_live_order");
    }
    if (is_thought_absent(order) && is_live(seen.state)) {
        order.state = OrderState::unknown;  // Revived; the report below says where it stands.
        order.cancel_reason.clear();
        step.drift.emplace_back("unexpected_order");
    } else if (is_absent(order.state) && !is_absent(seen.state)) {
        step.drift.emplace_back("unexpected_order");
    } else if (
        seen.state == OrderState::rejected && !is_uncertain(order) && !is_absent(order.state)) {
        step.drift.emplace_back("field_mismatch:state");
    }
    order.proof = {};
    order.reported_qty = std::max(order.reported_qty, seen.filled_qty);
    order.state = state_after(order, seen.state);
    if (order.state == OrderState::canceled && order.cancel_reason.empty()) {
        order.cancel_reason = seen.cancel_reason;
    }
    if (order.state == OrderState::rejected && order.reject_code.empty()) {
        order.reject_code = seen.cancel_reason;
    }
}

void take_rejection(OrderStep& step, const OrderRejected& rejected) {
    OrderRecord& order = step.order;
    if (is_uncertain(order)) {
        order.state = OrderState::rejected;
        order.reject_code = rejected.code;
    } else if (!is_absent(order.state)) {
        step.drift.emplace_back("field_mismatch:state");
    }
}

}  // namespace

bool has_trade(const OrderRecord& order, std::int64_t trade_id) {
    return trade_id <= order.trades_floor ||
           std::binary_search(order.trade_ids.begin(), order.trade_ids.end(), trade_id);
}

bool is_settled(const OrderRecord& order) {
    return !is_live(order.state) && order.filled_qty >= order.reported_qty;
}

Decimal reserved_qty(const OrderRecord& order) {
    const Decimal may_fill =
        is_live(order.state) ? std::max(order.request.qty, order.reported_qty) : order.reported_qty;
    if (may_fill <= order.filled_qty) {
        return {};
    }
    // Both are not negative, so the difference always fits.
    return subtract(may_fill, order.filled_qty).value_or(may_fill);
}

bool is_uncertain(const OrderRecord& order) {
    return order.state == OrderState::submitting || order.state == OrderState::unknown;
}

std::optional<Decimal> slippage_bps_of(const OrderRecord& order) {
    const VenueOrderRequest& asked = order.request;
    if (!order.touch_price || !order.touch_price->is_positive() || asked.post_only) {
        return std::nullopt;
    }
    const bool is_buy = asked.side == Side::buy;
    const Decimal touch = *order.touch_price;
    const bool takes =
        !asked.limit_price || (is_buy ? *asked.limit_price >= touch : *asked.limit_price <= touch);
    if (!takes || !order.filled_qty.is_positive()) {
        return std::nullopt;
    }
    const auto average = divide_half_even(order.filled_quote, order.filled_qty);
    if (!average) {
        return std::nullopt;
    }
    const auto worse = is_buy ? subtract(*average, touch) : subtract(touch, *average);
    const auto scaled = worse ? multiply_half_even(*worse, Decimal(10'000)) : worse;
    const auto bps = scaled ? divide_half_even(*scaled, touch) : scaled;
    return bps ? std::optional(*bps) : std::nullopt;
}

OrderStep step_order(OrderRecord order, const OrderEvent& event, Timestamp at) {
    OrderStep step;
    step.before = order.state;
    const OrderRecord old = order;
    step.order = std::move(order);
    OrderRecord& now = step.order;
    match(
        event,
        [&](const OrderSent&) {
            if (!now.submitted_at) {
                now.submitted_at = at;
            }
        },
        [&](const OrderReported& reported) { take_report(step, reported.order); },
        [&](const OrderRejected& rejected) { take_rejection(step, rejected); },
        [&](const OrderOutcomeUnknown&) {
            if (now.state == OrderState::submitting) {
                now.state = OrderState::unknown;
            }
        },
        [&](const OrderAbsent&) {
            // The same answer told twice proves no more than once.
            if (is_live(now.state) && now.proof.last_absent_at < std::optional(at)) {
                now.proof.absent_queries += 1;
                now.proof.last_absent_at = at;
            }
        },
        [&](const OrderNeverArrived&) {
            if (is_uncertain(now)) {
                now.state = OrderState::never_arrived;
            }
        },
        [&](const OrderVanished&) {
            if (is_live(now.state)) {
                now.state = OrderState::canceled;
                now.cancel_reason = kVanishedReason;
            }
        },
        [&](const CancelRequested&) {
            if (is_live(now.state)) {
                now.cancel_requested = true;
            }
        });
    step.changed = now != old;
    step.ended = is_live(step.before) && !is_live(now.state);
    if (step.changed) {
        now.updated_at = std::max(at, old.updated_at);
    }
    return step;
}

Result<FillNoted> note_fill(OrderRecord order, const VenueFill& fill) {
    FillNoted noted;
    TRY_ASSIGN(order.filled_qty, add(order.filled_qty, fill.qty));
    TRY_ASSIGN(
        order.filled_quote, (Exact(fill.qty).times_even(fill.price) + order.filled_quote).result());
    order.reported_qty = std::max(order.reported_qty, order.filled_qty);
    if (order.exchange_order_id.empty()) {
        order.exchange_order_id = fill.exchange_order_id;
    }
    if (is_absent(order.state)) {
        noted.drift.emplace_back("unexpected_order");
        order.state = OrderState::partially_filled;
    }
    if (order.filled_qty > order.request.qty) {
        noted.drift.emplace_back("overfill");
    }
    if (order.filled_qty >= order.request.qty) {
        order.state = OrderState::filled;
    } else if (is_live(order.state)) {
        order.state = OrderState::partially_filled;
    }
    auto& ids = order.trade_ids;
    ids.insert(std::lower_bound(ids.begin(), ids.end(), fill.trade_id), fill.trade_id);
    if (ids.size() > kTradesPerOrderMax) {
        order.trades_floor = ids.front();
        ids.erase(ids.begin());
    }
    order.updated_at = std::max(order.updated_at, fill.at);
    noted.order = std::move(order);
    return noted;
}

// Written with every decision, so what still has its first value is left out.
Json encode(const OrderRecord& order) {
    Json json = Json::object({
        {"request", encode(order.request)},
        {"decision_id", order.decision_id.text()},
        {"tick_id", order.tick_id.text()},
        {"intent_id", order.intent_id.text()},
        {"strategy_id", order.strategy_id.text()},
        {"state", to_word(order.state)},
        {"exchange_order_id", order.exchange_order_id},
        {"filled_qty", to_text(order.filled_qty)},
        {"filled_quote", to_text(order.filled_quote)},
        {"reported_qty", to_text(order.reported_qty)},
        {"reserve_price", to_text(order.reserve_price)},
        {"created_at", order.created_at.microseconds},
        {"updated_at", order.updated_at.microseconds},
        {"submitted_at", stored_time(order.submitted_at)},
    });
    const auto set_if = [&](bool differs, const char* key, Json value) {
        if (differs) {
            json.set(key, std::move(value));
        }
    };
    set_if(
        order.touch_price.has_value(),
        "touch_price",
        order.touch_price ? Json(to_text(*order.touch_price)) : Json());
    set_if(!order.fee_quote.is_zero(), "fee_quote", to_text(order.fee_quote));
    set_if(order.is_reduce, "is_reduce", true);
    set_if(order.cancel_requested, "cancel_requested", true);
    set_if(!order.reject_code.empty(), "reject_code", order.reject_code);
    set_if(!order.cancel_reason.empty(), "cancel_reason", order.cancel_reason);
    set_if(order.proof.absent_queries != 0, "absent_queries", order.proof.absent_queries);
    set_if(
        order.proof.last_absent_at.has_value(),
        "last_absent_at",
        stored_time(order.proof.last_absent_at));
    set_if(order.trades_floor != kNoTradesFloor, "trades_floor", order.trades_floor);
    if (!order.trade_ids.empty()) {
        Json::Array trades(order.trade_ids.begin(), order.trade_ids.end());
        json.set("trade_ids", std::move(trades));
    }
    return json;
}

Result<OrderRecord> decode_order_record(const Json& json) {
    FieldReader in(json);
    const auto word = [&](std::string_view key) { return in.required_text(key, kWordBounds); };
    OrderRecord order;
    if (const Json* request = in.required_object("request")) {
        if (auto decoded = decode_venue_order_request(*request)) {
            order.request = *std::move(decoded);
        } else {
            in.absorb(decoded.error());
        }
    }
    order.decision_id = in.required<DecisionId>("decision_id");
    order.tick_id = in.required<TickId>("tick_id");
    order.intent_id = in.required<IntentId>("intent_id");
    order.strategy_id = in.required<StrategyId>("strategy_id");
    if (auto state = parse_order_state(word("state"))) {
        order.state = *state;
    } else {
        in.add_problem("state", state.error().message);
    }
    order.exchange_order_id = word("exchange_order_id");
    order.filled_qty = in.required<Decimal>("filled_qty");
    order.filled_quote = in.required<Decimal>("filled_quote");
    order.reported_qty = in.required<Decimal>("reported_qty");
    order.reserve_price = in.required<Decimal>("reserve_price");
    order.touch_price = in.optional<Decimal>("touch_price");
    order.fee_quote = in.optional_or<Decimal>("fee_quote", {});
    order.is_reduce = in.optional_or("is_reduce", false);
    order.cancel_requested = in.optional_or("cancel_requested", false);
    order.reject_code = in.optional_text("reject_code", kWordBounds).value_or("");
    order.cancel_reason = in.optional_text("cancel_reason", kWordBounds).value_or("");
    order.created_at = read_stored_time(in, "created_at");
    order.updated_at = read_stored_time(in, "updated_at");
    order.submitted_at = read_optional_time(in, "submitted_at");
    order.proof.absent_queries = in.optional_or<std::int64_t>("absent_queries", 0);
    order.proof.last_absent_at = read_optional_time(in, "last_absent_at");
    order.trades_floor = in.optional_or<std::int64_t>("trades_floor", kNoTradesFloor);
    const Json::Array* trades = in.optional_array("trade_ids", kTradesPerOrderMax);
    for (const Json& trade : trades == nullptr ? Json::Array{} : *trades) {
        const auto trade_id = trade.as_int64();
        if (!trade_id || (!order.trade_ids.empty() && *trade_id <= order.trade_ids.back())) {
            in.add_problem("trade_ids", "must be ascending integers");
            break;
        }
        order.trade_ids.push_back(*trade_id);
    }
    in.reject_unknown();
    return in.finish(std::move(order));
}

}  // namespace interlock
