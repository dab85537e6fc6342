#include "bots/rules/plans.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

TEST(Plans, AreThreeWithTheirNumbersOfMarkets) {
    ASSERT_EQ(all_plans().size(), kPlanNames.size());
    EXPECT_EQ(plan_of(PlanName::trial).symbols_max, 3u);
    EXPECT_EQ(plan_of(PlanName::standard).symbols_max, 5u);
    EXPECT_EQ(plan_of(PlanName::pro).symbols_max, 9u);
}

TEST(Plans, EndOnTheMicrosecondOfTheirTrial) {
    OnboardingRow row;
    row.signup.emplace();
    row.signup->trial_expires = Timestamp{100};
    EXPECT_TRUE(view_of(TenantId::trusted("t"), row, {99}).active);
    EXPECT_FALSE(is_trial_over(*row.signup, {99}));
    EXPECT_FALSE(view_of(TenantId::trusted("t"), row, {100}).active);
    EXPECT_TRUE(is_trial_over(*row.signup, {100}));
}

TEST(Plans, AreConfirmedRenewedOrEnded) {
    SignupFacts signup;
    signup.plan = PlanName::trial;
    signup.trial_expires = Timestamp{100};
    const SignupFacts confirmed = with_plan(signup, PlanName::pro, {50});
    EXPECT_EQ(confirmed.plan, PlanName::pro);
    EXPECT_EQ(confirmed.trial_expires, std::nullopt);
    EXPECT_TRUE(confirmed.is_active);
    const SignupFacts ended = with_plan(confirmed, std::nullopt, {60});
    EXPECT_EQ(ended.plan, PlanName::pro);
    EXPECT_FALSE(ended.is_active);
    const SignupFacts renewed = with_plan(ended, PlanName::trial, {70});
    EXPECT_TRUE(renewed.is_active);
    EXPECT_EQ(renewed.trial_expires, Timestamp{70} + kTrialLife);
}

TEST(Plans, SayTwiceThatATrialEndsAndThenThatItHas) {  // notices.md 1.1
    SignupFacts signup;
    signup.trial_expires = Timestamp{} + kTrialLife;
    const Timestamp three_days = *signup.trial_expires - Duration::of_days(3);
    const Timestamp one_day = *signup.trial_expires - Duration::of_days(1);
    EXPECT_EQ(next_trial_word(signup, {}), three_days);
    EXPECT_EQ(next_trial_word(signup, three_days - Duration{1}), three_days);
    EXPECT_EQ(next_trial_word(signup, three_days), one_day);
    EXPECT_EQ(next_trial_word(signup, one_day), signup.trial_expires);
    EXPECT_EQ(next_trial_word(with_plan(signup, PlanName::pro, {}), {}), std::nullopt);
    EXPECT_EQ(next_trial_word(with_plan(signup, std::nullopt, {}), {}), std::nullopt);
}

TEST(Plans, OfTheOperatorsTenantsHaveNoBoundsButTheBotsOwn) {
    const BotAccountView view = view_of(TenantId::trusted("demo"), {}, {0});
    EXPECT_EQ(view.symbols_max, kBotSymbolsMax);
    EXPECT_TRUE(view.active);
    EXPECT_EQ(view.activation_mail, std::nullopt);
}

TEST(Plans, ShowAGrantWhileItLasts) {
    OnboardingRow row;
    row.key_grant = KeyGrant{std::nullopt, "human:hum_1", {0}, {100}};
    EXPECT_TRUE(view_of(TenantId::trusted("demo"), row, {99}).key_grant);
    EXPECT_FALSE(view_of(TenantId::trusted("demo"), row, {100}).key_grant);
}

}  // namespace
}  // namespace interlock
