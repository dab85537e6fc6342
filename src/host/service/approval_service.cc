#include "host/service/approval_service.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/errors.h"
#include "codec/field_reader.h"

namespace interlock {
namespace {

constexpr std::string_view kExpiryTimer = "approval_expiry";
constexpr std::string_view kByHuman = "human:";

std::string prefix_of(const TenantId& tenant_id) {
    return "approval/" + tenant_id.text() + "/";
}

std::string machine_key(const TenantId& tenant_id, const ApprovalId& approval_id) {
    return prefix_of(tenant_id) + approval_id.text();
}

// The ids of those that are pending, so that nobody reads all there ever were to count them.
std::string pending_key(const TenantId& tenant_id) {
    return "approvals_pending/" + tenant_id.text();
}

TimerId expiry_timer(const ApprovalId& approval_id) {
    return TimerId::trusted("approval_expiry." + approval_id.text());
}

}  // namespace

ApprovalService::ApprovalService(Parts parts) : parts_(std::move(parts)) {
    parts_.runner.on_timer(std::string(kExpiryTimer), [this](Turn& turn, const TimerItem& timer) {
        return on_expiry(turn, timer);
    });
}

void ApprovalService::register_kind(ApprovalKind kind, Kind handlers) {
    CHECK(kinds_.emplace(kind, std::move(handlers)).second);
}

Result<std::string> ApprovalService::save(Turn& turn, const Approval& approval, std::string event) {
    turn.save(machine_key(approval.tenant_id, approval.approval_id), encode(approval));
    TRY_ASSIGN(std::vector<ApprovalId> ids, pending_ids(turn));
    std::erase(ids, approval.approval_id);
    if (approval.state == ApprovalState::pending) {
        ids.push_back(approval.approval_id);
    }
    Json list = Json::array();
    for (const ApprovalId& id : ids) {
        list.push(id.text());
    }
    turn.save(pending_key(turn.tenant_id()), Json::object({{"ids", std::move(list)}}));
    AuditDraft draft = turn.draft(std::move(event));
    draft.reason = approval.summary;
    draft.detail = Json::object({
        {"approval_id", approval.approval_id.text()},
        {"kind", to_word(approval.kind)},
        {"subject_hash", approval.subject_hash},
        {"requested_by", approval.requested_by},
        {"votes", static_cast<std::int64_t>(approval.votes.size())},
        {"required", approval.required},
    });
    if (!approval.comment.empty()) {
        draft.detail.set("comment", approval.comment);
    }
    return turn.audit(std::move(draft));
}

Result<Approval> ApprovalService::request(Turn& turn, Draft draft) {
    if (!kinds_.contains(draft.kind)) {
        return fail(
            errors::approval_kind_unavailable,
            "Nothing on this server carries out approvals of kind " +
                std::string(to_word(draft.kind)) + ".");
    }
    TRY_ASSIGN(const std::vector<Approval> waiting, pending(turn));
    const bool is_human = turn.principal().kind == PrincipalKind::human;
    const auto count = static_cast<std::int64_t>(waiting.size());
    const std::int64_t of_humans = std::ranges::count_if(
        waiting, [](const Approval& other) { return other.requested_by.starts_with(kByHuman); });
    if (count >= kPendingMax || (!is_human && count - of_humans >= kPendingMax - kHumanPlaces)) {
        return fail(
            errors::too_many_approvals,
            "This tenant has " + std::to_string(count) + " pending approvals" +
                (is_human ? "." : "; the places that are left are for humans."));
    }
    TRY_ASSIGN(std::string subject_hash, subject_hash_of(draft.payload));
    Approval approval;
    approval.approval_id = ApprovalId::trusted(turn.new_id("apr"));
    approval.tenant_id = turn.tenant_id();
    approval.kind = draft.kind;
    approval.payload = std::move(draft.payload);
    approval.subject_hash = std::move(subject_hash);
    approval.summary = std::move(draft.summary);
    approval.requested_by = to_text(turn.principal());
    approval.required = humans_required(parts_.two_person_rule, draft.critical);
    approval.created_at = turn.now();
    approval.expires_at = turn.now() + life_of(draft.kind);
    turn.set_timer({
        .timer_id = expiry_timer(approval.approval_id),
        .tenant_id = approval.tenant_id,
        .kind = std::string(kExpiryTimer),
        .json = approval.approval_id.text(),
        .due_at = approval.expires_at,
    });
    TRY(save(turn, approval, "APPROVAL_REQUESTED"));
    return approval;
}

Result<std::vector<ApprovalId>> ApprovalService::pending_ids(Turn& turn) {
    TRY_ASSIGN(const std::optional<Json> row, turn.load(pending_key(turn.tenant_id())));
    std::vector<ApprovalId> ids;
    if (row) {
        FieldReader in(*row);
        for (const Json& id : in.required_array("ids", kPendingMax)) {
            ids.push_back(ApprovalId::trusted(id.is_string() ? id.as_string() : ""));
        }
        return in.finish(std::move(ids));
    }
    // A folder of an older version: from here on the row is kept.
    const std::string prefix = prefix_of(turn.tenant_id());
    TRY_ASSIGN(const auto stored, turn.store().load_states(prefix));
    for (const auto& [key, state] : stored) {
        TRY_ASSIGN(const Json json, parse_json(state.json));
        TRY_ASSIGN(const Approval approval, decode_approval(json));
        if (approval.state == ApprovalState::pending) {
            ids.push_back(approval.approval_id);
        }
    }
    return ids;
}

Result<std::vector<Approval>> ApprovalService::pending(Turn& turn) {
    TRY_ASSIGN(const std::vector<ApprovalId> ids, pending_ids(turn));
    std::vector<Approval> approvals;
    for (const ApprovalId& id : ids) {
        TRY_ASSIGN(std::optional<Approval> approval, find(turn, turn.tenant_id(), id));
        if (approval && approval->state == ApprovalState::pending) {
            approvals.push_back(*std::move(approval));
        }
    }
    return approvals;
}

Result<std::vector<ApprovalId>> ApprovalService::lapse_pending(
    Turn& turn, const Which& which, const std::string& why) {
    TRY_ASSIGN(const std::vector<Approval> waiting, pending(turn));
    std::vector<ApprovalId> ended;
    for (const Approval& one : waiting) {
        if (!which(one)) {
            continue;
        }
        const Approval approval = lapse(one, turn.now(), why);
        TRY(save(turn, approval, "APPROVAL_LAPSED"));
        turn.clear_timer(expiry_timer(approval.approval_id));
        if (const auto kind = kinds_.find(approval.kind); kind != kinds_.end()) {
            TRY(kind->second.ended(turn, approval));
        }
        ended.push_back(approval.approval_id);
    }
    return ended;
}

Result<ApprovalService::Proposed> ApprovalService::propose(
    Turn& turn, Draft draft, const Which& which) {
    TRY_ASSIGN(const std::string subject_hash, subject_hash_of(draft.payload));
    TRY_ASSIGN(std::vector<Approval> waiting, pending(turn));
    for (Approval& one : waiting) {
        // Past its time it only waits for its timer.
        if (which(one) && one.subject_hash == subject_hash && turn.now() < one.expires_at) {
            return Proposed{.approval = std::move(one), .is_merged = true, .replaced = {}};
        }
    }
    TRY_ASSIGN(
        std::vector<ApprovalId> replaced,
        lapse_pending(turn, which, "Whoever asked for it asked for something else instead."));
    if (!replaced.empty()) {
        // The bound of pending ones does not hold who replaces their own again and again.
        TRY(turn.charge_agent());
    }
    TRY_ASSIGN(Approval approval, request(turn, std::move(draft)));
    return Proposed{
        .approval = std::move(approval), .is_merged = false, .replaced = std::move(replaced)};
}

Result<std::optional<Approval>> ApprovalService::find(
    Turn& turn, const TenantId& tenant_id, const ApprovalId& approval_id) {
    TRY_ASSIGN(const std::optional<Json> json, turn.load(machine_key(tenant_id, approval_id)));
    if (!json) {
        return std::optional<Approval>();
    }
    TRY_ASSIGN(Approval approval, decode_approval(*json));
    return std::optional<Approval>(std::move(approval));
}

void ApprovalService::list(Caller caller, std::optional<ApprovalState> state, Reply reply) {
    TurnRequest request;
    request.tenant_id = caller.tenant_id;
    request.principal = std::move(caller.principal);
    request.function = "list_approvals";
    request.decide = [state](Turn& turn) -> Result<TurnReply> {
        TRY_ASSIGN(const auto stored, turn.store().load_states(prefix_of(turn.tenant_id())));
        std::vector<Approval> approvals;
        for (const auto& [key, unused] : stored) {
            // Through load(), so that a vote earlier in this batch is seen.
            TRY_ASSIGN(const std::optional<Json> json, turn.load(key));
            TRY_ASSIGN(Approval approval, decode_approval(*json));
            approval = expire(std::move(approval), turn.now());
            if (!state || approval.state == *state) {
                approvals.push_back(std::move(approval));
            }
        }
        std::stable_sort(
            approvals.begin(), approvals.end(), [](const Approval& a, const Approval& b) {
                return a.created_at > b.created_at;
            });
        Json list = Json::array();
        for (const Approval& approval : approvals) {
            if (static_cast<std::int64_t>(list.items().size()) < kListMax) {
                list.push(encode(approval));
            }
        }
        return Answer{200, to_text(Json::object({{"approvals", std::move(list)}}))};
    };
    request.reply = std::move(reply);
    parts_.submit(std::move(request));
}

void ApprovalService::get(Caller caller, ApprovalId approval_id, Reply reply) {
    TurnRequest request;
    request.tenant_id = caller.tenant_id;
    request.principal = std::move(caller.principal);
    request.function = "get_approval";
    request.decide = [this, approval_id = std::move(approval_id)](Turn& turn) -> Result<TurnReply> {
        TRY_ASSIGN(std::optional<Approval> approval, find(turn, turn.tenant_id(), approval_id));
        if (!approval) {
            return fail(errors::not_found, "There is no approval with this id.");
        }
        return Answer{200, to_text(encode(expire(*std::move(approval), turn.now())))};
    };
    request.reply = std::move(reply);
    parts_.submit(std::move(request));
}

void ApprovalService::approve(
    Caller caller, ApprovalId approval_id, ApprovalDecision decision, Reply reply) {
    vote(
        std::move(caller),
        {std::move(approval_id),
         std::move(decision),
         [](Approval approval, const ApprovalCall& call) {
             return interlock::approve(std::move(approval), call);
         },
         "approve"},
        std::move(reply));
}

void ApprovalService::reject(
    Caller caller, ApprovalId approval_id, ApprovalDecision decision, Reply reply) {
    vote(
        std::move(caller),
        {std::move(approval_id),
         std::move(decision),
         [](Approval approval, const ApprovalCall& call) {
             return interlock::reject(std::move(approval), call);
         },
         "reject"},
        std::move(reply));
}

void ApprovalService::vote(Caller caller, Vote vote, Reply reply) {
    TurnRequest request;
    request.tenant_id = caller.tenant_id;
    request.principal = std::move(caller.principal);
    request.function = vote.function;
    request.decide = [this, vote = std::move(vote)](Turn& turn) { return run_vote(turn, vote); };
    request.reply = std::move(reply);
    parts_.submit(std::move(request));
}

Result<void> ApprovalService::check_word(const Turn& turn) const {
    if (turn.principal().kind != PrincipalKind::human) {
        return {};
    }
    return check_vote(
        parts_.directory.vote_rest_of(HumanId::trusted(turn.principal().id)), turn.now());
}

Result<TurnReply> ApprovalService::run_vote(Turn& turn, const Vote& vote) {
    TRY_ASSIGN(std::optional<Approval> found, find(turn, turn.tenant_id(), vote.approval_id));
    if (!found) {
        return fail(errors::not_found, "There is no approval with this id.");
    }
    PrincipalDirectory::VoterFacts voter =
        parts_.directory.voter(turn.tenant_id(), HumanId::trusted(turn.principal().id));
    // How old a proof is, a clock that steps back does not change.
    Principal principal = turn.principal();
    const Timestamp session_now = parts_.directory.time_of_sessions(turn.now());
    principal.authenticated_at = turn.now() - (session_now - principal.authenticated_at);
    const ApprovalCall call{
        .at = turn.now(),
        .principal = std::move(principal),
        .humans_of_tenant = voter.humans_of_tenant,
        .decision = vote.decision,
        .rest = voter.rest,
        .one_with_caller = std::move(voter.one_with),
    };
    TRY_ASSIGN(Approval approval, vote.decide(*std::move(found), call));
    const auto kind = kinds_.find(approval.kind);
    if (kind == kinds_.end()) {
        return fail(
            errors::approval_kind_unavailable,
            "Nothing on this server carries out approvals of this kind.");
    }
    std::string audit_ref;
    if (approval.state == ApprovalState::approved) {
        TRY(save(turn, approval, "APPROVAL_GRANTED"));
        TRY_ASSIGN(const std::string payload_hash, subject_hash_of(approval.payload));
        TRY_ASSIGN(approval, consume(std::move(approval), payload_hash, turn.now()));
        TRY(kind->second.execute(turn, approval));
        TRY_ASSIGN(audit_ref, save(turn, approval, "APPROVAL_CONSUMED"));
        turn.clear_timer(expiry_timer(approval.approval_id));
    } else if (approval.state == ApprovalState::rejected) {
        TRY_ASSIGN(audit_ref, save(turn, approval, "APPROVAL_REJECTED"));
        TRY(kind->second.ended(turn, approval));
        turn.clear_timer(expiry_timer(approval.approval_id));
    } else {
        TRY_ASSIGN(audit_ref, save(turn, approval, "APPROVAL_VOTED"));
    }
    Json answer = encode(approval);
    answer.set("audit_ref", std::move(audit_ref));
    return Answer{200, to_text(answer)};
}

Result<void> ApprovalService::on_expiry(Turn& turn, const TimerItem& timer) {
    TRY_ASSIGN(const ApprovalId approval_id, ApprovalId::parse(timer.json));
    TRY_ASSIGN(std::optional<Approval> found, find(turn, timer.tenant_id, approval_id));
    if (!found) {
        return {};
    }
    const Approval approval = expire(*std::move(found), turn.now());
    if (approval.state != ApprovalState::expired) {
        return {};
    }
    TRY(save(turn, approval, "APPROVAL_EXPIRED"));
    if (const auto kind = kinds_.find(approval.kind); kind != kinds_.end()) {
        TRY(kind->second.ended(turn, approval));
    }
    return {};
}

}  // namespace interlock
