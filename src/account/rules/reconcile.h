// Reconciliation: our books against what a venue says, as a pure function
// (docs/contracts/agent-loop.md#verification).
//
// It never invents a fill: only trades the venue listed are booked, each once. What the venue says
// of orders steps them forward; what cannot be explained is drift, what cannot be known yet is
// uncertain. Applying the same report twice changes nothing the second time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "account/rules/account.h"

namespace interlock {

// What asking for one order gave.
struct OrderAnswer {
    OrderClientId order_client_id;
    bool is_reachable = false;        // False: the venue did not answer; says nothing.
    std::optional<VenueOrder> order;  // Nothing: the venue does not know the id.
    std::vector<VenueFill> fills;     // All fills of the order, when they were asked for.
};

// One finding; on the wire "word:subject".
struct Finding {
    std::string word;     // "missing_at_exchange", "field_mismatch:qty", …
    std::string subject;  // Order id, asset or symbol.
    std::string detail;
    friend bool operator==(const Finding&, const Finding&) = default;
};
std::string to_text(const Finding& finding);

struct BalanceMismatch {
    Asset asset;
    Decimal ours;  // Holdings and pending external flows.
    Decimal venue;
    friend bool operator==(const BalanceMismatch&, const BalanceMismatch&) = default;
};

struct ReconcileInput {
    Account account;
    std::vector<SymbolBook> books;  // Every market of the account, ascending.
    VenueReport report;
    std::vector<OrderAnswer> answers;
    // Records of our settled orders that the report speaks of (the service loads them by id).
    std::vector<OrderRecord> settled;
    MarketSet market;  // Steps for tolerances, prices for fees.
    Timestamp now;
};

struct Reconciliation {
    // The next state. Orders that left their book are in `orders` in their last state.
    Account account;
    std::vector<SymbolBook> books;
    std::vector<OrderRecord> orders;  // Every record that changed, ascending by id.
    std::vector<BookedTrade> fills;   // Booked now, in the order they were booked.
    std::vector<Finding> drift;
    std::vector<Finding> uncertain;
    std::vector<BalanceMismatch> balance_mismatches;
    std::vector<VenueOrder> foreign_orders;    // Never touched; their balance is reserved.
    std::vector<ExternalFlow> external_flows;  // New or changed, live accounts only.
    std::vector<OrderClientId> never_arrived;  // Proven now.
    // Orders to ask the venue for, one by one; give the answers with the next call.
    std::vector<OrderClientId> to_query;
    bool duplicate_seen = false;
    bool is_clean = false;  // No drift, nothing uncertain, nothing left to ask or to read.
};
Result<Reconciliation> reconcile(ReconcileInput input);

// Right after a restart: an order whose send was under way is unknown; never sent again.
std::vector<OrderRecord> mark_interrupted(std::vector<SymbolBook>& books, Timestamp at);

// What must hold before start-up recovery may end (agent-loop.md#safe-recovery): no negative
// balance or position, books in balance, no order left submitting. Empty when all does.
std::vector<std::string> startup_problems(
    const Account& account, const std::vector<SymbolBook>& books);

}  // namespace interlock
