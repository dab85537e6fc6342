// The approvals desk as pure rules (docs/contracts/approvals.md#2-who-decides).
//
//     pending --vote--> pending | approved --consume--> consumed
//        |---reject--> rejected
//        |---expire--> expired            approved --expire--> expired
//        |---lapse---> expired, and `comment` says why
//
// Agents never approve. An approval is bound to the hash of its payload, is used once and expires.
#pragma once

#include <set>
#include <string>

#include "base/result.h"
#include "engine/wire/principal.h"
#include "host/rules/vote_rest.h"
#include "host/wire/approval.h"

namespace interlock {

inline constexpr Duration kApprovalLife = Duration::of_hours(24);
inline constexpr Duration kKillReleaseLife = Duration::of_minutes(15);
inline constexpr Duration kFreshAuthentication = Duration::of_minutes(5);

Duration life_of(ApprovalKind kind);

// How many distinct humans a request needs. `critical` marks what the two-person rule names: live
// enable, loosening of hard limits, release of a critical kill.
std::int64_t humans_required(bool two_person_rule, bool critical);

struct ApprovalCall {
    Timestamp at;
    Principal principal;
    // Active ones who can be told from the caller: humans whose accounts may be in one hand count
    // as one person (host/rules/recovery_policy.h).
    std::int64_t humans_of_tenant = 0;
    ApprovalDecision decision;
    VoteRest rest = {};                      // Of the caller.
    std::set<HumanId> one_with_caller = {};  // Others who count as the caller.
};

// A vote for. Fails with the reason why this principal may not, or not now.
Result<Approval> approve(Approval approval, const ApprovalCall& call);
Result<Approval> reject(Approval approval, const ApprovalCall& call);
// Pending or approved and past its time: expired. Anything else is returned as it is.
Approval expire(Approval approval, Timestamp at);
// A pending one that has become pointless before its time.
Approval lapse(Approval approval, Timestamp at, std::string why);
// The one use. Fails unless approved, unexpired and bound to exactly this payload.
Result<Approval> consume(Approval approval, const std::string& payload_hash, Timestamp at);

}  // namespace interlock
