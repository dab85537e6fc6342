// The plans one can sign up for, as one table, and what becomes of an account with them, as pure
// functions of its row.
//
// Every signup begins as a trial of the plan it named. The operator confirms a plan, which then has
// no end, or ends it.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "bots/wire/account_view.h"
#include "bots/wire/bot_config.h"

namespace interlock {

inline constexpr Duration kTrialLife = Duration::of_days(14);
// An account that its owner has not taken over is kept so long after its plan ended.
inline constexpr Duration kUnclaimedLife = Duration::of_days(30);

struct BotPlan {
    PlanName name = PlanName::trial;
    std::size_t symbols_max = 0;
};
// One for each name, in declaration order.
std::span<const BotPlan> all_plans();
const BotPlan& plan_of(PlanName name);

// The signup's plan from now on: nothing ends it, `trial` begins one of kTrialLife, another is
// confirmed.
SignupFacts with_plan(SignupFacts signup, const std::optional<PlanName>& plan, Timestamp now);

// The trial's time is up, and nobody has said so yet.
bool is_trial_over(const SignupFacts& signup, Timestamp now);

// When something is to be said of a trial next: that it ends soon, twice, and that it is over.
inline constexpr std::array<Duration, 2> kTrialWarnings = {
    Duration::of_days(3), Duration::of_days(1)};
std::optional<Timestamp> next_trial_word(const SignupFacts& signup, Timestamp now);

// Neither used under a plan nor taken over by its owner.
bool is_unclaimed(const SignupFacts& signup);
// What is kept of a signup that was let go: no address, no words of whoever signed up.
SignupFacts let_go(SignupFacts signup);
bool is_let_go(const SignupFacts& signup);

// The account at `now`: a trial or a grant whose time is up is over, whether or not its timer has
// come up.
BotAccountView view_of(const TenantId& tenant_id, const OnboardingRow& row, Timestamp now);

}  // namespace interlock
