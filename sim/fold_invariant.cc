#include "sim/fold_invariant.h"

#include <algorithm>

#include "engine/service/fold_service.h"

namespace interlock::sim {
namespace {

const OpenFold* find(const FoldRow& row, const OpenFold& like) {
    const auto found = std::find_if(row.open.begin(), row.open.end(), [&](const OpenFold& fold) {
        return fold.subject == like.subject && fold.of_ref == like.of_ref;
    });
    return found == row.open.end() ? nullptr : &*found;
}

bool is_bookkeeping(const std::string& machine_key) {
    return machine_key.starts_with(kFoldPrefix) || machine_key.starts_with("write_budget/");
}

// What a turn that was only counted may leave besides its count.
bool changed_nothing(const TurnCommit& turn, std::span<const AuditRecord> records) {
    return turn.outbox.empty() && turn.outbox_finished.empty() && turn.outbox_unknown.empty() &&
           turn.artifacts.empty() && turn.claims_taken.empty() && turn.claims_released.empty() &&
           std::all_of(
               turn.states.begin(),
               turn.states.end(),
               [](const StateWrite& state) { return is_bookkeeping(state.machine_key); }) &&
           std::all_of(records.begin(), records.end(), [](const AuditRecord& record) {
               return record.draft.event == kFoldEvent ||
                      record.draft.event == kBudgetRefilledEvent;
           });
}

}  // namespace

void FoldInvariant::on_commit(const TurnCommit& turn, std::span<const AuditRecord> records) {
    counted_in_turn_ = 0;
    for (const AuditRecord& record : records) {
        on_record(record);
    }
    for (const StateWrite& state : turn.states) {
        if (!state.machine_key.starts_with(kFoldPrefix)) {
            continue;
        }
        const auto json = parse_json(state.json);
        auto row = json ? decode_fold_row(*json) : std::unexpected(json.error());
        if (!row) {
            broken(state.machine_key + " was committed and cannot be read");
            continue;
        }
        on_row(state.machine_key, *std::move(row), records);
    }
    if (counted_in_turn_ > 0 && !changed_nothing(turn, records)) {
        broken("a turn was counted as a repeat and changed something");
    }
}

void FoldInvariant::on_row(
    const std::string& key, FoldRow next, std::span<const AuditRecord> records) {
    FoldRow& last = rows_[key];
    for (const OpenFold& before : last.open) {
        if (const OpenFold* after = find(next, before)) {
            on_counted(before, *after);
        } else if (before.count > 0) {
            on_ended(before, records);
        }
    }
    for (const OpenFold& fold : next.open) {
        if (find(last, fold) == nullptr && fold.count != 0) {
            broken(fold.of_ref + " is repeated before it is recorded");
        }
    }
    last = std::move(next);
}

void FoldInvariant::on_counted(const OpenFold& before, const OpenFold& after) {
    if (before.count == after.count && before.digest == after.digest) {
        return;
    }
    const bool is_next = after.count == before.count + 1 && after.digest_before == before.digest &&
                         after.digest == fold_link(before.digest, after.last, after.last_facts) &&
                         after.kind == before.kind && after.last >= before.last;
    if (!is_next) {
        broken(
            "the count of " + before.subject + " went from " + std::to_string(before.count) +
            " to " + std::to_string(after.count));
    }
    ++counted_;
    ++counted_in_turn_;
}

void FoldInvariant::on_ended(const OpenFold& fold, std::span<const AuditRecord> records) {
    const bool told = std::any_of(records.begin(), records.end(), [&](const AuditRecord& record) {
        const auto said = decode_fold(record.draft.detail);
        return record.draft.event == kFoldEvent && said && said->of_ref == fold.of_ref &&
               said->count == fold.count && said->digest == fold.digest;
    });
    if (!told) {
        broken(
            std::to_string(fold.count) + " of " + fold.subject + " were counted and not recorded");
    }
}

void FoldInvariant::on_record(const AuditRecord& record) {
    if (record.draft.event != kFoldEvent) {
        repeated_.insert_or_assign({record.draft.tenant_id, audit_ref(record)}, record);
        return;
    }
    const auto fold = decode_fold(record.draft.detail);
    const auto found =
        fold ? repeated_.find({record.draft.tenant_id, fold->of_ref}) : repeated_.end();
    const std::string problem =
        fold_problem(record, found == repeated_.end() ? nullptr : &found->second);
    if (!problem.empty()) {
        broken(audit_id(record) + ": " + problem);
    }
}

}  // namespace interlock::sim
