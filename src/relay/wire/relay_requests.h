// The bodies of the relay's HTTP routes (docs/contracts/relay-management.md#2-routes): the
// relevance policy, the management plane and enrolment. Unknown keys are ignored. None of them
// names a tenant or an instance that counts: both come from the stored record of the credential.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace interlock {

inline constexpr std::size_t kFreeResponseScopesMax = 1000;
inline constexpr std::size_t kAllowedUsersMax = 1000;
inline constexpr std::size_t kRouteKeysMax = 256;
inline constexpr std::size_t kDisplayNameBytesMax = 256;

// POST /relay/policy: a full replace. The defaults are what an absent row means.
struct RelevancePolicy {
    std::string platform;
    bool require_address = false;
    std::vector<std::string> free_response_scopes;  // Sorted, each once.
    bool allow_other_bots = false;

    friend bool operator==(const RelevancePolicy&, const RelevancePolicy&) = default;
};
Result<RelevancePolicy> decode_relevance_policy(const Json& json);
Json encode(const RelevancePolicy& policy);

enum class PrincipalAudience { owner_only, allow_list, any };
inline constexpr std::array<std::string_view, 3> kAudienceWords = {
    "owner-only", "allow-list", "any"};

// POST /manage/principal
struct PrincipalPolicy {
    std::string platform;  // Empty: every platform.
    PrincipalAudience audience = PrincipalAudience::owner_only;
    std::vector<std::string> allow;  // Sorted, each once; only with allow_list.

    friend bool operator==(const PrincipalPolicy&, const PrincipalPolicy&) = default;
};
Result<PrincipalPolicy> decode_principal_policy(const Json& json);
Json encode(const PrincipalPolicy& policy);

// POST /manage/link
struct LinkRequest {
    std::string platform;
    std::string bot_id;  // Empty: any bot that the instance speaks as.
};
Result<LinkRequest> decode_link_request(const Json& json);

// POST /manage/scope and /manage/scope/release
struct ScopeRequest {
    std::string platform;
    std::string guild_id;
    std::string channel_id;
};
Result<ScopeRequest> decode_scope_request(const Json& json);

// POST /manage/dm-default
struct DmDefaultRequest {
    std::string platform;
    std::string bot_id;  // Empty: wherever the user is linked to the instance.
    std::string user_id;
};
Result<DmDefaultRequest> decode_dm_default_request(const Json& json);

// POST /relay/enroll
struct EnrollRequest {
    std::string enrollment_token;
    std::string gateway_id;
};
Result<EnrollRequest> decode_enroll_request(const Json& json);

// POST /relay/provision
struct ProvisionRequest {
    std::string gateway_id;
    std::string platform;
    std::string bot_id;
    std::vector<std::string> route_keys;
    std::string instance_id;  // Empty: the gateway's.
    std::string wake_url;
    std::string display_name;
};
Result<ProvisionRequest> decode_provision_request(const Json& json);

}  // namespace interlock
