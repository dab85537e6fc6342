#include "host/rules/kill_step.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

const Timestamp kNoon{1'700'000'000'000'000};

KillCall call(const std::string& reason) {
    KillCall call;
    call.tenant_id = TenantId::trusted("demo");
    call.at = kNoon;
    call.principal.kind = PrincipalKind::agent;
    call.principal.id = "key_1";
    call.reason = reason;
    return call;
}

// Anyone may activate.
TEST(KillStep, ActivationStopsRecordsAndCancels) {
    const KillStep step = activate({}, call("spread looks wrong"), KillCause::agent);
    EXPECT_TRUE(step.state.active);
    EXPECT_EQ(step.state.reason, "spread looks wrong");
    EXPECT_EQ(step.state.by, "agent:key_1");
    EXPECT_TRUE(step.cancel_all);
    ASSERT_EQ(step.audit.size(), 1u);
    EXPECT_EQ(step.audit[0].event, "KILL_SWITCH_ACTIVATED");
    EXPECT_EQ(step.audit[0].severity, AuditSeverity::critical);
}

// A repeated activation is a success that keeps the first reason.
TEST(KillStep, RepeatedActivationKeepsTheFirstReason) {
    KillStep first = activate({}, call("first"), KillCause::agent);
    const KillStep second = activate(std::move(first.state), call("second"), KillCause::human);
    EXPECT_EQ(second.state.reason, "first");
    EXPECT_EQ(second.state.cause, KillCause::agent);
    EXPECT_EQ(second.state.activations, 2);
    EXPECT_EQ(second.audit[0].event, "KILL_SWITCH_REPEATED");
    EXPECT_EQ(second.audit[0].reason, "second");
}

TEST(KillStep, AskingForAReleaseReleasesNothing) {
    KillStep on = activate({}, call("x"), KillCause::agent);
    const KillStep asked =
        request_release(std::move(on.state), call("fixed"), ApprovalId::trusted("apr_1"));
    EXPECT_TRUE(asked.state.active);
    EXPECT_EQ(asked.state.release_approval_id, ApprovalId::trusted("apr_1"));
}

// Afterwards trading stays off until separately enabled, and defensive for 15 minutes.
TEST(KillStep, ReleaseLeavesTradingOffAndDefensive) {
    KillStep on = activate({}, call("x"), KillCause::agent);
    const KillStep off =
        release(std::move(on.state), call("ok"), ApprovalId::trusted("apr_1"), false);
    EXPECT_FALSE(off.state.active);
    EXPECT_FALSE(off.state.trading_enabled);
    EXPECT_EQ(off.state.defensive_until, kNoon + Duration::of_minutes(15));
    EXPECT_FALSE(off.cancel_all);
}

TEST(KillStep, DeclinedReleaseForgetsTheRequestAndStaysOn) {
    KillStep on = activate({}, call("x"), KillCause::agent);
    KillStep asked = request_release(std::move(on.state), call("y"), ApprovalId::trusted("apr_1"));
    const KillStep declined = release_declined(std::move(asked.state), call("no"), "rejected");
    EXPECT_TRUE(declined.state.active);
    EXPECT_FALSE(declined.state.release_approval_id);
}

// A release needs zero unknown orders and a valid chain; a fact that is missing says no (I5).
TEST(KillStep, ReleaseIsBlockedByWhatIsUnsettled) {
    EXPECT_FALSE(why_not_released({.chain_valid = true}));
    EXPECT_TRUE(why_not_released({}));
    EXPECT_TRUE(why_not_released({.unknown_effects = 1, .chain_valid = true}));
    EXPECT_TRUE(why_not_released({.chain_valid = true, .flag_file_raised = true}));
    EXPECT_TRUE(why_not_released({.chain_valid = true, .activation_under_way = true}));
}

TEST(KillStep, StateSurvivesItsJson) {
    KillStep on = activate({}, call("x"), KillCause::host_operator);
    on = request_release(std::move(on.state), call("y"), ApprovalId::trusted("apr_1"));
    const Json json = encode(on.state);
    EXPECT_EQ(encode(*decode_kill_state(json)), json);
}

TEST(KillStep, AStoredStateForgetsNothing) {
    KillState on = activate({}, call("x"), KillCause::host_operator).state;
    on = request_release(on, call("y"), ApprovalId::trusted("apr_1")).state;
    on.defensive_until = kNoon + Duration::of_minutes(15);
    on.trading_enabled = true;
    on.audit_ref = "demo/7";
    const KillState read = *decode_kill_state(encode(on));
    EXPECT_TRUE(read.active);
    EXPECT_EQ(read.reason, "x");
    EXPECT_EQ(read.by, "agent:key_1");
    EXPECT_EQ(read.cause, KillCause::host_operator);
    EXPECT_EQ(read.since, kNoon);
    EXPECT_EQ(read.release_approval_id, ApprovalId::trusted("apr_1"));
    EXPECT_EQ(read.activations, 1);
    EXPECT_TRUE(read.trading_enabled);
    EXPECT_EQ(read.defensive_until, kNoon + Duration::of_minutes(15));
    EXPECT_EQ(read.audit_ref, "demo/7");
}

TEST(KillStep, AReleaseRecordsWhetherTradingGoesOn) {
    const KillState on = activate({}, call("x"), KillCause::agent).state;
    for (const bool enable : {false, true}) {
        const KillStep off = release(on, call("ok"), ApprovalId::trusted("apr_1"), enable);
        EXPECT_EQ(off.state.trading_enabled, enable);
        EXPECT_EQ(*off.audit[0].detail.find("trading_enabled"), Json(enable));
    }
}

// What every record of the switch says, whichever step wrote it.
TEST(KillStep, RecordsNameWhoWhenWhyAndWhichDecision) {
    KillCall asked = call("why");
    asked.decision_id = DecisionId::trusted("dec_1");
    asked.tick_id = TickId::trusted("tick_1");
    asked.claimed_actor = "somebody";
    const ApprovalId id = ApprovalId::trusted("apr_1");
    const KillState on = activate({}, call("x"), KillCause::agent).state;
    for (const KillStep& step :
         {activate({}, asked, KillCause::human),
          request_release(on, asked, id),
          release(on, asked, id, false),
          release_declined(on, asked, "expired")}) {
        ASSERT_EQ(step.audit.size(), 1u);
        const AuditDraft& draft = step.audit[0];
        EXPECT_EQ(draft.tenant_id.text(), "demo");
        EXPECT_EQ(draft.decision_id.text(), "dec_1");
        EXPECT_EQ(draft.tick_id.text(), "tick_1");
        EXPECT_EQ(draft.step, AuditStep::control);
        EXPECT_EQ(draft.actor, actor_of(asked.principal));
        EXPECT_EQ(draft.principal, "agent:key_1");
        EXPECT_EQ(draft.reason, "why");
        EXPECT_EQ(draft.timestamp, kNoon);
        EXPECT_EQ(draft.detail.find("claimed_actor")->as_string(), "somebody");
    }
    EXPECT_EQ(
        activate({}, call("x"), KillCause::agent).audit[0].detail.find("claimed_actor"), nullptr);
}

TEST(KillStep, AnActivationSaysSinceWhenAndWithWhichCause) {
    const KillStep first = activate({}, call("first"), KillCause::human);
    EXPECT_EQ(first.state.since, kNoon);
    EXPECT_EQ(first.state.cause, KillCause::human);
    EXPECT_EQ(first.state.activations, 1);
    EXPECT_EQ(first.audit[0].detail.find("cause")->as_string(), to_word(KillCause::human));
    KillCall later = call("second");
    later.at = kNoon + Duration{1};
    const KillStep second = activate(first.state, later, KillCause::agent);
    EXPECT_EQ(second.state.since, kNoon);
    EXPECT_EQ(second.state.by, first.state.by);
    EXPECT_TRUE(second.cancel_all);
    EXPECT_EQ(second.audit[0].severity, AuditSeverity::critical);
    EXPECT_EQ(second.audit[0].detail.find("first_reason")->as_string(), "first");
    EXPECT_EQ(second.audit[0].detail.find("cause")->as_string(), to_word(KillCause::agent));
}

TEST(KillStep, AskingAgainForTheSameReleaseIsSkipped) {
    const ApprovalId id = ApprovalId::trusted("apr_1");
    const KillState on = activate({}, call("x"), KillCause::agent).state;
    const KillStep asked = request_release(on, call("y"), id);
    EXPECT_EQ(asked.audit[0].event, "KILL_RELEASE_REQUESTED");
    EXPECT_EQ(asked.audit[0].status, AuditStatus::started);
    EXPECT_EQ(asked.audit[0].detail.find("approval_id")->as_string(), "apr_1");
    EXPECT_FALSE(asked.cancel_all);
    const KillStep again = request_release(asked.state, call("y"), id);
    EXPECT_EQ(again.audit[0].status, AuditStatus::skipped);
    const KillStep other = request_release(asked.state, call("y"), ApprovalId::trusted("apr_2"));
    EXPECT_EQ(other.audit[0].status, AuditStatus::started);
    EXPECT_EQ(other.state.release_approval_id, ApprovalId::trusted("apr_2"));
}

TEST(KillStep, AReleaseForgetsTheStopAndRecordsIt) {
    KillState on = activate({}, call("x"), KillCause::agent).state;
    on = request_release(on, call("y"), ApprovalId::trusted("apr_1")).state;
    on.trading_enabled = true;
    const KillStep off = release(on, call("ok"), ApprovalId::trusted("apr_1"), false);
    EXPECT_EQ(off.state.reason, "");
    EXPECT_EQ(off.state.by, "");
    EXPECT_FALSE(off.state.since);
    EXPECT_FALSE(off.state.release_approval_id);
    EXPECT_FALSE(off.state.trading_enabled);
    EXPECT_EQ(off.audit[0].event, "KILL_SWITCH_RELEASED");
    EXPECT_EQ(off.audit[0].severity, AuditSeverity::critical);
    EXPECT_EQ(off.audit[0].detail.find("approval_id")->as_string(), "apr_1");
    EXPECT_EQ(off.audit[0].detail.find("released_reason")->as_string(), "x");
    const KillStep declined = release_declined(on, call("no"), "rejected");
    EXPECT_EQ(declined.audit[0].event, "KILL_RELEASE_DECLINED");
    EXPECT_EQ(declined.audit[0].status, AuditStatus::failed);
    EXPECT_EQ(declined.audit[0].detail.find("how")->as_string(), "rejected");
    EXPECT_FALSE(declined.cancel_all);
}

TEST(KillStep, ARefusedReleaseSaysWhatIsInTheWay) {
    const auto why = [](const ReleaseFacts& facts) { return why_not_released(facts)->message; };
    EXPECT_EQ(
        why({.unknown_effects = 2, .chain_valid = true}),
        "The kill switch stays on: 2 effects have an unknown outcome.");
    EXPECT_EQ(
        why({.chain_valid = false, .chain_problem = "record 7"}),
        "The kill switch stays on: the audit chain is not valid: record 7.");
    EXPECT_EQ(
        why({.chain_valid = true, .flag_file_raised = true}),
        "The kill switch stays on: the KILL file is still in the data folder; remove it first.");
    EXPECT_EQ(
        why({.chain_valid = true, .activation_under_way = true}),
        "The kill switch stays on: it is being activated again at this moment.");
}

TEST(KillStep, AStateWithAFieldTooManyIsRefused) {
    Json json = encode(KillState{});
    EXPECT_TRUE(decode_kill_state(json));
    json.set("surprise", true);
    EXPECT_FALSE(decode_kill_state(json));
}

}  // namespace
}  // namespace interlock
