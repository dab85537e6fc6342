// What is stored about a tenant's account: how it was signed up for, its plan, the activation
// letter, the owner's grant and the markets its keys may name. No secret is in it: codes and keys
// are kept as hashes with the people and tenants they belong to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "bots/wire/signup.h"
#include "host/wire/tenant.h"

namespace interlock {

enum class MailState {
    due,         // To be sent, or being sent.
    sent,        // The next station has taken charge of it.
    failed,      // Given up; resend_activation begins anew.
    not_needed,  // The owner has a password.
};
std::string_view to_word(MailState state);

struct ActivationMail {
    MailState state = MailState::due;
    std::int64_t attempts = 0;  // Since it became due.
    std::int64_t serial = 0;    // Goes up with each; an outcome names the attempt it is of.
    std::optional<Timestamp> last_try_at;
    std::string last_error;  // The code of an error; empty without one.
};

// The owner lets an agent put exchange keys into the vault, once.
struct KeyGrant {
    std::optional<std::string> exchange;  // Nothing: whichever comes first.
    std::string granted_by;
    Timestamp granted_at;
    Timestamp expires_at;
};
Json encode(const KeyGrant& grant);

struct SignupFacts {
    std::string email;  // Empty: nobody took the account over, and it was let go.
    HumanId human_id;   // The owner.
    PlanName requested_plan = PlanName::trial;
    Json agent_metadata;  // Judged at the door.
    Timestamp at;
    std::string peer;  // Whose signups are counted together; empty: not counted by peer.
    PlanName plan = PlanName::trial;
    std::optional<Timestamp> trial_expires;  // Nothing: the plan is confirmed.
    bool is_active = true;
    std::optional<Timestamp> activated_at;
    ActivationMail mail;
};

struct OnboardingRow {
    std::optional<SignupFacts> signup;  // Nothing: the operator made this tenant.
    std::optional<KeyId> key_id;        // The key that regenerate_key replaces.
    std::optional<KeyGrant> key_grant;
    std::map<KeyId, std::vector<Symbol>> asset_lists;  // Keys without one may name any market.
};

// "onboarding/<tenant>": the machine that holds it.
inline constexpr std::string_view kOnboardingPrefix = "onboarding/";
std::string onboarding_machine(const TenantId& tenant_id);

Json encode(const OnboardingRow& row);
Result<OnboardingRow> decode_onboarding_row(const Json& json);

// {"asset_lists": [{"key_id", "assets"}]}, as people see them.
Json encode_asset_lists(const OnboardingRow& row);
Json asset_lists_schema();

}  // namespace interlock
