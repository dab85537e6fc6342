#include "host/rules/approval_step.h"

#include <algorithm>

namespace interlock {
namespace {

// What must hold for any decision on a request, whichever way it goes.
Result<void> may_decide(const Approval& approval, const ApprovalCall& call) {
    if (call.principal.kind != PrincipalKind::human ||
        !call.principal.belongs_to(approval.tenant_id)) {
        return fail(
            errors::human_required,
            "Only a human of this tenant decides on approvals; this call came from an " +
                std::string(to_word(call.principal.kind)) + ".");
    }
    if (approval.state != ApprovalState::pending) {
        return fail(
            errors::approval_not_pending,
            "This approval is " + std::string(to_word(approval.state)) + " already" +
                (approval.comment.empty() ? "." : ": " + approval.comment));
    }
    if (call.at >= approval.expires_at) {
        return fail(
            errors::approval_expired,
            "This approval expired at " + to_text(approval.expires_at) + ".");
    }
    if (call.decision.subject_hash && *call.decision.subject_hash != approval.subject_hash) {
        return fail(
            errors::approval_payload_mismatch,
            "The hash given is not that of this approval's payload.");
    }
    return {};
}

// Asked for by the caller, or by someone who may be the same person.
bool is_own_request(const Approval& approval, const ApprovalCall& call) {
    return approval.requested_by == to_text(call.principal) ||
           std::ranges::any_of(call.one_with_caller, [&](const HumanId& other) {
               return approval.requested_by == "human:" + other.text();
           });
}

}  // namespace

Duration life_of(ApprovalKind kind) {
    return kind == ApprovalKind::kill_release ? kKillReleaseLife : kApprovalLife;
}

std::int64_t humans_required(bool two_person_rule, bool critical) {
    return two_person_rule && critical ? 2 : 1;
}

Result<Approval> approve(Approval approval, const ApprovalCall& call) {
    TRY(may_decide(approval, call));
    TRY(check_vote(call.rest, call.at));
    const HumanId human = HumanId::trusted(call.principal.id);
    for (const ApprovalVote& vote : approval.votes) {
        if (vote.human_id == human) {
            return fail(
                errors::second_human_required,
                "You approved this already; a different human has to approve as well.");
        }
        if (call.one_with_caller.contains(vote.human_id)) {
            return fail(
                errors::second_human_required,
                "One of you helped the other back in, so your votes count as one; a different "
                "human has to approve as well.");
        }
    }
    // Nobody waves through what they asked for themselves, unless the tenant has nobody else; then
    // the same person must have proved itself afresh. With two people needed, the requester may be
    // one of them: the other one is the check.
    if (is_own_request(approval, call) && approval.required == 1) {
        if (call.humans_of_tenant > 1) {
            return fail(
                errors::second_human_required,
                "You asked for this yourself, or someone did who counts as one person with you; "
                "another human of this tenant has to approve it.");
        }
        if (call.at - call.principal.authenticated_at > kFreshAuthentication) {
            return fail(
                errors::reauthentication_required,
                "You asked for this yourself; approving it needs a fresh login.");
        }
    }
    approval.votes.push_back({human, call.at});
    approval.comment = call.decision.comment;
    if (static_cast<std::int64_t>(approval.votes.size()) >= approval.required) {
        approval.state = ApprovalState::approved;
        approval.decided_at = call.at;
    }
    return approval;
}

Result<Approval> reject(Approval approval, const ApprovalCall& call) {
    TRY(may_decide(approval, call));
    approval.state = ApprovalState::rejected;
    approval.rejected_by = to_text(call.principal);
    approval.comment = call.decision.comment;
    approval.decided_at = call.at;
    return approval;
}

Approval expire(Approval approval, Timestamp at) {
    const bool open =
        approval.state == ApprovalState::pending || approval.state == ApprovalState::approved;
    if (open && at >= approval.expires_at) {
        approval.state = ApprovalState::expired;
        approval.decided_at = at;
    }
    return approval;
}

Approval lapse(Approval approval, Timestamp at, std::string why) {
    if (approval.state == ApprovalState::pending) {
        approval.state = ApprovalState::expired;
        approval.comment = std::move(why);
        approval.decided_at = at;
    }
    return approval;
}

Result<Approval> consume(Approval approval, const std::string& payload_hash, Timestamp at) {
    if (approval.state != ApprovalState::approved) {
        return fail(
            errors::approval_not_pending,
            "This approval is " + std::string(to_word(approval.state)) + ", not approved.");
    }
    if (at >= approval.expires_at) {
        return fail(
            errors::approval_expired,
            "This approval expired at " + to_text(approval.expires_at) + ".");
    }
    if (payload_hash != approval.subject_hash) {
        return fail(
            errors::approval_payload_mismatch, "What is to be executed is not what was approved.");
    }
    approval.state = ApprovalState::consumed;
    approval.decided_at = at;
    return approval;
}

}  // namespace interlock
