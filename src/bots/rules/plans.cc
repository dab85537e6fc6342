#include "bots/rules/plans.h"

#include "base/check.h"

namespace interlock {
namespace {

constexpr BotPlan kPlans[] = {
    {PlanName::trial, 3},
    {PlanName::standard, 5},
    {PlanName::pro, kBotSymbolsMax},
};
static_assert(std::size(kPlans) == kPlanNames.size());

}  // namespace

std::span<const BotPlan> all_plans() {
    return kPlans;
}

const BotPlan& plan_of(PlanName name) {
    const BotPlan& plan = kPlans[static_cast<std::size_t>(name)];
    CHECK(plan.name == name);
    return plan;
}

SignupFacts with_plan(SignupFacts signup, const std::optional<PlanName>& plan, Timestamp now) {
    signup.is_active = plan.has_value();
    if (plan) {
        signup.plan = *plan;
        signup.trial_expires.reset();
    }
    if (plan == PlanName::trial) {
        signup.trial_expires = now + kTrialLife;
    }
    return signup;
}

bool is_trial_over(const SignupFacts& signup, Timestamp now) {
    return signup.is_active && signup.trial_expires && *signup.trial_expires <= now;
}

std::optional<Timestamp> next_trial_word(const SignupFacts& signup, Timestamp now) {
    if (!signup.is_active || !signup.trial_expires) {
        return std::nullopt;
    }
    for (const Duration before : kTrialWarnings) {
        const Timestamp at = *signup.trial_expires - before;
        if (at > now) {
            return at;
        }
    }
    return signup.trial_expires;
}

bool is_unclaimed(const SignupFacts& signup) {
    return !signup.is_active && !signup.activated_at;
}

SignupFacts let_go(SignupFacts signup) {
    signup.email.clear();
    signup.peer.clear();
    signup.agent_metadata = Json();
    signup.mail.state = MailState::not_needed;
    return signup;
}

bool is_let_go(const SignupFacts& signup) {
    return signup.email.empty();
}

BotAccountView view_of(const TenantId& tenant_id, const OnboardingRow& row, Timestamp now) {
    BotAccountView view;
    view.tenant_id = tenant_id;
    view.symbols_max = kBotSymbolsMax;
    if (row.key_grant && now < row.key_grant->expires_at) {
        view.key_grant = row.key_grant;
    }
    if (!row.signup) {
        view.email_verified = true;
        return view;
    }
    const SignupFacts& signup = *row.signup;
    view.plan = signup.plan;
    view.active = signup.is_active && !is_trial_over(signup, now);
    view.trial_expires = signup.trial_expires;
    view.email_verified = signup.activated_at.has_value();
    view.activation_mail = signup.mail.state;
    view.symbols_max = plan_of(signup.plan).symbols_max;
    return view;
}

}  // namespace interlock
