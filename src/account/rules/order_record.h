// One order of ours from write-ahead to its end: what was asked, what the venue answered, and which
// of its trades are in our books.
//
//     submitting ─► unknown ─► resting ─► partially_filled ─► filled
//          │           │          └────────────┴───────────► canceled
//          └───────────┴─► rejected | never_arrived | any of the above
//
// Two truths are kept apart on purpose. `filled_qty` grows only with trades that were booked;
// `reported_qty` is the most the venue ever claimed. An order is settled when it is over and both
// agree; until then what is missing stays reserved at its worst case (I4).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "account/wire/venue_order.h"
#include "base/json.h"
#include "base/time.h"

namespace interlock {

// Trades remembered one by one; older ones are covered by `trades_floor`.
inline constexpr std::size_t kTradesPerOrderMax = 512;
inline constexpr std::int64_t kNoTradesFloor = -1;  // Below every trade id.

// The cancel_reason of an order the venue acknowledged and later did not know.
inline constexpr std::string_view kVanishedReason = "missing_at_exchange";

// The reject_code of a post-only order that would have traded at once.
inline constexpr std::string_view kWouldTakeCode = "would_take";

// The proof that an order never reached the venue (agent-loop.md#verification).
struct ArrivalProof {
    std::int64_t absent_queries = 0;  // Single-order queries that did not find it.
    std::optional<Timestamp> last_absent_at;
    friend bool operator==(const ArrivalProof&, const ArrivalProof&) = default;
};

struct OrderRecord {
    VenueOrderRequest request;
    DecisionId decision_id;
    TickId tick_id;
    IntentId intent_id;
    StrategyId strategy_id;
    OrderState state = OrderState::submitting;
    std::string exchange_order_id;  // Empty until the venue named one.
    Decimal filled_qty;             // Booked.
    Decimal filled_quote;
    Decimal reported_qty;   // The venue's claim; never shrinks.
    Decimal reserve_price;  // Worst price: the limit, or what a market order was bounded by.
    // The best price of the side it would take from, in the facts that let it go; what its slippage
    // is measured against. Nothing: an order of before this was kept, or of none of our decisions.
    std::optional<Decimal> touch_price;
    Decimal fee_quote;  // Of what is booked, at its worth when it was booked.
    bool is_reduce = false;
    bool cancel_requested = false;        // By us; any other end of a GTC order is drift.
    std::vector<std::int64_t> trade_ids;  // Booked, ascending.
    // Every trade id up to this one counts as booked; set when trade_ids overflowed.
    std::int64_t trades_floor = kNoTradesFloor;
    std::string reject_code;
    std::string cancel_reason;
    ArrivalProof proof;
    Timestamp created_at;
    Timestamp updated_at;
    std::optional<Timestamp> submitted_at;

    const OrderClientId& id() const { return request.order_client_id; }
    const Symbol& symbol() const { return request.symbol; }
    friend bool operator==(const OrderRecord&, const OrderRecord&) = default;
};

bool has_trade(const OrderRecord& order, std::int64_t trade_id);
// May still change our books: live, or over with trades we have not booked.
bool is_settled(const OrderRecord& order);
// What must stay reserved: all that may still fill, or that filled and is not booked yet. Never
// negative.
Decimal reserved_qty(const OrderRecord& order);
// submitting or unknown.
bool is_uncertain(const OrderRecord& order);
// How much worse than the touch the fills of an order that took are, in basis points of the touch;
// negative: better. Nothing for an order that was to rest, has no fills or knows no touch. Neither
// what the caller assumed nor what was reserved has a part in it.
std::optional<Decimal> slippage_bps_of(const OrderRecord& order);

// What the world answered about one order.
struct OrderSent {};  // The send is about to happen; sets submitted_at.
struct OrderReported {
    VenueOrder order;  // From an ack, a query, a cancel or a report: all are read the same way.
};
struct OrderRejected {
    std::string code;
};
struct OrderOutcomeUnknown {};
struct OrderAbsent {};  // A single-order query did not find it.
struct OrderNeverArrived {};
struct OrderVanished {};  // Was acknowledged, and its absence is proven: over, as kVanishedReason.
struct CancelRequested {};
using OrderEvent = std::variant<
    OrderSent,
    OrderReported,
    OrderRejected,
    OrderOutcomeUnknown,
    OrderAbsent,
    OrderNeverArrived,
    OrderVanished,
    CancelRequested>;

struct OrderStep {
    OrderRecord order;
    OrderState before = OrderState::submitting;
    bool changed = false;            // Anything at all.
    bool ended = false;              // Was live, is over.
    std::vector<std::string> drift;  // "field_mismatch:qty", "unexpected_order", …
};
// Never goes backwards: a late "new" after "filled" changes nothing, a rejection after an ack is
// drift and not believed. Sign of life from an order thought over (rejected, never_arrived) revives
// it, so that its exposure is reserved again, and is drift.
OrderStep step_order(OrderRecord order, const OrderEvent& event, Timestamp at);

// Books one trade into the record (the money side is apply_fill in account/rules/account.h). The
// caller checked has_trade(). Drift: "overfill", "unexpected_order".
struct FillNoted {
    OrderRecord order;
    std::vector<std::string> drift;
};
Result<FillNoted> note_fill(OrderRecord order, const VenueFill& fill);

Json encode(const OrderRecord& order);
Result<OrderRecord> decode_order_record(const Json& json);

}  // namespace interlock
