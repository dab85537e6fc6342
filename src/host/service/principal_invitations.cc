// The part of the principal service that brings humans into tenants. The rules are in
// host/rules/invitation_policy.h; here they meet the records.
#include <algorithm>
#include <utility>

#include "host/rules/invitation_policy.h"
#include "host/rules/login_policy.h"
#include "host/service/principal_service.h"

namespace interlock {

void PrincipalService::invite_human(Caller caller, InviteHuman request, Reply<Invitation> reply) {
    parts_.submit(typed_turn<Invitation>(
        turn_of(std::move(caller.principal), std::move(caller.tenant_id), "invite_human"),
        [this, request = std::move(request)](Turn& turn) {
            return decide_invitation(turn, request);
        },
        std::move(reply)));
}

Result<Outcome<Invitation>> PrincipalService::decide_invitation(
    Turn& turn, const InviteHuman& request) {
    std::vector<TenantId> joins{turn.tenant_id()};
    if (request.system_member && turn.tenant_id() != system_tenant()) {
        joins.push_back(system_tenant());
    }
    for (const TenantId& tenant_id : joins) {
        TRY_ASSIGN(const TenantPeople people, records_.people_of(turn, tenant_id));
        TRY(may_invite(turn.principal(), people));
    }
    TRY_ASSIGN(std::optional<Human> known, records_.find_human_by_email(turn, request.email));
    Human human;
    if (known) {
        human = *std::move(known);
    } else {
        human.human_id = HumanId::trusted(turn.new_id("hum"));
        human.email = request.email;
        human.created_at = turn.now();
    }
    Invitation invitation;
    if (!human.is_activated()) {
        std::vector<TenantPeople> belongs_to;
        for (const TenantId& tenant_id : human.memberships) {
            TRY_ASSIGN(TenantPeople people, records_.people_of(turn, tenant_id));
            belongs_to.push_back(std::move(people));
        }
        TRY(may_issue_code(turn.principal(), human, belongs_to));
        invitation.code = parts_.ids.new_secret("ilc");
        human.one_time_code = {
            sha256_hex(invitation.code->reveal()), turn.now() + kOneTimeCodeLife};
    }
    for (const TenantId& tenant_id : joins) {
        TRY_ASSIGN(std::string audit_ref, admit(turn, tenant_id, human));
        if (invitation.audit_ref.empty()) {
            invitation.audit_ref = std::move(audit_ref);
        }
    }
    records_.add_human(turn, human);
    invitation.human = std::move(human);
    return invitation;
}

// Makes the human a member and records it in the tenant's chain; gives the record's audit_ref.
Result<std::string> PrincipalService::admit(Turn& turn, const TenantId& tenant_id, Human& human) {
    TRY_ASSIGN(TenantPeople people, records_.people_of(turn, tenant_id));
    TRY_ASSIGN(Joined joined, join_tenant(std::move(human), {turn.principal(), std::move(people)}));
    human = std::move(joined.human);
    TRY_ASSIGN(Tenant tenant, records_.tenant(turn, tenant_id));
    for (const Human& withdrawn : joined.withdrawn) {
        std::erase(tenant.human_ids, withdrawn.human_id);
        records_.save(turn, withdrawn);
        AuditDraft draft = turn.draft("HUMAN_INVITATION_WITHDRAWN");
        draft.tenant_id = tenant_id;
        draft.detail.set("human_id", withdrawn.human_id.text());
        TRY(turn.audit(std::move(draft)));
    }
    auto& ids = tenant.human_ids;
    if (std::find(ids.begin(), ids.end(), human.human_id) == ids.end()) {
        ids.push_back(human.human_id);
    }
    records_.save(turn, tenant);
    AuditDraft draft = turn.draft(human.is_activated() ? "HUMAN_ADDED" : "HUMAN_INVITED");
    draft.tenant_id = tenant_id;
    draft.detail.set("human_id", human.human_id.text());
    draft.detail.set("email", human.email);
    return turn.audit(std::move(draft));
}

void PrincipalService::list_humans(Caller caller, Reply<Answer> reply) {
    TurnRequest turn =
        turn_of(std::move(caller.principal), std::move(caller.tenant_id), "list_humans");
    turn.decide = [this](Turn& in) -> Result<TurnReply> {
        TRY_ASSIGN(const TenantPeople people, records_.people_of(in, in.tenant_id()));
        return Answer{.http_status = 200, .body = to_text(encode_humans(people.humans))};
    };
    turn.reply = std::move(reply);
    parts_.submit(std::move(turn));
}

}  // namespace interlock
