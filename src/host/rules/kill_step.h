// The kill switch as a state machine (docs/contracts/kill-switch.md#1-turning-it-on).
//
//     inactive --activate--> active --request_release--> active (release pending)
//        ^                      ^                              |
//        |                      +-- rejected / expired --------+
//        +---------------- release approved by a human --------+
//
// Activation always succeeds, whoever asks; a repeated one keeps the first reason (I6). The latch
// in the effect path is not here: it was set before this ran. This decides what is recorded.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "engine/wire/audit_record.h"
#include "engine/wire/principal.h"
#include "host/wire/kill_switch.h"

namespace interlock {

struct KillState {
    bool active = false;
    std::string reason;
    std::string by;
    KillCause cause = KillCause::agent;
    std::optional<Timestamp> since;
    std::optional<ApprovalId> release_approval_id;
    std::int64_t activations = 0;  // Counts repeats too.
    // After a release trading stays off until someone turns it on, unless the release says that it
    // goes on, and defensive for a while.
    bool trading_enabled = true;
    std::optional<Timestamp> defensive_until;
    std::string audit_ref;  // Of the latest change.
};

Json encode(const KillState& state);
Result<KillState> decode_kill_state(const Json& json);

inline constexpr Duration kDefensiveAfterRelease = Duration::of_minutes(15);

struct KillStep {
    KillState state;
    std::vector<AuditDraft> audit;
    bool cancel_all = false;  // Open orders are to be cancelled.
};

struct KillCall {
    TenantId tenant_id;
    Timestamp at;
    Principal principal;
    std::string reason;
    DecisionId decision_id;
    TickId tick_id;
    std::string claimed_actor;
};

KillStep activate(KillState state, const KillCall& call, KillCause cause);

// A release was asked for; the desk's request is `approval_id`.
KillStep request_release(KillState state, const KillCall& call, const ApprovalId& approval_id);

// What must hold before a release (kill-switch.md#2-turning-it-off); facts gathered by the service.
struct ReleaseFacts {
    std::int64_t unknown_effects = 0;
    bool chain_valid = false;
    std::string chain_problem = {};
    bool flag_file_raised = false;      // The file would stop everything again.
    bool activation_under_way = false;  // Accepted and not yet recorded: the human cannot know it.
};
// Nothing when the release may go ahead; else what stands in its way (I5).
std::optional<Error> why_not_released(const ReleaseFacts& facts);

// `enable_trading`: what was approved says that trading goes on with it.
KillStep release(
    KillState state, const KillCall& call, const ApprovalId& approval_id, bool enable_trading);

// The release request ended without one (rejected or expired).
KillStep release_declined(KillState state, const KillCall& call, std::string_view how);

}  // namespace interlock
