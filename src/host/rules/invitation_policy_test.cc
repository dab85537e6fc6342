#include "host/rules/invitation_policy.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

const TenantId kDemo = TenantId::trusted("demo");
const TenantId kOther = TenantId::trusted("other");

Principal host_operator() {
    Principal principal;
    principal.kind = PrincipalKind::host_operator;
    principal.id = "local";
    return principal;
}

Principal human_of(const TenantId& tenant_id) {
    Principal principal;
    principal.kind = PrincipalKind::human;
    principal.id = "hum_inviter";
    principal.tenants = {tenant_id};
    return principal;
}

Human person(std::string id, std::set<TenantId> memberships, bool activated) {
    Human human;
    human.human_id = HumanId::trusted(std::move(id));
    human.memberships = std::move(memberships);
    if (activated) {
        human.password_hash = "$argon2id$";
    } else {
        human.one_time_code = {"hash", Timestamp{}};
    }
    return human;
}

TEST(InvitationPolicy, LetsTheOperatorInviteTheFirstHuman) {
    EXPECT_TRUE(may_invite(host_operator(), {kDemo, {}}));
}

TEST(InvitationPolicy, ClosesTheDoorForTheOperatorOnceAHumanIsThere) {
    const auto allowed = may_invite(host_operator(), {kDemo, {person("hum_1", {kDemo}, true)}});

    ASSERT_FALSE(allowed);
    EXPECT_EQ(allowed.error().code(), "bootstrap_closed");
}

TEST(InvitationPolicy, LetsTheOperatorReplaceAnInvitationNobodyAccepted) {
    EXPECT_TRUE(may_invite(host_operator(), {kDemo, {person("hum_1", {kDemo}, false)}}));
}

TEST(InvitationPolicy, LetsAHumanInviteIntoTheirOwnTenantOnly) {
    const TenantPeople people{kDemo, {person("hum_1", {kDemo}, true)}};

    EXPECT_TRUE(may_invite(human_of(kDemo), people));
    EXPECT_FALSE(may_invite(human_of(kOther), people));
}

TEST(InvitationPolicy, NeverLetsAnAgentOrTheProgramInvite) {
    Principal agent = human_of(kDemo);
    agent.kind = PrincipalKind::agent;
    agent.scopes = {all_scopes().begin(), all_scopes().end()};

    EXPECT_FALSE(may_invite(agent, {kDemo, {}}));
    EXPECT_FALSE(may_invite(internal_principal("timer"), {kDemo, {}}));
}

TEST(InvitationPolicy, RefusesACodeThatWouldOpenATenantOfOthers) {
    // The operator bootstraps a new tenant with somebody another tenant has invited: a code in the
    // operator's hand would open that other tenant too.
    const Human pending = person("hum_2", {kOther}, false);
    const TenantPeople other{kOther, {person("hum_1", {kOther}, true), pending}};

    const auto allowed = may_issue_code(host_operator(), pending, {{kDemo, {}}, other});

    ASSERT_FALSE(allowed);
    EXPECT_EQ(allowed.error().code(), "invitation_pending");
}

TEST(InvitationPolicy, LetsTheInviterIssueACodeAnew) {
    const Human pending = person("hum_2", {kDemo}, false);
    const TenantPeople people{kDemo, {person("hum_1", {kDemo}, true), pending}};

    EXPECT_TRUE(may_issue_code(human_of(kDemo), pending, {people}));
}

TEST(JoinTenant, AddsTheMembership) {
    const auto joined = join_tenant(Human{}, {human_of(kDemo), {kDemo, {}}});

    ASSERT_TRUE(joined);
    EXPECT_EQ(joined->human.memberships, std::set<TenantId>{kDemo});
    EXPECT_TRUE(joined->withdrawn.empty());
}

TEST(JoinTenant, WithdrawsTheOperatorsEarlierInvitation) {
    const Human earlier = person("hum_1", {kDemo, kOther}, false);

    const auto joined =
        join_tenant(person("hum_2", {}, false), {host_operator(), {kDemo, {earlier}}});

    ASSERT_TRUE(joined);
    ASSERT_EQ(joined->withdrawn.size(), 1u);
    EXPECT_EQ(joined->withdrawn[0].human_id, earlier.human_id);
    EXPECT_FALSE(joined->withdrawn[0].memberships.contains(kDemo));
    EXPECT_FALSE(joined->withdrawn[0].one_time_code);
}

TEST(JoinTenant, KeepsTheSamePersonsInvitation) {
    const Human same = person("hum_1", {kDemo}, false);

    const auto joined = join_tenant(same, {host_operator(), {kDemo, {same}}});

    ASSERT_TRUE(joined);
    EXPECT_TRUE(joined->withdrawn.empty());
}

TEST(JoinTenant, WithdrawsNothingWhenAHumanInvites) {
    const auto joined = join_tenant(
        person("hum_3", {}, false), {human_of(kDemo), {kDemo, {person("hum_2", {kDemo}, false)}}});

    ASSERT_TRUE(joined);
    EXPECT_TRUE(joined->withdrawn.empty());
}

TEST(JoinTenant, RefusesOneHumanMoreThanTheBound) {
    TenantPeople people{kDemo, {}};
    for (std::size_t i = 0; i < kHumansMax - 1; ++i) {
        people.humans.push_back(person("hum_" + std::to_string(i), {kDemo}, true));
    }
    ASSERT_TRUE(join_tenant(person("hum_new", {}, false), {human_of(kDemo), people}));
    people.humans.push_back(person("hum_last", {kDemo}, true));

    const auto joined = join_tenant(person("hum_new", {}, false), {human_of(kDemo), people});

    ASSERT_FALSE(joined);
    EXPECT_EQ(joined.error().code(), "limit_reached");
}

TEST(JoinTenant, RefusesOneMembershipMoreThanTheBound) {
    std::set<TenantId> memberships;
    for (std::size_t i = 0; i < kMembershipsMax; ++i) {
        memberships.insert(TenantId::trusted("t" + std::to_string(i)));
    }

    const auto joined =
        join_tenant(person("hum_1", memberships, true), {human_of(kDemo), {kDemo, {}}});

    ASSERT_FALSE(joined);
    EXPECT_EQ(joined.error().code(), "limit_reached");
}

}  // namespace
}  // namespace interlock
