// Verification of one execution (docs/contracts/agent-loop.md#verification): intended orders
// against the venue's answers, as matched, drift or uncertain; and the proof that an order never
// arrived.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "account/rules/order_record.h"
#include "account/rules/reconcile.h"
#include "base/json.h"

namespace interlock {

inline constexpr std::int64_t kAbsentQueriesNeeded = 3;
inline constexpr Duration kArrivalGrace = Duration::of_seconds(15);

// Three single-order queries without it, the last at least 15 s after the send, and neither open
// orders nor trades know it.
struct ArrivalFacts {
    Timestamp now;
    bool in_open_orders = false;
    bool has_trades = false;  // Any that are not booked.
};
bool has_never_arrived(const OrderRecord& order, const ArrivalFacts& facts);
// The same proof for an order the venue had acknowledged and no longer knows: it is over, and that
// it ended so is drift.
bool has_vanished(const OrderRecord& order, const ArrivalFacts& facts);

enum class VerifyOutcome { matched, drift, uncertain };  // Stronger last.
std::string_view to_word(VerifyOutcome outcome);

struct VerifiedOrder {
    OrderClientId order_client_id;
    std::string exchange_order_id;  // Empty: null on the wire.
    OrderState state = OrderState::unknown;
    Decimal fill_qty;
    std::optional<Decimal> avg_fill_price;
    VerifyOutcome outcome = VerifyOutcome::uncertain;
};

struct Verification {
    VerifyOutcome overall = VerifyOutcome::matched;
    std::vector<VerifiedOrder> orders;       // As asked for.
    std::vector<std::string> drift_reasons;  // "word:order_client_id"; "shadow" for shadow orders.
    std::vector<std::string> uncertain_reasons;
};

// Drift words of one order as the venue shows it against what we asked: fields, overfill, price,
// and an end its time in force does not allow.
std::vector<std::string> compare_order(const OrderRecord& order, const VenueOrder& seen);

struct VerifyInput {
    std::vector<OrderRecord> orders;   // After the answers were stepped and fills booked.
    std::vector<OrderAnswer> answers;  // By id; one that is missing was not asked.
    std::vector<Finding> drift;        // Further findings of a reconciliation, if any.
    Timestamp now;
};
Verification verify_orders(const VerifyInput& input);

// The `verification` object of py_verify_execution, with `uncertain_reasons` beside.
Json encode(const Verification& verification);

}  // namespace interlock
