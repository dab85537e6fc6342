#include "engine/rules/write_budget.h"

#include <algorithm>

#include "base/crypto.h"
#include "codec/field_reader.h"
#include "engine/rules/fold.h"

namespace interlock {
namespace {

const std::string& place_of(const BudgetRow& row, const std::string& caller) {
    static const std::string kShared;
    const bool has_place = row.spent_by.contains(caller) || row.spent_by.size() < kBudgetCallersMax;
    return has_place ? caller : kShared;
}

}  // namespace

Json encode(const BudgetRow& row) {
    Json callers = Json::object();
    for (const auto& [caller, bytes] : row.spent_by) {
        callers.set(caller, bytes);
    }
    return Json::object({
        {"window", to_text(row.window)},
        {"spent_bytes", row.spent_bytes},
        {"spent_by", std::move(callers)},
        {"unrecorded", row.unrecorded},
        {"first", to_text(row.first)},
        {"last", to_text(row.last)},
        {"digest", row.digest},
    });
}

Result<BudgetRow> decode_budget_row(const Json& json) {
    FieldReader in(json);
    BudgetRow row{
        .window = in.required<Timestamp>("window"),
        .spent_bytes = in.required<std::int64_t>("spent_bytes"),
        .spent_by = {},
        .unrecorded = in.required<std::int64_t>("unrecorded"),
        .first = in.required<Timestamp>("first"),
        .last = in.required<Timestamp>("last"),
        .digest = in.required<std::string>("digest")};
    // Rows of before have none.
    if (const Json* callers = json.find("spent_by"); callers != nullptr && callers->is_object()) {
        for (const auto& [caller, bytes] : callers->members()) {
            row.spent_by.emplace(caller, bytes.as_int64().value_or(0));
        }
    }
    return in.finish(std::move(row));
}

Timestamp budget_window_of(Timestamp at) {
    return {at.microseconds - at.microseconds % kBudgetWindow.microseconds};
}

std::optional<BudgetRow> roll_budget(BudgetRow& row, Timestamp now) {
    const Timestamp window = budget_window_of(now);
    if (row.window == window) {
        return std::nullopt;
    }
    const BudgetRow over = std::exchange(row, BudgetRow{.window = window});
    return over.unrecorded > 0 ? std::optional(over) : std::nullopt;
}

bool is_spent(const BudgetRow& row, const WriteBudget& budget, const std::string& caller) {
    const auto own = row.spent_by.find(place_of(row, caller));
    const std::int64_t own_bytes = own == row.spent_by.end() ? 0 : own->second;
    return row.spent_bytes >= budget.bytes_per_hour || own_bytes >= budget.bytes_per_hour / 2;
}

void spend(BudgetRow& row, const std::string& caller, std::int64_t bytes) {
    row.spent_bytes += bytes;
    row.spent_by[place_of(row, caller)] += bytes;
}

void count_unrecorded(BudgetRow& row, Timestamp at, std::string_view what) {
    const Timestamp time = std::max(at, row.last);  // Never backwards, as in a fold.
    row.first = row.unrecorded == 0 ? time : row.first;
    row.last = time;
    row.digest = fold_link(row.digest, time, sha256_hex(what));
    ++row.unrecorded;
}

AuditDraft budget_spent_draft(const TenantId& tenant_id, const BudgetRow& row) {
    AuditDraft draft;
    draft.tenant_id = tenant_id;
    draft.event = std::string(kBudgetSpentEvent);
    draft.principal = "internal:write_budget";
    draft.status = AuditStatus::started;
    draft.reason =
        "refused calls wrote what the plan allows in an hour; further ones are counted, "
        "not recorded, until " +
        to_text(row.window + kBudgetWindow);
    draft.detail = Json::object(
        {{"spent_bytes", row.spent_bytes}, {"refills_at", to_text(row.window + kBudgetWindow)}});
    return draft;
}

AuditDraft budget_refilled_draft(const TenantId& tenant_id, const BudgetRow& over) {
    AuditDraft draft;
    draft.tenant_id = tenant_id;
    draft.event = std::string(kBudgetRefilledEvent);
    draft.principal = "internal:write_budget";
    draft.reason = std::to_string(over.unrecorded) + " refused calls from " + to_text(over.first) +
                   " to " + to_text(over.last) + " were not recorded";
    draft.detail = Json::object({
        {"count", over.unrecorded},
        {"first", to_text(over.first)},
        {"last", to_text(over.last)},
        {"digest", over.digest},
    });
    return draft;
}

}  // namespace interlock
