// Ties the bots to the accounts of their owners: a signup brings a configuration, a plan bounds the
// bot and its end stops it, a replaced key restarts it, keys of a real exchange need a grant, and a
// key's asset list binds whatever it opens.
// Neither service knows the other.
#pragma once

#include <functional>

#include "bots/service/bot_service.h"
#include "bots/service/onboarding_service.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind plan_limit{
    "plan_limit",
    403,
    false,
    "Take symbols out, or ask the operator of this host for another plan."};
}  // namespace errors

struct OwnerRules {
    // Both outlive each other's calls: they are built and ended together.
    OnboardingService& onboarding;
    BotService& bots;
    LoopService& loop;
    // What a new owner's bot trades, within so many symbols.
    std::function<BotConfig(std::size_t symbols_max)> first_config;
};
// Before either is opened.
void set_owner_rules(const OwnerRules& rules);

}  // namespace interlock
