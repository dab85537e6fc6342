#include "host/rules/kill_step.h"

#include <array>

#include "codec/field_reader.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 5> kCauses{"agent", "human", "operator", "file", "rule"};

AuditDraft draft_of(const KillCall& call, std::string event) {
    AuditDraft draft;
    draft.tenant_id = call.tenant_id;
    draft.event = std::move(event);
    draft.decision_id = call.decision_id;
    draft.tick_id = call.tick_id;
    draft.actor = actor_of(call.principal);
    draft.principal = to_text(call.principal);
    draft.reason = call.reason;
    draft.timestamp = call.at;
    if (!call.claimed_actor.empty()) {
        draft.detail.set("claimed_actor", call.claimed_actor);
    }
    return draft;
}

}  // namespace

Json encode(const KillState& state) {
    return Json::object({
        {"active", state.active},
        {"reason", state.reason},
        {"by", state.by},
        {"cause", to_word(state.cause)},
        {"since", state.since ? Json(to_text(*state.since)) : Json()},
        {"release_approval_id",
         state.release_approval_id ? Json(state.release_approval_id->text()) : Json()},
        {"activations", state.activations},
        {"trading_enabled", state.trading_enabled},
        {"defensive_until", state.defensive_until ? Json(to_text(*state.defensive_until)) : Json()},
        {"audit_ref", state.audit_ref},
    });
}

Result<KillState> decode_kill_state(const Json& json) {
    FieldReader in(json);
    KillState state{
        .active = in.required<bool>("active"),
        .reason = in.required<std::string>("reason"),
        .by = in.required<std::string>("by"),
        .cause = static_cast<KillCause>(in.required_word_index("cause", kCauses)),
        .since = in.optional<Timestamp>("since"),
        .release_approval_id = in.optional<ApprovalId>("release_approval_id"),
        .activations = in.required<std::int64_t>("activations"),
        .trading_enabled = in.required<bool>("trading_enabled"),
        .defensive_until = in.optional<Timestamp>("defensive_until"),
        .audit_ref = in.required<std::string>("audit_ref"),
    };
    in.reject_unknown();
    return in.finish(std::move(state));
}

KillStep activate(KillState state, const KillCall& call, KillCause cause) {
    const bool repeated = state.active;
    ++state.activations;
    if (!repeated) {
        state.active = true;
        state.reason = call.reason;
        state.by = to_text(call.principal);
        state.cause = cause;
        state.since = call.at;
    }
    AuditDraft draft = draft_of(call, repeated ? "KILL_SWITCH_REPEATED" : "KILL_SWITCH_ACTIVATED");
    draft.severity = AuditSeverity::critical;
    draft.detail.set("cause", std::string(to_word(cause)));
    draft.detail.set("first_reason", state.reason);
    // Cancels go out on a repeat too: whoever presses again may be looking at an order still open.
    return {std::move(state), {std::move(draft)}, true};
}

KillStep request_release(KillState state, const KillCall& call, const ApprovalId& approval_id) {
    const bool known = state.release_approval_id == approval_id;
    state.release_approval_id = approval_id;
    AuditDraft draft = draft_of(call, "KILL_RELEASE_REQUESTED");
    draft.status = known ? AuditStatus::skipped : AuditStatus::started;
    draft.detail.set("approval_id", approval_id.text());
    return {std::move(state), {std::move(draft)}, false};
}

std::optional<Error> why_not_released(const ReleaseFacts& facts) {
    std::string why;
    if (facts.unknown_effects > 0) {
        why = std::to_string(facts.unknown_effects) + " effects have an unknown outcome";
    } else if (!facts.chain_valid) {
        why = "the audit chain is not valid: " + facts.chain_problem;
    } else if (facts.flag_file_raised) {
        why = "the KILL file is still in the data folder; remove it first";
    } else if (facts.activation_under_way) {
        why = "it is being activated again at this moment";
    } else {
        return std::nullopt;
    }
    return fail(errors::release_blocked, "The kill switch stays on: " + why + ".").error();
}

KillStep release(
    KillState state, const KillCall& call, const ApprovalId& approval_id, bool enable_trading) {
    AuditDraft draft = draft_of(call, "KILL_SWITCH_RELEASED");
    draft.severity = AuditSeverity::critical;
    draft.detail.set("approval_id", approval_id.text());
    draft.detail.set("released_reason", state.reason);
    state.active = false;
    state.reason.clear();
    state.by.clear();
    state.since.reset();
    state.release_approval_id.reset();
    draft.detail.set("trading_enabled", enable_trading);
    state.trading_enabled = enable_trading;
    state.defensive_until = call.at + kDefensiveAfterRelease;
    return {std::move(state), {std::move(draft)}, false};
}

KillStep release_declined(KillState state, const KillCall& call, std::string_view how) {
    AuditDraft draft = draft_of(call, "KILL_RELEASE_DECLINED");
    draft.status = AuditStatus::failed;
    draft.detail.set("how", std::string(how));
    state.release_approval_id.reset();
    return {std::move(state), {std::move(draft)}, false};
}

}  // namespace interlock
