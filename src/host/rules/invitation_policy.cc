#include "host/rules/invitation_policy.h"

#include <algorithm>

#include "base/errors.h"
#include "host/wire/approval.h"

namespace interlock {

bool TenantPeople::anyone_activated() const {
    return std::any_of(
        humans.begin(), humans.end(), [](const Human& human) { return human.is_activated(); });
}

Result<void> may_invite(const Principal& principal, const TenantPeople& people) {
    switch (principal.kind) {
        case PrincipalKind::host_operator:
            if (people.anyone_activated()) {
                return fail(
                    errors::bootstrap_closed,
                    "The tenant \"" + people.tenant_id.text() +
                        "\" has a human already, and only its humans may invite others.");
            }
            return {};
        case PrincipalKind::human:
            if (principal.belongs_to(people.tenant_id)) {
                return {};
            }
            break;
        case PrincipalKind::agent:
        case PrincipalKind::internal:
            break;
    }
    return fail(
        errors::human_required, "Only a human of this tenant may invite another one into it.");
}

Result<void> may_issue_code(
    const Principal& principal, const Human& human, const std::vector<TenantPeople>& belongs_to) {
    for (const TenantPeople& people : belongs_to) {
        if (human.memberships.contains(people.tenant_id) && !may_invite(principal, people)) {
            return fail(
                errors::invitation_pending,
                "This person has an open invitation from elsewhere and must accept that first.");
        }
    }
    return {};
}

Result<Joined> join_tenant(Human human, const JoinCall& call) {
    TRY(may_invite(call.principal, call.people));
    Joined joined;
    std::size_t members = call.people.humans.size();
    const TenantId& tenant_id = call.people.tenant_id;
    if (call.principal.kind == PrincipalKind::host_operator) {
        for (Human other : call.people.humans) {
            if (other.human_id == human.human_id) {
                continue;
            }
            other.memberships.erase(tenant_id);
            other.one_time_code.reset();
            joined.withdrawn.push_back(std::move(other));
        }
        members -= joined.withdrawn.size();
    }
    if (!human.memberships.contains(tenant_id)) {
        if (members >= kHumansMax) {
            return fail(
                errors::limit_reached,
                "A tenant has at most " + std::to_string(kHumansMax) + " humans.");
        }
        if (human.memberships.size() >= kMembershipsMax) {
            return fail(
                errors::limit_reached,
                "A human belongs to at most " + std::to_string(kMembershipsMax) + " tenants.");
        }
    }
    human.memberships.insert(tenant_id);
    joined.human = std::move(human);
    return joined;
}

}  // namespace interlock
