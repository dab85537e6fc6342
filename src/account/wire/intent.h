// What a planner wants: intents and cancels in a plan (docs/contracts/agent-loop.md#tools).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "codec/field_reader.h"
#include "engine/wire/ids.h"
#include "market/wire/symbol.h"

namespace interlock {

enum class Side { buy, sell };
enum class OrderType { market, limit };
enum class TimeInForce { gtc, ioc, fok };
enum class TradeMode { paper, shadow, live };
std::string_view to_word(Side side);
std::string_view to_word(OrderType type);
std::string_view to_word(TimeInForce tif);
std::string_view to_word(TradeMode mode);
Side read_side(FieldReader& in, std::string_view key);
OrderType read_order_type(FieldReader& in, std::string_view key);
TimeInForce read_time_in_force(FieldReader& in, std::string_view key);
TradeMode read_trade_mode(FieldReader& in, std::string_view key);

struct Intent {
    IntentId intent_id;  // `i0`, `i1`, … by position when the planner gave none.
    Symbol symbol;
    Side side = Side::buy;
    OrderType order_type = OrderType::limit;
    Decimal qty;                         // > 0.
    std::optional<Decimal> limit_price;  // > 0; set exactly for limit orders.
    TimeInForce time_in_force = TimeInForce::gtc;
    bool post_only = false;  // Limit orders only.
    StrategyId strategy_id;
    std::optional<Decimal> expected_edge_bps;
    OrderClientId order_client_id;  // At execute only; as the planner derived it.
    friend bool operator==(const Intent&, const Intent&) = default;
};

inline constexpr std::size_t kIntentsMax = 50;
inline constexpr std::size_t kCancelsMax = 100;

struct Plan {
    std::vector<Intent> intents;
    std::vector<OrderClientId> cancels;  // Own orders to cancel; exempt from gates 1–4.
    std::string reason;
};

// Which fields a tool demands: all three take the full shape.
enum class IntentForm { validate, dry_run, execute };
// Reads one intent of a request; problems go to `in` with the path of `key`.
Intent decode_intent(const Json& json, std::size_t position, IntentForm form, FieldReader& in);
std::vector<Intent> decode_intents(FieldReader& in, std::string_view key, IntentForm form);
std::vector<OrderClientId> decode_cancels(FieldReader& in);
Result<Plan> decode_plan(const Json& json, IntentForm form, const std::string& path);

Json encode(const Intent& intent);
Json encode(const Plan& plan);
Result<Plan> decode_stored_plan(const Json& json);

// SHA-256 over (intent_id, symbol, side, order_type, qty, limit_price, post_only) of every intent
// in order, and the cancels: what a gate ticket is bound to.
std::string intents_hash(const Plan& plan);

Json intents_schema(IntentForm form);
Json cancels_schema();

}  // namespace interlock
