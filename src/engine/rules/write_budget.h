// What a tenant's refused calls may write into its ledger in an hour, by its plan. Past it they are
// answered and counted, not recorded; what passes is never touched by it, so stops, fills, cancels,
// votes and reconciliation are not. One caller gets at most half of it, so that an agent that runs
// wild leaves its colleagues their part.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "engine/wire/audit_record.h"

namespace interlock {

inline constexpr std::string_view kBudgetSpentEvent = "WRITE_BUDGET_EXHAUSTED";
inline constexpr std::string_view kBudgetRefilledEvent = "WRITE_BUDGET_REFILLED";
inline constexpr Duration kBudgetWindow = Duration::of_hours(1);
// What a record or a stored answer takes beside its text: hashes, keys, index.
inline constexpr std::int64_t kRowOverheadBytes = 256;

// Callers that are counted apart in an hour; later ones share a count.
inline constexpr std::size_t kBudgetCallersMax = 64;

struct WriteBudget {
    std::int64_t bytes_per_hour = 0;
};

struct BudgetRow {
    Timestamp window;  // Begin of the hour that is counted.
    std::int64_t spent_bytes = 0;
    std::map<std::string, std::int64_t> spent_by = {};  // By caller; "" for those without a place.
    std::int64_t unrecorded = 0;                        // Refusals past the budget.
    Timestamp first = {};
    Timestamp last = {};
    std::string digest = {};  // Over time, operation and caller of each, as a fold's.
    friend bool operator==(const BudgetRow&, const BudgetRow&) = default;
};
Json encode(const BudgetRow& row);
Result<BudgetRow> decode_budget_row(const Json& json);

Timestamp budget_window_of(Timestamp at);
inline Timestamp refill_of(Timestamp at) {
    return budget_window_of(at) + kBudgetWindow;
}
// Begins the hour of `now` if another one is counted; gives that one when it left something
// unrecorded.
std::optional<BudgetRow> roll_budget(BudgetRow& row, Timestamp now);
// The tenant's budget, or the caller's half of it.
bool is_spent(const BudgetRow& row, const WriteBudget& budget, const std::string& caller);
void spend(BudgetRow& row, const std::string& caller, std::int64_t bytes);
// One more that is not recorded.
void count_unrecorded(BudgetRow& row, Timestamp at, std::string_view what);

// The record of the first refusal that is not recorded, and of the end of such an hour.
AuditDraft budget_spent_draft(const TenantId& tenant_id, const BudgetRow& row);
AuditDraft budget_refilled_draft(const TenantId& tenant_id, const BudgetRow& over);

}  // namespace interlock
