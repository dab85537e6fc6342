#include "core/kill/kill_step.h"

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

// S13: anyone may activate.
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

// S13: repeated activation is a success that keeps the first reason.
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

// S13: afterwards trading stays off until separately enabled, and defensive for 15 minutes.
TEST(KillStep, ReleaseLeavesTradingOffAndDefensive) {
    KillStep on = activate({}, call("x"), KillCause::agent);
    const KillStep off = release(std::move(on.state), call("ok"), ApprovalId::trusted("apr_1"));
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

// S13: release needs zero unknown orders and a valid chain; a fact that is missing says no (I5).
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

}  // namespace
}  // namespace interlock
