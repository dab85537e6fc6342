#include "trader/rules/replay/replay_inputs.h"

#include "base/canonical_json.h"
#include "base/crypto.h"

namespace interlock {
namespace {

constexpr std::string_view kRefPrefix = "sha256:";

// "policy 1" of "loop.v1".
std::string policy_name(const Json* policy) {
    constexpr std::string_view kPrefix = "loop.v";
    const std::string word =
        policy != nullptr && policy->is_string() ? policy->as_string() : std::string();
    return "policy " + (word.starts_with(kPrefix) ? word.substr(kPrefix.size()) : "'" + word + "'");
}

// Bytes that have their hash and still cannot be read come from another version.
template <class T>
Result<T> readable(Result<T> decoded, std::string_view what) {
    if (!decoded) {
        return fail(
            errors::not_replayable,
            "The " + std::string(what) + " cannot be read: " + decoded.error().message);
    }
    return decoded;
}

}  // namespace

Result<std::string> ReplayInputs::text_of(const std::string& ref) {
    if (!ref.starts_with(kRefPrefix)) {
        return fail(errors::not_replayable, "An input has no hash.");
    }
    const std::string hash = ref.substr(kRefPrefix.size());
    TRY_ASSIGN(std::optional<std::string> bytes, read_(hash));
    if (!bytes) {
        return fail(errors::not_replayable, "The artifact " + ref + " is missing.");
    }
    if (sha256_hex(*bytes) != hash) {
        return fail(errors::replay_differs, "The bytes of " + ref + " do not have that hash.");
    }
    return *std::move(bytes);
}

Result<Json> ReplayInputs::json_of(const std::string& ref) {
    TRY_ASSIGN(const std::string text, text_of(ref));
    return readable(parse_json(text), "artifact " + ref);
}

Result<Plan> ReplayInputs::plan_of(const std::string& ref) {
    TRY_ASSIGN(const Json json, json_of(ref));
    return readable(decode_stored_plan(json), "plan");
}

Result<ReplayInputs::Facts> ReplayInputs::facts_of(
    const std::string& state_ref, const std::string& market_ref) {
    Facts facts;
    TRY_ASSIGN(const Json state, json_of(state_ref));
    TRY_ASSIGN(facts.state, readable(decode_state_facts(state), "state"));
    TRY_ASSIGN(const Json market, json_of(market_ref));
    TRY_ASSIGN(facts.market, readable(decode_market_set(market), "market"));
    return facts;
}

Result<void> ReplayInputs::require_policy(const std::string& config_ref) {
    if (checked_configs_.contains(config_ref)) {
        return {};
    }
    TRY_ASSIGN(const Json config, json_of(config_ref));
    const Json* policy = config.find("policy");
    const Json own(kReplayPolicy);
    if (policy == nullptr || *policy != own) {
        return fail(
            errors::other_policy,
            "The decision was made by " + policy_name(policy) + "; this program replays " +
                policy_name(&own) + ".");
    }
    if (checked_configs_.size() < kCheckedConfigsMax) {
        checked_configs_.insert(config_ref);
    }
    return {};
}

}  // namespace interlock
