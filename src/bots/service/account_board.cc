#include "bots/service/account_board.h"

#include <algorithm>
#include <limits>

namespace interlock {
namespace {

// The next moment at which the view changes by itself.
Timestamp next_change(const OnboardingRow& row, Timestamp now) {
    Timestamp next{std::numeric_limits<std::int64_t>::max()};
    const auto consider = [&](const std::optional<Timestamp>& at) {
        if (at && *at > now) {
            next = std::min(next, *at);
        }
    };
    consider(row.key_grant ? std::optional(row.key_grant->expires_at) : std::nullopt);
    consider(row.signup ? row.signup->trial_expires : std::nullopt);
    return next;
}

}  // namespace

void AccountBoard::publish(const TenantId& tenant_id, const OnboardingRow& row, Timestamp now) {
    Entry entry{row, to_text(encode(view_of(tenant_id, row, now))), now, next_change(row, now)};
    // What no view shows does not take room here.
    if (entry.row.signup) {
        entry.row.signup->agent_metadata = {};
    }
    entry.row.asset_lists.clear();
    const std::lock_guard lock(mutex_);
    entries_[tenant_id] = std::move(entry);
}

BotAccountView AccountBoard::view(const TenantId& tenant_id, Timestamp now) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(tenant_id);
    return view_of(tenant_id, found == entries_.end() ? OnboardingRow{} : found->second.row, now);
}

std::string AccountBoard::status_text(const TenantId& tenant_id, Timestamp now) const {
    {
        const std::lock_guard lock(mutex_);
        const auto found = entries_.find(tenant_id);
        if (found != entries_.end() && found->second.good_from <= now &&
            now < found->second.good_until) {
            return found->second.text;
        }
    }
    return to_text(encode(view(tenant_id, now)));
}

}  // namespace interlock
