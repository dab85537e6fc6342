#include "account/wire/venue_order.h"

#include <array>
#include <utility>

#include "base/errors.h"
#include "codec/field_reader.h"
#include "market/wire/market_fields.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 8> kStates{
    "submitting",
    "unknown",
    "resting",
    "partially_filled",
    "filled",
    "canceled",
    "rejected",
    "never_arrived"};
constexpr std::array<std::string_view, 8> kFinalWords{
    "unknown", "unknown", "new", "partially_filled", "filled", "canceled", "rejected", "rejected"};

// One order cannot have more fills than this in an answer.
constexpr std::size_t kAckFillsMax = 10'000;
constexpr std::size_t kShortTextMax = 128;

Json price_json(const std::optional<Decimal>& price) {
    return price ? Json(to_text(*price)) : Json(nullptr);
}

std::string optional_word(FieldReader& in, std::string_view key) {
    return in.required_text(key, {.length_min = 0, .length_max = kShortTextMax});
}

// What a request and an order have in common; `Order` is either.
template <class Order>
void encode_terms(const Order& order, Json& json) {
    json.set("order_client_id", order.order_client_id.text());
    json.set("symbol", order.symbol.text());
    json.set("side", to_word(order.side));
    json.set("order_type", to_word(order.order_type));
    json.set("time_in_force", to_word(order.time_in_force));
    json.set("post_only", order.post_only);
    json.set("qty", to_text(order.qty));
    json.set("limit_price", price_json(order.limit_price));
}

template <class Order>
void decode_terms(FieldReader& in, Order& order) {
    order.order_client_id = in.required<OrderClientId>("order_client_id");
    order.symbol = read_stored_symbol(in, "symbol");
    order.side = read_side(in, "side");
    order.order_type = read_order_type(in, "order_type");
    order.time_in_force = read_time_in_force(in, "time_in_force");
    order.post_only = in.required<bool>("post_only");
    order.qty = in.required<Decimal>("qty");
    order.limit_price = in.required_nullable<Decimal>("limit_price");
}

// A part of a document decoded by its own function; problems join those of `in`.
template <class T>
T decode_part(FieldReader& in, std::string_view key, Result<T> (*decode)(const Json&)) {
    const Json* part = in.required_object(key);
    if (part == nullptr) {
        return {};
    }
    auto decoded = decode(*part);
    if (!decoded) {
        in.absorb(decoded.error());
        return {};
    }
    return *std::move(decoded);
}

}  // namespace

AccountId default_account_id() {
    return AccountId::trusted("main");
}

std::string_view to_word(OrderState state) {
    return kStates[static_cast<std::size_t>(state)];
}

Result<OrderState> parse_order_state(std::string_view word) {
    for (std::size_t i = 0; i < kStates.size(); ++i) {
        if (kStates[i] == word) {
            return static_cast<OrderState>(i);
        }
    }
    return fail(errors::invalid_request, "\"" + std::string(word) + "\" is no state of an order.");
}

std::string_view to_final_word(OrderState state) {
    return kFinalWords[static_cast<std::size_t>(state)];
}

bool is_live(OrderState state) {
    return state == OrderState::submitting || state == OrderState::unknown ||
           state == OrderState::resting || state == OrderState::partially_filled;
}

Json encode(const VenueAccount& account) {
    return Json::object({
        {"tenant_id", account.tenant_id.text()},
        {"account_id", account.account_id.text()},
        {"mode", to_word(account.mode)},
    });
}

Result<VenueAccount> decode_venue_account(const Json& json) {
    FieldReader in(json);
    VenueAccount account{
        .tenant_id = in.required<TenantId>("tenant_id"),
        .account_id = in.required<AccountId>("account_id"),
        .mode = read_trade_mode(in, "mode"),
    };
    in.reject_unknown();
    return in.finish(std::move(account));
}

Json encode(const VenueOrderRequest& request) {
    Json json = Json::object({{"account", encode(request.account)}});
    encode_terms(request, json);
    return json;
}

Result<VenueOrderRequest> decode_venue_order_request(const Json& json) {
    FieldReader in(json);
    VenueOrderRequest request;
    request.account = decode_part(in, "account", &decode_venue_account);
    decode_terms(in, request);
    in.reject_unknown();
    return in.finish(std::move(request));
}

Json encode(const VenueFill& fill) {
    return Json::object({
        {"trade_id", fill.trade_id},
        {"order_client_id", fill.order_client_id.text()},
        {"exchange_order_id", fill.exchange_order_id},
        {"symbol", fill.symbol.text()},
        {"side", to_word(fill.side)},
        {"qty", to_text(fill.qty)},
        {"price", to_text(fill.price)},
        {"fee", to_text(fill.fee)},
        {"fee_asset", fill.fee_asset.text()},
        {"is_maker", fill.is_maker},
        {"at", to_text(fill.at)},
    });
}

Result<VenueFill> decode_venue_fill(const Json& json) {
    FieldReader in(json);
    VenueFill fill{
        .trade_id = in.required<std::int64_t>("trade_id"),
        .order_client_id = in.required<OrderClientId>("order_client_id"),
        .exchange_order_id = optional_word(in, "exchange_order_id"),
        .symbol = read_stored_symbol(in, "symbol"),
        .side = read_side(in, "side"),
        .qty = in.required<Decimal>("qty"),
        .price = in.required<Decimal>("price"),
        .fee = in.required<Decimal>("fee"),
        .fee_asset = read_stored_asset(in, "fee_asset"),
        .is_maker = in.required<bool>("is_maker"),
        .at = in.required<Timestamp>("at"),
    };
    in.reject_unknown();
    return in.finish(std::move(fill));
}

Json encode(const VenueOrder& order) {
    Json json = Json::object({{"exchange_order_id", order.exchange_order_id}});
    encode_terms(order, json);
    json.set("state", to_word(order.state));
    json.set("filled_qty", to_text(order.filled_qty));
    json.set("filled_quote", to_text(order.filled_quote));
    json.set("cancel_reason", order.cancel_reason);
    json.set("updated_at", to_text(order.updated_at));
    return json;
}

Result<VenueOrder> decode_venue_order(const Json& json) {
    FieldReader in(json);
    VenueOrder order;
    order.exchange_order_id = optional_word(in, "exchange_order_id");
    decode_terms(in, order);
    order.state = static_cast<OrderState>(in.required_word_index("state", kStates));
    order.filled_qty = in.required<Decimal>("filled_qty");
    order.filled_quote = in.required<Decimal>("filled_quote");
    order.cancel_reason = optional_word(in, "cancel_reason");
    order.updated_at = in.required<Timestamp>("updated_at");
    in.reject_unknown();
    return in.finish(std::move(order));
}

Json encode(const VenueAck& ack) {
    Json fills = Json::array();
    for (const VenueFill& fill : ack.fills) {
        fills.push(encode(fill));
    }
    return Json::object({{"order", encode(ack.order)}, {"fills", std::move(fills)}});
}

Result<VenueAck> decode_venue_ack(const Json& json) {
    FieldReader in(json);
    VenueAck ack;
    ack.order = decode_part(in, "order", &decode_venue_order);
    for (const Json& item : in.required_array("fills", kAckFillsMax)) {
        auto fill = decode_venue_fill(item);
        if (!fill) {
            in.absorb(fill.error());
            break;
        }
        ack.fills.push_back(*std::move(fill));
    }
    in.reject_unknown();
    return in.finish(std::move(ack));
}

Json encode(const VenueBalance& balance) {
    return Json::object({
        {"asset", balance.asset.text()},
        {"free", to_text(balance.free)},
        {"locked", to_text(balance.locked)},
    });
}

Result<VenueBalance> decode_venue_balance(const Json& json) {
    FieldReader in(json);
    VenueBalance balance{
        .asset = read_stored_asset(in, "asset"),
        .free = in.required<Decimal>("free"),
        .locked = in.required<Decimal>("locked"),
    };
    in.reject_unknown();
    return in.finish(std::move(balance));
}

}  // namespace interlock
