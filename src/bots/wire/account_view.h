// What an account looks like from outside (docs/contracts/onboarding.md#4-the-account), for the
// owner and for agents. Tenants that nobody signed up for have the plan "operator" and are always
// active.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "bots/wire/onboarding_row.h"

namespace interlock {

enum class AccountStanding {
    pending_activation,  // The owner has no password yet; the bot may be used all the same.
    active,
    inactive,  // The trial or the plan is over.
};
std::string_view to_word(AccountStanding standing);

struct BotAccountView {
    TenantId tenant_id;
    std::optional<PlanName> plan;  // Nothing: "operator".
    bool active = true;
    std::optional<Timestamp> trial_expires;
    bool email_verified = false;
    std::optional<MailState> activation_mail;  // Nothing: none was ever due.
    std::optional<KeyGrant> key_grant;
    std::size_t symbols_max = 0;

    AccountStanding standing() const;
    std::string_view plan_word() const;
};
Json encode(const BotAccountView& view);
Json account_view_schema();

}  // namespace interlock
