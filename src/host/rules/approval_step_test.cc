#include "host/rules/approval_step.h"

#include <gtest/gtest.h>

#include "host/wire/recovery.h"

namespace interlock {
namespace {

const Timestamp kNoon{1'700'000'000'000'000};
const TenantId kTenant = TenantId::trusted("demo");

Principal human(const std::string& id) {
    Principal principal;
    principal.kind = PrincipalKind::human;
    principal.id = id;
    principal.tenants = {kTenant};
    principal.authenticated_at = kNoon;
    return principal;
}

Approval pending(std::int64_t required = 1) {
    Approval approval;
    approval.approval_id = ApprovalId::trusted("apr_1");
    approval.tenant_id = kTenant;
    approval.payload = Json::object({{"x", 1}});
    approval.subject_hash = *subject_hash_of(approval.payload);
    approval.requested_by = "agent:key_1";
    approval.required = required;
    approval.created_at = kNoon;
    approval.expires_at = kNoon + kKillReleaseLife;
    return approval;
}

ApprovalCall by(Principal principal, Duration later = {}) {
    return {
        .at = kNoon + later,
        .principal = std::move(principal),
        .humans_of_tenant = 2,
        .decision = {}};
}

TEST(ApprovalStep, OneHumanApprovesWhatAnAgentAskedFor) {
    const auto approved = approve(pending(), by(human("hum_1")));
    ASSERT_TRUE(approved);
    EXPECT_EQ(approved->state, ApprovalState::approved);
}

// Agents never approve, and the operator approves nothing.
TEST(ApprovalStep, AgentsOperatorsAndTheProgramNeverApprove) {
    for (const PrincipalKind kind :
         {PrincipalKind::agent, PrincipalKind::host_operator, PrincipalKind::internal}) {
        Principal principal = human("hum_1");
        principal.kind = kind;
        const auto refused = approve(pending(), by(principal));
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error(), errors::human_required);
        EXPECT_FALSE(reject(pending(), by(principal)));
    }
}

TEST(ApprovalStep, HumanOfAnotherTenantIsRefused) {
    Principal stranger = human("hum_9");
    stranger.tenants = {TenantId::trusted("other")};
    EXPECT_EQ(approve(pending(), by(stranger)).error(), errors::human_required);
}

TEST(ApprovalStep, ExpiryIsTheFirstMomentAtWhichItIsTooLate) {
    EXPECT_TRUE(approve(pending(), by(human("hum_1"), {kKillReleaseLife.microseconds - 1})));
    EXPECT_EQ(
        approve(pending(), by(human("hum_1"), kKillReleaseLife)).error(), errors::approval_expired);
}

TEST(ApprovalStep, DecidedApprovalsCannotBeDecidedAgain) {
    const Approval approved = *approve(pending(), by(human("hum_1")));
    EXPECT_EQ(approve(approved, by(human("hum_2"))).error(), errors::approval_not_pending);
    EXPECT_EQ(reject(approved, by(human("hum_2"))).error(), errors::approval_not_pending);
}

TEST(ApprovalStep, TwoPersonRuleNeedsTwoDistinctHumans) {
    EXPECT_EQ(humans_required(true, true), 2);
    EXPECT_EQ(humans_required(true, false), 1);
    EXPECT_EQ(humans_required(false, true), 1);
    const Approval once = *approve(pending(2), by(human("hum_1")));
    EXPECT_EQ(once.state, ApprovalState::pending);
    EXPECT_EQ(approve(once, by(human("hum_1"))).error(), errors::second_human_required);
    EXPECT_EQ(approve(once, by(human("hum_2")))->state, ApprovalState::approved);
}

TEST(ApprovalStep, OwnRequestNeedsAnotherHumanWhenThereIsOne) {
    Approval own = pending();
    own.requested_by = "human:hum_1";
    EXPECT_EQ(approve(own, by(human("hum_1"))).error(), errors::second_human_required);
    EXPECT_TRUE(approve(own, by(human("hum_2"))));
}

// What the tenant's only human asked for counts with fresh re-authentication (5 min).
TEST(ApprovalStep, OnlyHumanApprovesOwnRequestWithAFreshLogin) {
    Approval own = pending();
    own.requested_by = "human:hum_1";
    ApprovalCall call = by(human("hum_1"), kFreshAuthentication);
    call.humans_of_tenant = 1;
    EXPECT_TRUE(approve(own, call));
    call.at = call.at + Duration{1};
    EXPECT_EQ(approve(own, call).error(), errors::reauthentication_required);
}

TEST(ApprovalStep, VoteOnAnotherPayloadThanShownIsRefused) {
    ApprovalCall call = by(human("hum_1"));
    call.decision.subject_hash = std::string(64, 'a');
    EXPECT_EQ(approve(pending(), call).error(), errors::approval_payload_mismatch);
}

TEST(ApprovalStep, VoteOnExactlyThePayloadShownCounts) {
    ApprovalCall call = by(human("hum_1"));
    call.decision.subject_hash = pending().subject_hash;
    EXPECT_TRUE(approve(pending(), call));
    EXPECT_TRUE(reject(pending(), call));
}

TEST(ApprovalStep, ConsumedOnceForExactlyTheHashedPayload) {
    const Approval approved = *approve(pending(), by(human("hum_1")));
    EXPECT_EQ(
        consume(approved, std::string(64, 'b'), kNoon).error(), errors::approval_payload_mismatch);
    const Approval used = *consume(approved, approved.subject_hash, kNoon);
    EXPECT_EQ(used.state, ApprovalState::consumed);
    EXPECT_EQ(consume(used, approved.subject_hash, kNoon).error(), errors::approval_not_pending);
    EXPECT_FALSE(consume(pending(), approved.subject_hash, kNoon));
}

TEST(ApprovalStep, ExpireTouchesOnlyOpenOnes) {
    EXPECT_EQ(expire(pending(), kNoon).state, ApprovalState::pending);
    EXPECT_EQ(expire(pending(), kNoon + kKillReleaseLife).state, ApprovalState::expired);
    const Approval rejected = *reject(pending(), by(human("hum_1")));
    EXPECT_EQ(expire(rejected, kNoon + kApprovalLife).state, ApprovalState::rejected);
}

TEST(ApprovalStep, SurvivesItsJson) {
    const Approval approved = *approve(pending(2), by(human("hum_1")));
    EXPECT_EQ(encode(*decode_approval(encode(approved))), encode(approved));
}

TEST(ApprovalStep, AVoteThatRestsIsRefusedAndStillMayReject) {
    ApprovalCall call = by(human("hum_1"));
    call.rest.until = kNoon + Duration{1};
    EXPECT_EQ(approve(pending(), call).error(), errors::vote_rests);
    EXPECT_TRUE(reject(pending(), call));
    call.at = kNoon + Duration{1};
    EXPECT_TRUE(approve(pending(), call));
}

TEST(ApprovalStep, HelperAndHelpedAreNotTwoPeople) {
    const Approval once = *approve(pending(2), by(human("hum_1")));
    ApprovalCall call = by(human("hum_2"));
    call.one_with_caller = {HumanId::trusted("hum_1")};
    EXPECT_EQ(approve(once, call).error(), errors::second_human_required);
    EXPECT_EQ(approve(once, by(human("hum_3")))->state, ApprovalState::approved);
}

TEST(ApprovalStep, WhatTheHelperAskedForIsTheHelpedOnesOwnRequest) {
    Approval own = pending();
    own.requested_by = "human:hum_1";
    ApprovalCall call = by(human("hum_2"));
    call.one_with_caller = {HumanId::trusted("hum_1")};
    call.humans_of_tenant = 2;
    EXPECT_EQ(approve(own, call).error(), errors::second_human_required);
    call.humans_of_tenant = 1;  // Nobody else: then a fresh login counts, as for one person.
    EXPECT_TRUE(approve(own, call));
    call.at = kNoon + kFreshAuthentication + Duration{1};
    EXPECT_EQ(approve(own, call).error(), errors::reauthentication_required);
}

TEST(ApprovalStep, ADecisionSaysWhoWhenAndWhy) {
    ApprovalCall call = by(human("hum_1"), Duration{7});
    call.decision.comment = "looks right";
    const Approval once = *approve(pending(2), call);
    ASSERT_EQ(once.votes.size(), 1u);
    EXPECT_EQ(once.votes[0].human_id.text(), "hum_1");
    EXPECT_EQ(once.votes[0].at, kNoon + Duration{7});
    EXPECT_EQ(once.comment, "looks right");
    EXPECT_FALSE(once.decided_at);
    const Approval granted = *approve(once, by(human("hum_2"), Duration{8}));
    EXPECT_EQ(granted.decided_at, kNoon + Duration{8});
    const Approval refused = *reject(pending(), call);
    EXPECT_EQ(refused.rejected_by, "human:hum_1");
    EXPECT_EQ(refused.comment, "looks right");
    EXPECT_EQ(refused.decided_at, kNoon + Duration{7});
    EXPECT_EQ(expire(pending(), kNoon + kApprovalLife).decided_at, kNoon + kApprovalLife);
    EXPECT_EQ(
        consume(granted, granted.subject_hash, kNoon + Duration{9})->decided_at,
        kNoon + Duration{9});
}

TEST(ApprovalStep, WhatWasGrantedExpiresUnused) {
    const Approval granted = *approve(pending(), by(human("hum_1")));
    const Timestamp end = granted.expires_at;
    EXPECT_TRUE(consume(granted, granted.subject_hash, end - Duration{1}));
    EXPECT_EQ(consume(granted, granted.subject_hash, end).error(), errors::approval_expired);
    EXPECT_EQ(expire(granted, end - Duration{1}).state, ApprovalState::approved);
    EXPECT_EQ(expire(granted, end).state, ApprovalState::expired);
}

TEST(ApprovalStep, AReleaseWaitsAQuarterOfAnHourAndTheRestADay) {
    EXPECT_EQ(life_of(ApprovalKind::kill_release), Duration::of_minutes(15));
    EXPECT_EQ(life_of(ApprovalKind::config_proposal), Duration::of_hours(24));
    EXPECT_EQ(humans_required(false, false), 1);
}

TEST(ApprovalStep, WithTwoNeededWhoAskedMayBeOneOfThem) {
    Approval own = pending(2);
    own.requested_by = "human:hum_1";
    const auto once = approve(own, by(human("hum_1")));
    ASSERT_TRUE(once);
    EXPECT_EQ(once->state, ApprovalState::pending);
}

}  // namespace
}  // namespace interlock
