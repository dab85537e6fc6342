// An approval: one request to a human, bound to the hash of exactly one payload, usable once, with
// an expiry. docs/contracts/approvals.md is the table of these fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "engine/wire/ids.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind human_required{
    "human_required",
    403,
    false,
    "Log in as a human of this tenant; access keys and the operator token approve nothing."};
inline constexpr ErrorKind approval_not_pending{
    "approval_not_pending",
    409,
    false,
    "Read the approval to see how it ended; make a new request if it is still wanted."};
inline constexpr ErrorKind approval_expired{
    "approval_expired", 409, false, "Make the request again; approvals expire on purpose."};
inline constexpr ErrorKind approval_payload_mismatch{
    "approval_payload_mismatch",
    409,
    false,
    "Ask for approval of exactly the payload that is to be executed."};
inline constexpr ErrorKind second_human_required{
    "second_human_required", 409, false, "Another human of this tenant has to approve as well."};
inline constexpr ErrorKind reauthentication_required{
    "reauthentication_required",
    403,
    true,
    "Give the password (or one-time code) again, then approve within five minutes."};
inline constexpr ErrorKind approval_kind_unavailable{
    "approval_kind_unavailable",
    422,
    false,
    "Only kinds that this server can carry out may be requested; see the error message."};
inline constexpr ErrorKind too_many_approvals{
    "too_many_approvals", 429, false, "Decide or let expire some of the pending approvals first."};
}  // namespace errors

// What the loop and its control ask for, then configuration proposals and key provisioning.
enum class ApprovalKind {
    live_mode,
    risk_limits,
    kill_release,
    treasury_transfer,
    universe_change,
    alert_suppression,
    config_proposal,
    key_provisioning,
};
std::string_view to_word(ApprovalKind kind);

enum class ApprovalState { pending, approved, rejected, expired, consumed };
std::string_view to_word(ApprovalState state);
std::optional<ApprovalState> parse_approval_state(std::string_view word);

struct ApprovalVote {
    HumanId human_id;
    Timestamp at;
    friend bool operator==(const ApprovalVote&, const ApprovalVote&) = default;
};

struct Approval {
    ApprovalId approval_id;
    TenantId tenant_id;
    ApprovalKind kind = ApprovalKind::kill_release;
    Json payload;               // What will be executed, exactly.
    std::string subject_hash;   // SHA-256 hex of the payload's canonical JSON.
    std::string summary;        // One sentence for the human.
    std::string requested_by;   // A principal's text form.
    std::int64_t required = 1;  // 1 or 2 distinct humans.
    std::vector<ApprovalVote> votes;
    std::string rejected_by;
    std::string comment;  // Of the human who decided.
    ApprovalState state = ApprovalState::pending;
    Timestamp created_at;
    Timestamp expires_at;
    std::optional<Timestamp> decided_at;
};

Json encode(const Approval& approval);
Result<Approval> decode_approval(const Json& json);  // A stored one.
Json approval_schema();

// The body of approve and reject.
struct ApprovalDecision {
    std::string comment;
    // The hash of what the human saw; when given it must equal the approval's (no bait and switch).
    std::optional<std::string> subject_hash;
};
Result<ApprovalDecision> decode_approval_decision(const Json& json);
Json approval_decision_schema();

// SHA-256 hex of the payload's canonical form.
Result<std::string> subject_hash_of(const Json& payload);

}  // namespace interlock
