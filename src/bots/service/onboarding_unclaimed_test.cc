// Accounts that nobody takes over: how long they are kept and what is left of them.
#include <gtest/gtest.h>

#include "base/errors.h"
#include "testing/onboarding_desk.h"

namespace interlock {
namespace {

using Service = OnboardingService;

class UnclaimedSignup : public ::testing::Test {
protected:
    UnclaimedSignup() {
        auto account = desk.signup();
        tenant_id = account->tenant_id;
        access_key = std::string(account->access_key.reveal());
        desk.fire();
    }

    bool exists() const { return desk.directory.tenant_exists(tenant_id); }
    bool key_works() const { return desk.directory.by_access_key(access_key).has_value(); }
    // The trial has ended, and a microsecond later the account would be let go.
    void pass_to_the_bound() {
        desk.pass(kTrialLife);
        desk.pass({kUnclaimedLife.microseconds - 1});
        ASSERT_TRUE(exists());
        ASSERT_TRUE(key_works());
    }
    Result<BotAccountView> set_plan(std::optional<PlanName> plan) {
        return desk.ask<BotAccountView>(
            desk.service(),
            &Service::set_plan,
            Service::Caller{OnboardingDesk::host_operator(), tenant_id},
            SetPlan{plan});
    }

    OnboardingDesk desk;
    TenantId tenant_id;
    std::string access_key;
};

TEST_F(UnclaimedSignup, IsKeptForItsLifeAndNoLonger) {
    pass_to_the_bound();
    desk.pass({1});
    EXPECT_FALSE(exists());
    EXPECT_FALSE(key_works());
    EXPECT_EQ(desk.count_in_ledger(tenant_id, "SIGNUP_LET_GO"), 1);
    EXPECT_EQ(desk.count_in_ledger(system_tenant(), "TENANT_REMOVED"), 1);
    desk.pass(kUnclaimedLife);
    EXPECT_EQ(desk.count_in_ledger(tenant_id, "SIGNUP_LET_GO"), 1);
}

TEST_F(UnclaimedSignup, LeavesNoAddressInTheStateAndFreesIt) {
    pass_to_the_bound();
    ASSERT_TRUE(desk.states_text().contains(OnboardingDesk::kEmail));
    EXPECT_EQ(desk.signup().error(), errors::email_in_use);
    desk.pass({1});
    EXPECT_FALSE(desk.states_text().contains(OnboardingDesk::kEmail));
    const auto anew = desk.signup();
    ASSERT_TRUE(anew);
    EXPECT_NE(anew->tenant_id, tenant_id);
}

TEST_F(UnclaimedSignup, FreesItsPlaceAmongTheTenants) {
    const std::string full =
        "{\"count\":" + std::to_string(kTenantsMax - kTenantsForOperator) + "}";
    desk.restart(
        [&](MemoryLedgerContents& contents) { contents.states["tenant_count"].json = full; });
    pass_to_the_bound();
    EXPECT_EQ(desk.signup("b@example.com").error(), errors::limit_reached);
    desk.pass({1});
    EXPECT_TRUE(desk.signup("b@example.com"));
    EXPECT_EQ(desk.signup("c@example.com").error(), errors::limit_reached);
}

TEST_F(UnclaimedSignup, IsGoneAfterARestartToo) {
    pass_to_the_bound();
    desk.clock.advance({1});
    desk.restart();
    EXPECT_TRUE(exists());
    desk.fire();
    EXPECT_FALSE(exists());
    desk.restart();
    EXPECT_FALSE(exists());
    EXPECT_FALSE(key_works());
    EXPECT_FALSE(desk.service().view(tenant_id).active);
}

TEST_F(UnclaimedSignup, CannotBeBroughtBack) {
    pass_to_the_bound();
    desk.pass({1});
    EXPECT_EQ(set_plan(PlanName::pro).error(), errors::not_found);
    EXPECT_FALSE(desk.service().view(tenant_id).active);
    EXPECT_EQ(desk.activate(desk.mailed_code()).error(), errors::unauthenticated);
}

TEST_F(UnclaimedSignup, IsKeptOnceItsOwnerHasAPassword) {
    ASSERT_TRUE(desk.activate(desk.mailed_code()));
    pass_to_the_bound();
    desk.pass(kUnclaimedLife);
    EXPECT_TRUE(exists());
    EXPECT_TRUE(key_works());
}

TEST_F(UnclaimedSignup, IsKeptUnderAPlanThatBeganInTime) {
    pass_to_the_bound();
    ASSERT_TRUE(set_plan(PlanName::standard));
    desk.pass(Duration::of_days(400));
    EXPECT_TRUE(exists());
    ASSERT_TRUE(set_plan(std::nullopt));
    desk.pass({kUnclaimedLife.microseconds - 1});
    EXPECT_TRUE(exists());
    desk.pass({1});
    EXPECT_FALSE(exists());
}

TEST_F(UnclaimedSignup, IsKeptWhileAKeyOfTheOperatorsMakingIsInUse) {
    const PrincipalService::Caller host{OnboardingDesk::host_operator(), tenant_id};
    const auto made = desk.ask<Answer>(
        desk.principals(),
        &PrincipalService::create_access_key,
        host,
        CreateAccessKey{"extra", {Scope::read}, std::nullopt});
    ASSERT_TRUE(made);
    const KeyId key_id = KeyId::trusted(parse_json(made->body)->find("key_id")->as_string());
    pass_to_the_bound();
    desk.pass({1});
    EXPECT_TRUE(exists());
    ASSERT_TRUE(
        desk.ask<Answer>(desk.principals(), &PrincipalService::revoke_access_key, host, key_id));
    desk.pass({kUnclaimedLife.microseconds - 1});
    EXPECT_TRUE(exists());
    desk.pass({1});
    EXPECT_FALSE(exists());
}

TEST_F(UnclaimedSignup, LeavesAnOwnerAloneWhoIsInvitedElsewhere) {
    const TenantId demo = TenantId::trusted("demo");
    ASSERT_TRUE(desk.ask<Answer>(
        desk.principals(),
        &PrincipalService::create_tenant,
        OnboardingDesk::host_operator(),
        CreateTenant{demo, "Demo"}));
    const auto invited = desk.ask<Invitation>(
        desk.principals(),
        &PrincipalService::invite_human,
        PrincipalService::Caller{OnboardingDesk::host_operator(), demo},
        InviteHuman{.email = std::string(OnboardingDesk::kEmail)});
    ASSERT_TRUE(invited) << invited.error().message;
    pass_to_the_bound();
    desk.pass({1});
    EXPECT_FALSE(exists());
    EXPECT_EQ(desk.signup().error(), errors::email_in_use);
    const auto again = desk.ask<Invitation>(
        desk.principals(),
        &PrincipalService::invite_human,
        PrincipalService::Caller{OnboardingDesk::host_operator(), demo},
        InviteHuman{.email = std::string(OnboardingDesk::kEmail)});
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->human.memberships, (std::set<TenantId>{demo}));
}

}  // namespace
}  // namespace interlock
