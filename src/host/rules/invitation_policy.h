// Who may bring a human into a tenant, as pure functions.
//
// Humans approve what agents ask for, so adding one is adding power. An agent may run under the
// same user as the operator; the operator therefore invites only while nobody of the tenant has
// accepted yet (the bootstrap), and that one person at most. From then on humans invite humans.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/wire/principal.h"
#include "host/wire/human.h"
#include "host/wire/tenant.h"

namespace interlock {

// The humans of one tenant as the rule sees them.
struct TenantPeople {
    TenantId tenant_id;
    std::vector<Human> humans;

    bool anyone_activated() const;
};

Result<void> may_invite(const Principal& principal, const TenantPeople& people);

// May this principal hand out a (new) one-time code for this human? Only someone who may invite
// into every tenant the human belongs to: the code sets the password, and with it comes all of
// them. `invitation_pending` otherwise.
Result<void> may_issue_code(
    const Principal& principal, const Human& human, const std::vector<TenantPeople>& belongs_to);

struct JoinCall {
    Principal principal;
    TenantPeople people;  // Of the tenant to join, before.
};
struct Joined {
    Human human;
    // Earlier bootstrap invitations of this tenant that the operator replaces: there is one at most
    // at any time. Their codes are void.
    std::vector<Human> withdrawn;
};
// The human as a member of the tenant. Fails where may_invite() does, and at the bounds.
Result<Joined> join_tenant(Human human, const JoinCall& call);

}  // namespace interlock
