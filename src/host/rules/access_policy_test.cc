#include "host/rules/access_policy.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

const TenantId kOwn = TenantId::trusted("own");
const TenantId kForeign = TenantId::trusted("foreign");
const Access kReaders{.host_operator = true, .human = true, .agent = Scope::read};

Principal principal(PrincipalKind kind) {
    Principal principal;
    principal.kind = kind;
    principal.id = "p";
    if (kind == PrincipalKind::agent || kind == PrincipalKind::human) {
        principal.tenants = {kOwn};
    }
    principal.scopes = {Scope::read};
    return principal;
}

AccessVerdict ask(const Access& access, const Principal* who, const TenantId& tenant, bool exists) {
    return decide_access(access, {.principal = who, .tenant = tenant, .tenant_exists = exists});
}

TEST(AccessPolicy, NobodyIsUnauthenticated) {
    EXPECT_EQ(ask(kReaders, nullptr, kOwn, true), AccessVerdict::unauthenticated);
}

// I7: a foreign tenant, an unknown one and a bad key cannot be told apart.
TEST(AccessPolicy, ForeignAndUnknownTenantsLookLikeABadKey) {
    for (const PrincipalKind kind : {PrincipalKind::agent, PrincipalKind::human}) {
        const Principal who = principal(kind);
        EXPECT_EQ(ask(kReaders, &who, kOwn, true), AccessVerdict::allowed);
        EXPECT_EQ(ask(kReaders, &who, kForeign, true), AccessVerdict::unauthenticated);
        EXPECT_EQ(ask(kReaders, &who, kForeign, false), AccessVerdict::unauthenticated);
        EXPECT_EQ(ask(kReaders, &who, kOwn, false), AccessVerdict::unauthenticated);
    }
}

TEST(AccessPolicy, OperatorReachesEveryTenantAndHearsOfMissingOnes) {
    const Principal who = principal(PrincipalKind::host_operator);
    EXPECT_EQ(ask(kReaders, &who, kForeign, true), AccessVerdict::allowed);
    EXPECT_EQ(ask(kReaders, &who, kForeign, false), AccessVerdict::no_such_tenant);
}

TEST(AccessPolicy, AgentNeedsTheScope) {
    Principal who = principal(PrincipalKind::agent);
    who.scopes = {Scope::planner};
    EXPECT_EQ(ask(kReaders, &who, kOwn, true), AccessVerdict::forbidden);
    EXPECT_EQ(ask({.agent_with_any_scope = true}, &who, kOwn, true), AccessVerdict::allowed);
}

TEST(AccessPolicy, ABotsKeyReachesWhatItsBotKeepsAndNoMore) {
    const Access reports{.human = true, .agent = Scope::supervisor, .agent_of_bot = Scope::bot};
    Principal who = principal(PrincipalKind::agent);
    const auto asked = [&](bool is_of_bot, const TenantId& tenant) {
        return decide_access(
            reports,
            {.principal = &who, .tenant = tenant, .tenant_exists = true, .is_of_bot = is_of_bot});
    };
    EXPECT_EQ(asked(true, kOwn), AccessVerdict::forbidden);  // `read` alone is not enough.
    who.scopes = {Scope::bot};
    EXPECT_EQ(asked(true, kOwn), AccessVerdict::allowed);
    EXPECT_EQ(asked(false, kOwn), AccessVerdict::forbidden);
    EXPECT_EQ(asked(true, kForeign), AccessVerdict::unauthenticated);
    who.scopes = {Scope::supervisor};
    EXPECT_EQ(asked(false, kOwn), AccessVerdict::allowed);
}

TEST(AccessPolicy, HumanOnlyOperationsRefuseEveryoneElse) {
    const Access humans{.human = true};
    const Principal agent = principal(PrincipalKind::agent);
    const Principal host = principal(PrincipalKind::host_operator);
    const Principal person = principal(PrincipalKind::human);
    EXPECT_EQ(ask(humans, &agent, kOwn, true), AccessVerdict::forbidden);
    EXPECT_EQ(ask(humans, &host, kOwn, true), AccessVerdict::forbidden);
    EXPECT_EQ(ask(humans, &person, kOwn, true), AccessVerdict::allowed);
}

TEST(AccessPolicy, SystemTenantIsOpenOnlyWhereTheRowSaysSo) {
    const Principal host = principal(PrincipalKind::host_operator);
    Access access = kReaders;
    EXPECT_EQ(ask(access, &host, system_tenant(), true), AccessVerdict::forbidden);
    access.system_tenant = true;
    EXPECT_EQ(ask(access, &host, system_tenant(), true), AccessVerdict::allowed);
    const Principal agent = principal(PrincipalKind::agent);
    EXPECT_EQ(ask(access, &agent, system_tenant(), true), AccessVerdict::unauthenticated);
}

TEST(AccessPolicy, TheProgramItselfHasNoWayThroughAFace) {
    const Principal who = principal(PrincipalKind::internal);
    const Access host{.place = Access::Place::host, .host_operator = true, .human = true};
    EXPECT_EQ(decide_access(host, {.principal = &who}), AccessVerdict::forbidden);
}

// A human whose login was recovered may look and stop, and nothing that gives or moves.
TEST(AccessPolicy, AVoteThatRestsLooksAndStopsOnly) {
    const Principal who = principal(PrincipalKind::human);
    AccessQuestion question{
        .principal = &who,
        .tenant = kOwn,
        .tenant_exists = true,
        .changes = true,
        .vote_rests = true};
    EXPECT_EQ(decide_access({.human = true}, question), AccessVerdict::vote_rests);
    EXPECT_EQ(
        decide_access({.human = true, .human_at_rest = true}, question), AccessVerdict::allowed);
    EXPECT_EQ(
        decide_access({.place = Access::Place::host, .human = true}, question),
        AccessVerdict::allowed)
        << "their own account";
    question.changes = false;
    EXPECT_EQ(decide_access({.human = true}, question), AccessVerdict::allowed);
}

}  // namespace
}  // namespace interlock
