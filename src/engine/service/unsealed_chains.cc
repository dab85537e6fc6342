#include "engine/service/unsealed_chains.h"

#include <algorithm>

namespace interlock {

UnsealedChains::Growth UnsealedChains::of(const TenantId& tenant_id) const {
    const auto found = growths_.find(tenant_id);
    return found == growths_.end() ? Growth{} : found->second;
}

void UnsealedChains::set(const TenantId& tenant_id, Growth growth) {
    growths_[tenant_id] = growth;
    note_due(growth);
}

void UnsealedChains::note(const TurnCommit& commit, Timestamp at) {
    for (const LedgerEntry& entry : commit.audit) {
        const bool is_seal =
            std::ranges::any_of(commit.checkpoints, [&](const Checkpoint& checkpoint) {
                return checkpoint.tenant_id == entry.tenant_id && checkpoint.seq == entry.seq;
            });
        Growth& growth = growths_[entry.tenant_id];
        if (is_seal) {
            growth = {};
            continue;
        }
        if (growth.records++ == 0) {
            growth.since = at;
        }
        if (growth.records == 1 || growth.records == kSealEvery) {
            note_due(growth);
        }
    }
}

bool UnsealedChains::is_due(const TenantId& tenant_id, Timestamp now) const {
    const Growth growth = of(tenant_id);
    return growth.records >= kSealEvery ||
           (growth.records > 0 && now - growth.since >= kSealPeriod);
}

void UnsealedChains::reckon() {
    due_at_.reset();
    for (const auto& [tenant_id, growth] : growths_) {
        note_due(growth);
    }
}

void UnsealedChains::note_due(const Growth& growth) {
    if (growth.records > 0) {
        const Timestamp due =
            growth.records >= kSealEvery ? growth.since : growth.since + kSealPeriod;
        due_at_ = due_at_ ? std::min(*due_at_, due) : due;
    }
}

}  // namespace interlock
