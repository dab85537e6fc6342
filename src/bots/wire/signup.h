// Signing up for a bot and what an owner may ask of the account afterwards.
// docs/contracts/onboarding.md is the table of these fields.
//
// Access keys are SecretStrings here and are written into an answer once, by the encode() of the
// answer that shows them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/secret_string.h"
#include "base/time.h"
#include "engine/wire/ids.h"
#include "market/wire/symbol.h"

namespace interlock {

namespace errors {
// Says that an address is known, on purpose: whoever signs up for the second time has to learn why
// nothing comes. How often it can be asked is bounded like every signup.
inline constexpr ErrorKind email_in_use{
    "email_in_use",
    409,
    false,
    "Log in with this address; while it has no password yet, POST /account/activation-letter sends "
    "its letter again; or use another address."};
inline constexpr ErrorKind signup_closed{
    "signup_closed", 403, false, "Ask the operator of this host to sign you up."};
inline constexpr ErrorKind plan_inactive{
    "plan_inactive",
    403,
    false,
    "Ask the account owner to have the operator of this host confirm a plan (set_plan)."};
inline constexpr ErrorKind no_signup{
    "no_signup",
    409,
    false,
    "This tenant was made by the operator: it has no plan and no activation letter."};
inline constexpr ErrorKind already_activated{
    "already_activated", 409, false, "The owner has a password: log in with it."};
inline constexpr ErrorKind grant_required{
    "grant_required",
    403,
    false,
    "Ask the account owner to grant it (grant_key_provisioning), then send the same call again; "
    "exchange \"paper\" needs no grant."};
}  // namespace errors

// Of kTenantsMax so many are kept for the operator: strangers who sign up cannot fill the host.
inline constexpr std::int64_t kTenantsForOperator = 500;
inline constexpr std::size_t kAgentMetadataBytesMax = 4096;  // As compact JSON.
inline constexpr std::size_t kAgentMetadataDepthMax = 8;
inline constexpr std::size_t kAssetListMax = 64;
inline constexpr std::int64_t kGrantHoursDefault = 24;
inline constexpr std::int64_t kGrantHoursMax = 168;

enum class PlanName { trial, standard, pro };
inline constexpr std::array<PlanName, 3> kPlanNames = {
    PlanName::trial, PlanName::standard, PlanName::pro};
inline constexpr std::array<std::string_view, 3> kPlanWords = {"trial", "standard", "pro"};
std::string_view to_word(PlanName plan);
std::optional<PlanName> find_plan_name(std::string_view word);

struct SignupRequest {
    std::string email;  // Lower case, and one that a letter can be sent to.
    PlanName plan = PlanName::trial;
    Json agent_metadata;  // An object or null; judged at the door.
};
Result<SignupRequest> decode_signup(const Json& json);
Json signup_schema();

struct NewAccount {
    TenantId tenant_id;
    SecretString access_key;
    KeyId key_id;
    PlanName plan = PlanName::trial;
    Timestamp trial_expires;
    std::string audit_ref;
};
// Holds the access key: for the one reply, never for a store.
Json encode(const NewAccount& account);
Json new_account_schema();

struct RegeneratedKey {
    SecretString access_key;
    KeyId key_id;
    std::optional<KeyId> replaced_key_id;  // Nothing: there was none to replace.
    std::string audit_ref;
};
// Likewise.
Json encode(const RegeneratedKey& key);
Json regenerated_key_schema();

struct SetPlan {
    std::optional<PlanName> plan;  // Nothing: the plan ends at once.
};
Result<SetPlan> decode_set_plan(const Json& json);
Json set_plan_schema();

struct GrantKeys {
    std::optional<std::string> exchange;  // Nothing: whichever comes first.
    Duration life = Duration::of_hours(kGrantHoursDefault);
};
Result<GrantKeys> decode_grant_keys(const Json& json);
Json grant_keys_schema();

struct SetAssetList {
    KeyId key_id;
    // Nothing: the key may name any market. Sorted, each once; empty: it may name none.
    std::optional<std::vector<Symbol>> assets;
};
Result<SetAssetList> decode_set_asset_list(const Json& json);
Json set_asset_list_schema();

}  // namespace interlock
