// The part of a turn that counts repeats instead of recording them, and keeps refusals within the
// tenant's write budget. Both live in machine states that are rewritten in place in the turn's own
// commit, so a crash loses no count and nothing here grows.
//
//     fold/<tenant>/<slot>   the open folds of a few subjects
//     write_budget/<tenant>  what this hour's refusals wrote
#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "engine/service/fold_service.h"
#include "engine/service/turn.h"

namespace interlock {
namespace {

TimerItem timer_of(
    const TenantId& tenant_id, std::string_view kind, std::string key, Timestamp at) {
    return {
        .timer_id = TimerId::trusted(std::move(key)),
        .tenant_id = tenant_id,
        .kind = std::string(kind),
        .json = "{}",
        .due_at = at};
}

std::string who_and_what(const TurnRequest& request) {
    return request.function + " " + to_text(request.principal);
}

}  // namespace

Result<FoldRow> Turn::load_folds(const std::string& machine_key) {
    TRY_ASSIGN(const auto row, load_as<FoldRow>(machine_key, decode_fold_row));
    return row ? *row : FoldRow{};
}

void Turn::save_folds(const std::string& machine_key, FoldRow row) {
    save_as(machine_key, std::make_shared<const FoldRow>(std::move(row)));
    ++fold_states_;
}

Result<void> Turn::record_fold(const TenantId& tenant_id, const OpenFold& fold, FoldEnd end) {
    if (auto closing = fold_draft(tenant_id, fold, end)) {
        TRY(seal_draft(*std::move(closing)));
        ++fold_records_;
    }
    return {};
}

bool Turn::changed_nothing_else() const {
    return commit_.states.size() == fold_states_ && commit_.audit.size() == fold_records_ &&
           commit_.timers.size() == fold_timers_ && commit_.timers_finished.empty() &&
           commit_.answers.empty() && commit_.outbox.empty() && commit_.outbox_unknown.empty() &&
           commit_.outbox_finished.empty() && commit_.claims_released.empty() &&
           commit_.claims_taken.empty() && commit_.artifacts.empty() &&
           commit_.checkpoints.empty() && commit_.removals.empty() && completed_.empty();
}

Result<Occurrence> Turn::occurrence(AuditDraft& draft, const Repeat& repeat) const {
    // What is compared is what is recorded.
    mask_draft(draft);
    draft.timestamp = draft.timestamp == Timestamp{} ? now_ : draft.timestamp;
    return occurrence_of(draft, repeat, request_.request_hash);
}

Result<std::optional<std::string>> Turn::count_repeat(AuditDraft draft, const Repeat& repeat) {
    TRY_ASSIGN(Occurrence now, occurrence(draft, repeat));
    if (folding_ == Folding::off || !changed_nothing_else()) {
        now.kind.clear();
    }
    const std::string key = fold_key(draft.tenant_id, repeat.subject);
    TRY_ASSIGN(FoldRow row, load_folds(key));
    FoldStep step = step_fold(row, now);
    if (!step.counted_as && !step.closed) {
        return std::nullopt;
    }
    if (step.closed) {
        TRY(record_fold(draft.tenant_id, *step.closed, FoldEnd::kind_changed));
    }
    save_folds(key, std::move(row));
    has_counted_ = has_counted_ || step.counted_as.has_value();
    return std::move(step.counted_as);
}

Result<void> Turn::expect_repeats(AuditDraft draft, const Repeat& repeat) {
    TRY_ASSIGN(const Occurrence now, occurrence(draft, repeat));
    if (now.kind.empty()) {
        return {};
    }
    const std::string name = "\"event\":\"" + draft.event + "\"";
    const auto record =
        std::find_if(commit_.audit.rbegin(), commit_.audit.rend(), [&](const LedgerEntry& entry) {
            return entry.tenant_id == draft.tenant_id &&
                   entry.canonical_json.find(name) != std::string::npos;
        });
    CHECK(record != commit_.audit.rend());
    const std::string key = fold_key(draft.tenant_id, repeat.subject);
    TRY_ASSIGN(FoldRow row, load_folds(key));
    const bool has_timer = folds_due(row).has_value();
    const std::string ref = std::to_string(record->seq) + ":" + record->hash.substr(0, 16);
    if (const auto out = open_fold(row, now, repeat, {draft.event, ref, record->hash})) {
        TRY(record_fold(draft.tenant_id, *out, FoldEnd::room_needed));
    }
    if (!has_timer) {
        // One timer a row; it sets itself anew while something is open.
        set_timer(timer_of(draft.tenant_id, kFoldTimer, key, *folds_due(row)));
        ++fold_timers_;
    }
    save_folds(key, std::move(row));
    return {};
}

Result<std::string> Turn::audit_repeat(AuditDraft draft, const Repeat& repeat) {
    TRY_ASSIGN(std::optional<std::string> counted, count_repeat(draft, repeat));
    if (counted) {
        return *std::move(counted);
    }
    TRY_ASSIGN(std::string ref, audit(draft));
    TRY(expect_repeats(std::move(draft), repeat));
    return ref;
}

Result<std::string> Turn::audit_refusal(AuditDraft draft, std::vector<std::string> varying) {
    const std::size_t records_before = commit_.audit.size();
    mask_draft(draft);
    // Each kind is a subject of its own: callers that mix refusals do not close each other's folds.
    TRY_ASSIGN(const std::string kind, fold_kind(draft, varying));
    const Repeat repeat{
        .subject = "refused/" + kind, .what = "refused call", .varying = std::move(varying)};
    TRY_ASSIGN(std::string ref, audit_repeat(std::move(draft), repeat));
    // What is only counted costs nothing but the answer that its key has stored (TurnRunner).
    std::int64_t bytes = 0;
    for (std::size_t i = records_before; i < commit_.audit.size(); ++i) {
        bytes += std::ssize(commit_.audit[i].canonical_json) + kRowOverheadBytes;
    }
    if (bytes > 0) {
        TRY(charge(bytes));
    }
    return ref;
}

Result<void> Turn::charge_agent(std::int64_t bytes) {
    return request_.principal.kind == PrincipalKind::agent ? charge(bytes) : Result<void>();
}

Result<void> Turn::charge(std::int64_t bytes) {
    const auto budget = request_.principal.kind == PrincipalKind::host_operator
                            ? std::nullopt
                            : background_.write_budget(request_.tenant_id);
    if (!budget) {
        return {};
    }
    TRY_ASSIGN(BudgetRow row, load_budget());
    const std::string caller = to_text(request_.principal);
    if (is_spent(row, *budget, caller)) {
        const Timestamp refill = refill_of(now_);
        auto refusal = fail(
            errors::write_budget_exhausted,
            "Calls that were refused or repeated have written what the plan allows in an hour; "
            "nothing was done, and the budget is full again at " +
                to_text(refill) + ".");
        refusal.error().retry_after_seconds =
            static_cast<int>((refill - now_).microseconds / 1'000'000) + 1;
        return refusal;
    }
    spend(row, caller, bytes);
    save_budget(std::move(row));
    return {};
}

Result<BudgetRow> Turn::load_budget() {
    TRY_ASSIGN(
        const auto held, load_as<BudgetRow>(budget_key(request_.tenant_id), decode_budget_row));
    BudgetRow row = held ? *held : BudgetRow{.window = budget_window_of(now_)};
    if (const auto over = roll_budget(row, now_)) {
        TRY(seal_draft(budget_refilled_draft(request_.tenant_id, *over)));
        ++fold_records_;
    }
    return row;
}

void Turn::save_budget(BudgetRow row) {
    save_as(budget_key(request_.tenant_id), std::make_shared<const BudgetRow>(std::move(row)));
    ++fold_states_;
}

Result<void> Turn::count_unrecorded() {
    TRY_ASSIGN(BudgetRow row, load_budget());
    if (row.unrecorded == 0) {
        TRY(seal_draft(budget_spent_draft(request_.tenant_id, row)));
        const std::string key = budget_key(request_.tenant_id);
        set_timer(timer_of(request_.tenant_id, kBudgetTimer, key, row.window + kBudgetWindow));
    }
    interlock::count_unrecorded(row, now_, who_and_what(request_));
    save_budget(std::move(row));
    return {};
}

Result<void> Turn::refill_budget() {
    TRY_ASSIGN(BudgetRow row, load_budget());
    save_budget(std::move(row));
    return {};
}

Result<void> Turn::close_folds(const std::string& machine_key, FoldEnd end) {
    TRY_ASSIGN(FoldRow row, load_folds(machine_key));
    const bool all = end == FoldEnd::shutdown;
    const auto closed = take_folds(row, all ? std::nullopt : std::optional(now_));
    for (const OpenFold& fold : closed) {
        TRY(record_fold(request_.tenant_id, fold, end));
    }
    if (const auto due = folds_due(row)) {
        set_timer(timer_of(request_.tenant_id, kFoldTimer, machine_key, *due));
    }
    if (!closed.empty()) {
        save_folds(machine_key, std::move(row));
    }
    return {};
}

}  // namespace interlock
