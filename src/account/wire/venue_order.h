// Orders, fills and balances as a venue tells them, and what we ask of it.
//
// A venue account is named by `VenueAccount`; a venue never sees a tenant's other accounts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "account/wire/intent.h"
#include "base/json.h"
#include "base/money.h"
#include "base/time.h"

namespace interlock {

// The account a call without `account_id` means.
AccountId default_account_id();

struct VenueAccount {
    TenantId tenant_id;
    AccountId account_id;
    TradeMode mode = TradeMode::paper;
    friend auto operator<=>(const VenueAccount&, const VenueAccount&) = default;
};

// An order's life as py_verify_execution words it, plus the two states of our own before and beside
// it.
enum class OrderState {
    submitting,  // Written ahead; the send may be under way.
    unknown,     // Sent, outcome not known: reserved at its worst case (I4).
    resting,     // "new" on the wire.
    partially_filled,
    filled,
    canceled,
    rejected,
    never_arrived,  // Proven; "rejected" on the wire, with this reason.
};
std::string_view to_word(OrderState state);  // Our own words, for storage.
Result<OrderState> parse_order_state(std::string_view word);
// The words of the tools; submitting and unknown read "unknown".
std::string_view to_final_word(OrderState state);
bool is_live(OrderState state);  // May still fill: submitting, unknown, resting, partially_filled.

struct VenueOrderRequest {
    VenueAccount account;
    OrderClientId order_client_id;
    Symbol symbol;
    Side side = Side::buy;
    OrderType order_type = OrderType::limit;
    TimeInForce time_in_force = TimeInForce::gtc;
    bool post_only = false;
    Decimal qty;
    std::optional<Decimal> limit_price;
    friend bool operator==(const VenueOrderRequest&, const VenueOrderRequest&) = default;
};

struct VenueFill {
    std::int64_t trade_id = 0;  // Unique per symbol at the venue.
    OrderClientId order_client_id;
    std::string exchange_order_id;
    Symbol symbol;
    Side side = Side::buy;
    Decimal qty;
    Decimal price;
    Decimal fee;
    Asset fee_asset;
    bool is_maker = false;
    Timestamp at;
    friend bool operator==(const VenueFill&, const VenueFill&) = default;
};

struct VenueOrder {
    OrderClientId order_client_id;
    std::string exchange_order_id;
    Symbol symbol;
    Side side = Side::buy;
    OrderType order_type = OrderType::limit;
    TimeInForce time_in_force = TimeInForce::gtc;
    bool post_only = false;
    Decimal qty;
    std::optional<Decimal> limit_price;
    OrderState state = OrderState::resting;
    Decimal filled_qty;
    Decimal filled_quote;       // Σ price × qty of its fills.
    std::string cancel_reason;  // "user", "ioc", "fok", "self_trade", "halt"; empty otherwise.
    Timestamp updated_at;
    friend bool operator==(const VenueOrder&, const VenueOrder&) = default;
};

struct VenueBalance {
    Asset asset;
    Decimal free;
    Decimal locked;
    friend bool operator==(const VenueBalance&, const VenueBalance&) = default;
};

// The answer to a submit: the order as it stands and the fills it made at once.
struct VenueAck {
    VenueOrder order;
    std::vector<VenueFill> fills;
};

// Everything a venue says of an account at one moment.
struct VenueReport {
    std::vector<VenueOrder> open_orders;
    std::vector<VenueBalance> balances;
    std::vector<VenueFill> fills;   // After the cursor that was asked for, in trade order.
    std::int64_t fills_cursor = 0;  // Ask from here next time.
    bool has_more_fills = false;
};

Json encode(const VenueAccount& account);
Result<VenueAccount> decode_venue_account(const Json& json);
Json encode(const VenueOrderRequest& request);
Result<VenueOrderRequest> decode_venue_order_request(const Json& json);
Json encode(const VenueFill& fill);
Result<VenueFill> decode_venue_fill(const Json& json);
Json encode(const VenueOrder& order);
Result<VenueOrder> decode_venue_order(const Json& json);
Json encode(const VenueAck& ack);
Result<VenueAck> decode_venue_ack(const Json& json);
Json encode(const VenueBalance& balance);
Result<VenueBalance> decode_venue_balance(const Json& json);

}  // namespace interlock
