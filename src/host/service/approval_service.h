// The approvals desk (docs/contracts/approvals.md#1-what-an-approval-is): durable requests to
// humans, bound to a payload, used once.
//
// Other services ask for an approval inside their own turn and register what carries it out. When
// enough humans have approved, the payload is executed in the very turn of the last vote, so there
// is no moment in which an approval is granted but can be stretched, forged or replayed.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "engine/service/turn_gate.h"
#include "engine/service/turn_runner.h"
#include "host/rules/approval_step.h"
#include "host/service/principal_directory.h"

namespace interlock {

class ApprovalService {
public:
    // Pending requests of one tenant; one more is refused.
    static constexpr std::int64_t kPendingMax = 100;
    // Of these, places that only humans' own requests take: nothing that agents ask for keeps a
    // human from asking.
    static constexpr std::int64_t kHumanPlaces = 20;
    static constexpr std::int64_t kListMax = 200;

    struct Parts {
        TurnRunner& runner;
        SubmitTurn submit;
        PrincipalDirectory& directory;
        bool two_person_rule = false;
    };
    explicit ApprovalService(Parts parts);

    // What a kind does. `execute` runs inside the turn of the last vote and fails the whole turn if
    // it cannot: the approval then stays pending. `ended` is told of a rejection or expiry.
    struct Kind {
        std::function<Result<void>(Turn&, const Approval&)> execute;
        std::function<Result<void>(Turn&, const Approval&)> ended;
    };
    void register_kind(ApprovalKind kind, Kind handlers);

    struct Draft {
        ApprovalKind kind;
        Json payload;
        std::string summary;
        bool critical = false;  // Named by the two-person rule.
    };
    // Inside another service's turn: a new pending approval.
    Result<Approval> request(Turn& turn, Draft draft);

    using Which = std::function<bool(const Approval&)>;
    struct Proposed {
        Approval approval;
        bool is_merged = false;  // The same was pending already: this is it.
        std::vector<ApprovalId> replaced;
    };
    // The same where only one of `which` may be pending: it takes the place of the others.
    Result<Proposed> propose(Turn& turn, Draft draft, const Which& which);
    // Pending ones that have become pointless end, on the record, with `why` as their comment.
    Result<std::vector<ApprovalId>> lapse_pending(
        Turn& turn, const Which& which, const std::string& why);
    Result<std::optional<Approval>> find(
        Turn& turn, const TenantId& tenant_id, const ApprovalId& approval_id);

    // `vote_rests` when this turn is a human's whose word does not count now: for what a human
    // decides without an approval.
    Result<void> check_word(const Turn& turn) const;

    using Reply = std::function<void(Result<Answer>)>;
    struct Caller {
        Principal principal;
        TenantId tenant_id;
    };
    void list(Caller caller, std::optional<ApprovalState> state, Reply reply);
    void get(Caller caller, ApprovalId approval_id, Reply reply);
    void approve(Caller caller, ApprovalId approval_id, ApprovalDecision decision, Reply reply);
    void reject(Caller caller, ApprovalId approval_id, ApprovalDecision decision, Reply reply);

private:
    using Decide = std::function<Result<Approval>(Approval, const ApprovalCall&)>;
    struct Vote {
        ApprovalId approval_id;
        ApprovalDecision decision;
        Decide decide;
        std::string function;
    };
    void vote(Caller caller, Vote vote, Reply reply);
    Result<TurnReply> run_vote(Turn& turn, const Vote& vote);
    Result<std::string> save(Turn& turn, const Approval& approval, std::string event);
    // With what this batch has staged, which the store does not know yet.
    Result<std::vector<Approval>> pending(Turn& turn);
    Result<std::vector<ApprovalId>> pending_ids(Turn& turn);
    Result<void> on_expiry(Turn& turn, const TimerItem& timer);

    Parts parts_;
    std::map<ApprovalKind, Kind> kinds_;
};

}  // namespace interlock
