#include "host/rules/access_policy.h"

namespace interlock {
namespace {

bool role_allows(const Access& access, const Principal& principal, bool is_of_bot) {
    switch (principal.kind) {
        case PrincipalKind::host_operator:
            return access.host_operator;
        case PrincipalKind::human:
            return access.human;
        case PrincipalKind::agent:
            return access.agent_with_any_scope ||
                   (access.agent && principal.scopes.contains(*access.agent)) ||
                   (access.agent_of_bot && is_of_bot &&
                    principal.scopes.contains(*access.agent_of_bot));
        case PrincipalKind::internal:
            break;  // The program calls services directly, never through a face.
    }
    return false;
}

}  // namespace

AccessVerdict decide_access(const Access& access, const AccessQuestion& question) {
    if (access.anyone) {
        return AccessVerdict::allowed;
    }
    if (question.principal == nullptr) {
        return AccessVerdict::unauthenticated;
    }
    const Principal& principal = *question.principal;
    if (access.place == Access::Place::tenant) {
        if (!question.tenant) {
            return AccessVerdict::unauthenticated;
        }
        const bool is_system = *question.tenant == system_tenant();
        if (principal.kind == PrincipalKind::host_operator) {
            if (!question.tenant_exists && !is_system) {
                return AccessVerdict::no_such_tenant;
            }
        } else if (!principal.belongs_to(*question.tenant) || !question.tenant_exists) {
            // A foreign tenant, an unknown one and a bad key must look alike (I7).
            return AccessVerdict::unauthenticated;
        }
        if (is_system && !access.system_tenant) {
            return AccessVerdict::forbidden;
        }
    }
    if (!role_allows(access, principal, question.is_of_bot)) {
        return AccessVerdict::forbidden;
    }
    const bool of_tenant = access.place == Access::Place::tenant;
    if (of_tenant && question.changes && question.vote_rests && !access.human_at_rest) {
        return AccessVerdict::vote_rests;
    }
    return AccessVerdict::allowed;
}

}  // namespace interlock
