// Signing up, its bounds, and how long a plan lasts.
#include "bots/service/onboarding_service.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "testing/onboarding_desk.h"

namespace interlock {
namespace {

using Service = OnboardingService;

std::string code_of(const auto& result) {
    return result ? std::string("ok") : std::string(result.error().code());
}

Result<BotAccountView> set_plan(
    OnboardingDesk& desk, const TenantId& tenant_id, std::optional<PlanName> plan) {
    return desk.ask<BotAccountView>(
        desk.service(),
        &Service::set_plan,
        Service::Caller{OnboardingDesk::host_operator(), tenant_id},
        SetPlan{plan});
}

std::string active_code(OnboardingDesk& desk, const TenantId& tenant_id) {
    return code_of(desk.in_turn(tenant_id, internal_principal("test"), [&](Turn& turn) {
        return desk.service().check_active(turn);
    }));
}

TEST(Onboarding, SignupMakesATenantAnOwnerAndAKeyForTheBot) {
    OnboardingDesk desk;
    const auto account = desk.signup();
    ASSERT_TRUE(account);
    const auto holder = desk.directory.by_access_key(account->access_key.reveal());
    ASSERT_TRUE(holder);
    EXPECT_EQ(holder->tenants, (std::set<TenantId>{account->tenant_id}));
    EXPECT_EQ(holder->scopes, (std::set<Scope>{Scope::bot}));
    EXPECT_TRUE(desk.directory.tenant_exists(account->tenant_id));
    EXPECT_EQ(desk.directory.humans_of(account->tenant_id), 0);
    EXPECT_TRUE(is_tenant_text(account->tenant_id.text()));
    EXPECT_EQ(desk.count_in_ledger(account->tenant_id, "\"SIGNUP\""), 1);
    EXPECT_EQ(desk.count_in_ledger(system_tenant(), "TENANT_CREATED"), 1);
}

TEST(Onboarding, AnAccountIsActiveBeforeItsOwnerHasAPassword) {
    OnboardingDesk desk;
    const auto account = desk.signup("a@example.com", PlanName::pro);
    const BotAccountView view = desk.service().view(account->tenant_id);
    EXPECT_TRUE(view.active);
    EXPECT_EQ(view.standing(), AccountStanding::pending_activation);
    EXPECT_EQ(view.plan, PlanName::pro);
    EXPECT_EQ(view.symbols_max, 9u);
    EXPECT_EQ(view.trial_expires, desk.clock.now() + kTrialLife);
    EXPECT_EQ(account->trial_expires, desk.clock.now() + kTrialLife);
}

TEST(Onboarding, StatusTextIsTheViewBeforeAndAfterARestart) {
    OnboardingDesk desk;
    const auto account = desk.signup();
    const std::string text = desk.service().status_text(account->tenant_id);
    EXPECT_EQ(text, to_text(encode(desk.service().view(account->tenant_id))));
    desk.restart();
    EXPECT_EQ(desk.service().status_text(account->tenant_id), text);
}

TEST(Onboarding, TenantsOfTheOperatorHaveNoPlanAndNoEnd) {
    OnboardingDesk desk;
    const TenantId demo = TenantId::trusted("demo");
    ASSERT_TRUE(desk.ask<Answer>(
        desk.principals(),
        &PrincipalService::create_tenant,
        OnboardingDesk::host_operator(),
        CreateTenant{demo, "Demo"}));
    EXPECT_EQ(desk.service().view(demo).plan_word(), "operator");
    EXPECT_EQ(desk.service().view(demo).standing(), AccountStanding::active);
    EXPECT_EQ(active_code(desk, demo), "ok");
    EXPECT_EQ(code_of(set_plan(desk, demo, PlanName::pro)), "no_signup");
}

TEST(Onboarding, TheHookSeesThePlanInsideTheTurn) {
    OnboardingDesk desk;
    std::size_t symbols = 0;
    desk.service().set_hooks(
        {.on_signup =
             [&](Turn& turn, const TenantId& tenant_id, const BotPlan& plan) {
                 symbols = plan.symbols_max;
                 turn.save("bot/" + tenant_id.text(), Json::object({{"made", true}}));
                 return Result<void>();
             },
         .on_inactive = {},
         .on_key_replaced = {}});
    const auto account = desk.signup("a@example.com", PlanName::standard);
    EXPECT_EQ(symbols, 5u);
    EXPECT_TRUE((*desk.store().load_state("bot/" + account->tenant_id.text())).has_value());
}

TEST(Onboarding, AHookThatFailsLeavesNothingBehind) {
    OnboardingDesk desk;
    const std::string before = desk.states_text();
    desk.service().set_hooks(
        {.on_signup = [](Turn&, const TenantId&, const BotPlan&) -> Result<void> {
             return fail(errors::unavailable, "No market.");
         },
         .on_inactive = {},
         .on_key_replaced = {}});
    EXPECT_EQ(code_of(desk.signup()), "unavailable");
    EXPECT_EQ(desk.states_text(), before);
    desk.fire();
    EXPECT_EQ(desk.mailer.tries, 0);
}

TEST(Onboarding, AKnownAddressIsRefused) {
    OnboardingDesk desk;
    ASSERT_TRUE(desk.signup());
    EXPECT_EQ(code_of(desk.signup()), "email_in_use");
}

TEST(Onboarding, OfTwoSignupsInOneBatchWithOneAddressOneWins) {
    OnboardingDesk desk;
    std::vector<std::string> codes;
    desk.engine().hold();
    for (int i = 0; i < 2; ++i) {
        desk.service().signup(
            OnboardingDesk::peer(),
            SignupRequest{"one@example.com", PlanName::trial, Json()},
            [&](Result<NewAccount> account) { codes.push_back(code_of(account)); });
    }
    desk.engine().release();
    EXPECT_EQ(codes, (std::vector<std::string>{"ok", "email_in_use"}));
    EXPECT_EQ(desk.directory.tenants().size(), 1u);
}

TEST(Onboarding, MetadataIsKeptWithoutTheSecretsInIt) {
    OnboardingDesk desk;
    const auto account = desk.ask<NewAccount>(
        desk.service(),
        &Service::signup,
        OnboardingDesk::peer(),
        SignupRequest{
            "a@example.com",
            PlanName::trial,
            Json::object({{"model", "m-1"}, {"api_key", "canary-in-metadata"}})});
    ASSERT_TRUE(account);
    EXPECT_NE(desk.ledger_text(account->tenant_id).find("m-1"), std::string::npos);
    EXPECT_EQ(desk.ledger_text(account->tenant_id).find("canary-in"), std::string::npos);
    EXPECT_EQ(desk.states_text().find("canary-in"), std::string::npos);
}

TEST(Onboarding, AClosedHostLeavesSignupsToTheOperator) {
    OnboardingDesk desk(SignupRules{.open = false, .bounds = {}, .limits_loopback = false});
    EXPECT_EQ(code_of(desk.signup()), "signup_closed");
    EXPECT_TRUE(desk.signup(
        "a@example.com", PlanName::trial, {OnboardingDesk::host_operator(), "unix", true}));
}

TEST(Onboarding, AFloodFromOnePeerEndsAtItsBoundAndOthersGoOn) {
    OnboardingDesk desk;
    std::map<std::string, int> codes;
    for (int i = 0; i < 50; ++i) {
        ++codes[code_of(desk.signup("a" + std::to_string(i) + "@example.com"))];
    }
    EXPECT_EQ(codes["ok"], kSignupsPerPeer);
    EXPECT_EQ(codes["rate_limited"], 50 - kSignupsPerPeer);
    EXPECT_TRUE(desk.signup("b@example.com", PlanName::trial, OnboardingDesk::peer("203.0.113.8")));
    EXPECT_EQ(desk.directory.tenants().size(), static_cast<std::size_t>(kSignupsPerPeer) + 1);
}

TEST(Onboarding, ARefusalSaysWhenThereIsRoomAgain) {
    OnboardingDesk desk;
    for (int i = 0; i < kSignupsPerPeer; ++i) {
        ASSERT_TRUE(desk.signup("a" + std::to_string(i) + "@example.com"));
    }
    desk.clock.advance(Duration::of_minutes(20));
    const auto refused = desk.signup("late@example.com");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().retry_after_seconds, 40 * 60);
    desk.clock.advance(Duration::of_minutes(40));
    EXPECT_TRUE(desk.signup("late@example.com"));
}

TEST(Onboarding, TheBoundOfAPeerHoldsOverARestart) {
    OnboardingDesk desk;
    for (int i = 0; i < kSignupsPerPeer; ++i) {
        ASSERT_TRUE(desk.signup("a" + std::to_string(i) + "@example.com"));
    }
    desk.restart();
    EXPECT_EQ(code_of(desk.signup("b@example.com")), "rate_limited");
}

TEST(Onboarding, TheHostsBoundCountsEverybodyButTheOperator) {
    OnboardingDesk desk(
        SignupRules{.open = true, .bounds = {.per_host = 2}, .limits_loopback = false});
    EXPECT_TRUE(desk.signup("a@example.com", PlanName::trial, OnboardingDesk::peer("203.0.113.1")));
    EXPECT_TRUE(desk.signup("b@example.com", PlanName::trial, OnboardingDesk::loopback()));
    EXPECT_EQ(
        code_of(desk.signup("c@example.com", PlanName::trial, OnboardingDesk::peer("203.0.113.2"))),
        "rate_limited");
    EXPECT_TRUE(desk.signup(
        "c@example.com", PlanName::trial, {OnboardingDesk::host_operator(), "unix", true}));
}

TEST(Onboarding, CallersOnThisMachineAreOnePeerOnlyWhenTheRulesSaySo) {
    OnboardingDesk open;
    OnboardingDesk limited(
        SignupRules{.open = true, .bounds = {.per_peer = 1}, .limits_loopback = true});
    for (int i = 0; i < kSignupsPerPeer + 1; ++i) {
        EXPECT_TRUE(open.signup(
            "a" + std::to_string(i) + "@example.com", PlanName::trial, OnboardingDesk::loopback()));
    }
    EXPECT_TRUE(limited.signup("a@example.com", PlanName::trial, OnboardingDesk::loopback()));
    EXPECT_EQ(
        code_of(limited.signup("b@example.com", PlanName::trial, OnboardingDesk::loopback())),
        "rate_limited");
}

TEST(Onboarding, TriesOfKnownAddressesCountAndFailuresOfTheHostDoNot) {
    OnboardingDesk desk(
        SignupRules{.open = true, .bounds = {.per_peer = 2}, .limits_loopback = false});
    desk.engine().refuse_after = 0;
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(code_of(desk.signup()), "overloaded");
    }
    desk.engine().refuse_after.reset();
    EXPECT_TRUE(desk.signup());
    EXPECT_EQ(code_of(desk.signup()), "email_in_use");
    EXPECT_EQ(code_of(desk.signup()), "rate_limited");
}

TEST(Onboarding, AHostThatIsFullForStrangersRefusesThemAndKeepsNothing) {
    OnboardingDesk desk;
    ASSERT_TRUE(desk.signup());
    const std::string stored =
        "{\"count\":" + std::to_string(kTenantsMax - kTenantsForOperator) + "}";
    desk.restart(
        [&](MemoryLedgerContents& contents) { contents.states["tenant_count"].json = stored; });
    const std::string before = desk.states_text();
    EXPECT_EQ(code_of(desk.signup("b@example.com")), "limit_reached");
    EXPECT_EQ(desk.states_text(), before);
    // What is left is the operator's.
    EXPECT_TRUE(desk.signup(
        "b@example.com", PlanName::trial, {OnboardingDesk::host_operator(), "unix", true}));
}

TEST(Onboarding, ATrialEndsAtItsTimeAndIsRecordedOnce) {
    OnboardingDesk desk;
    std::vector<TenantId> stopped;
    desk.service().set_hooks(
        {.on_signup = {},
         .on_inactive =
             [&](Turn&, const TenantId& tenant_id) {
                 stopped.push_back(tenant_id);
                 return Result<void>();
             },
         .on_key_replaced = {}});
    const TenantId tenant_id = desk.signup()->tenant_id;
    desk.pass({kTrialLife.microseconds - 1});
    EXPECT_EQ(active_code(desk, tenant_id), "ok");
    EXPECT_TRUE(stopped.empty());
    desk.pass({1});
    EXPECT_EQ(active_code(desk, tenant_id), "plan_inactive");
    EXPECT_EQ(desk.service().view(tenant_id).standing(), AccountStanding::inactive);
    EXPECT_EQ(stopped, (std::vector<TenantId>{tenant_id}));
    desk.pass(kTrialLife);
    EXPECT_EQ(stopped.size(), 1u);
    EXPECT_EQ(desk.count_in_ledger(tenant_id, "PLAN_EXPIRED"), 1);
}

TEST(Onboarding, ATrialSaysThreeDaysAndOneDayBeforeThatItEnds) {  // notices.md 1.1
    OnboardingDesk desk;
    const TenantId tenant_id = desk.signup()->tenant_id;
    const auto said = [&] { return desk.count_in_ledger(tenant_id, "PLAN_EXPIRES_SOON"); };
    desk.pass({kTrialLife.microseconds - kTrialWarnings[0].microseconds - 1});
    EXPECT_EQ(said(), 0);
    desk.pass({1});
    EXPECT_EQ(said(), 1);
    desk.pass({kTrialWarnings[0].microseconds - kTrialWarnings[1].microseconds});
    EXPECT_EQ(said(), 2);
    desk.pass(kTrialWarnings[1]);
    EXPECT_EQ(said(), 2);
    EXPECT_EQ(desk.count_in_ledger(tenant_id, "PLAN_EXPIRED"), 1);
}

TEST(Onboarding, APlanThatIsConfirmedMeanwhileHasNothingToSay) {
    OnboardingDesk desk;
    const TenantId tenant_id = desk.signup()->tenant_id;
    ASSERT_TRUE(set_plan(desk, tenant_id, PlanName::pro));
    desk.pass(kTrialLife);
    EXPECT_EQ(desk.count_in_ledger(tenant_id, "PLAN_EXPIRES_SOON"), 0);
}

TEST(Onboarding, ATrialIsOverForReadersBeforeItsTimerHasComeUp) {
    OnboardingDesk desk;
    const TenantId tenant_id = desk.signup()->tenant_id;
    desk.clock.advance(kTrialLife);
    EXPECT_FALSE(desk.service().view(tenant_id).active);
    EXPECT_NE(desk.service().status_text(tenant_id).find("\"active\":false"), std::string::npos);
    EXPECT_EQ(active_code(desk, tenant_id), "plan_inactive");
}

TEST(Onboarding, ATrialThatRanOutWhileTheServerWasDownEndsWhenItIsBack) {
    OnboardingDesk desk;
    int stopped = 0;
    desk.hooks.on_inactive = [&](Turn&, const TenantId&) {
        ++stopped;
        return Result<void>();
    };
    const TenantId tenant_id = desk.signup()->tenant_id;
    desk.clock.advance(kTrialLife);
    desk.restart();
    desk.fire();
    EXPECT_EQ(stopped, 1);
    EXPECT_EQ(desk.count_in_ledger(tenant_id, "PLAN_EXPIRED"), 1);
}

TEST(Onboarding, AConfirmedPlanHasNoEnd) {
    OnboardingDesk desk;
    const TenantId tenant_id = desk.signup()->tenant_id;
    const auto view = set_plan(desk, tenant_id, PlanName::pro);
    ASSERT_TRUE(view);
    EXPECT_EQ(view->trial_expires, std::nullopt);
    desk.pass(Duration::of_days(400));
    EXPECT_EQ(active_code(desk, tenant_id), "ok");
    EXPECT_EQ(desk.count_in_ledger(tenant_id, "PLAN_EXPIRED"), 0);
    EXPECT_EQ(desk.row(tenant_id).signup->requested_plan, PlanName::standard);
}

TEST(Onboarding, TheOperatorEndsAPlanAndBeginsANewTrial) {
    OnboardingDesk desk;
    int stopped = 0;
    desk.service().set_hooks(
        {.on_signup = {},
         .on_inactive =
             [&](Turn&, const TenantId&) {
                 ++stopped;
                 return Result<void>();
             },
         .on_key_replaced = {}});
    const TenantId tenant_id = desk.signup()->tenant_id;
    EXPECT_FALSE(set_plan(desk, tenant_id, std::nullopt)->active);
    EXPECT_FALSE(set_plan(desk, tenant_id, std::nullopt)->active);
    EXPECT_EQ(stopped, 1);
    desk.pass({kUnclaimedLife.microseconds - 1});
    const auto view = set_plan(desk, tenant_id, PlanName::trial);
    EXPECT_TRUE(view->active);
    EXPECT_EQ(view->trial_expires, desk.clock.now() + kTrialLife);
    desk.pass(kTrialLife);
    EXPECT_EQ(stopped, 2);
}

TEST(Onboarding, OnlyTheOperatorSetsPlans) {
    OnboardingDesk desk;
    const auto owner = desk.add_owner();
    const auto refused = desk.ask<BotAccountView>(
        desk.service(),
        &Service::set_plan,
        Service::Caller{owner.human, owner.tenant_id},
        SetPlan{PlanName::pro});
    EXPECT_EQ(code_of(refused), "forbidden");
}

}  // namespace
}  // namespace interlock
