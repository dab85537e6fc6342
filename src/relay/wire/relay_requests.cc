#include "relay/wire/relay_requests.h"

#include <algorithm>

#include "codec/json_list.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

std::vector<std::string> read_texts(WireReader& in, std::string_view key, std::size_t count_max) {
    std::vector<std::string> texts;
    const Json::Array* const items = in.array(key, count_max);
    if (items == nullptr) {
        return texts;
    }
    for (const Json& item : *items) {
        auto text = id_text(item);
        if (!text || text->empty() || text->size() > kRelayIdBytesMax) {
            in.add_problem(key, "must hold texts of bounded length");
            continue;
        }
        texts.push_back(*std::move(text));
    }
    return texts;
}

std::vector<std::string> as_set(std::vector<std::string> texts) {
    std::ranges::sort(texts);
    const auto rest = std::ranges::unique(texts);
    texts.erase(rest.begin(), rest.end());
    return texts;
}

}  // namespace

Result<RelevancePolicy> decode_relevance_policy(const Json& json) {
    WireReader in(json);
    RelevancePolicy policy{
        .platform = in.required_text("platform"),
        .require_address = in.flag("requireAddress"),
        .free_response_scopes =
            as_set(read_texts(in, "freeResponseScopes", kFreeResponseScopesMax)),
        .allow_other_bots = in.flag("allowOtherBots"),
    };
    return in.finish(std::move(policy));
}

Json encode(const RelevancePolicy& policy) {
    return Json::object({
        {"platform", policy.platform},
        {"requireAddress", policy.require_address},
        {"freeResponseScopes", json_list(policy.free_response_scopes)},
        {"allowOtherBots", policy.allow_other_bots},
    });
}

Result<PrincipalPolicy> decode_principal_policy(const Json& json) {
    WireReader in(json);
    PrincipalPolicy policy{
        .platform = in.text("platform"),
        .audience = PrincipalAudience::owner_only,
        .allow = as_set(read_texts(in, "allow", kAllowedUsersMax)),
    };
    const std::string word = in.required_text("policy");
    const auto found = std::ranges::find(kAudienceWords, word);
    if (found == kAudienceWords.end()) {
        in.add_problem("policy", "must be one of owner-only, allow-list, any");
    } else {
        policy.audience = static_cast<PrincipalAudience>(found - kAudienceWords.begin());
    }
    if (policy.audience == PrincipalAudience::allow_list && policy.allow.empty()) {
        in.add_problem("allow", "is required with allow-list");
    }
    if (policy.audience != PrincipalAudience::allow_list && !policy.allow.empty()) {
        in.add_problem("allow", "belongs to allow-list only");
    }
    return in.finish(std::move(policy));
}

Json encode(const PrincipalPolicy& policy) {
    Json json = Json::object();
    set_unless_empty(json, "platform", policy.platform);
    json.set("policy", kAudienceWords[static_cast<std::size_t>(policy.audience)]);
    if (policy.audience == PrincipalAudience::allow_list) {
        json.set("allow", json_list(policy.allow));
    }
    return json;
}

Result<LinkRequest> decode_link_request(const Json& json) {
    WireReader in(json);
    LinkRequest request{.platform = in.required_text("platform"), .bot_id = in.text("botId")};
    return in.finish(std::move(request));
}

Result<ScopeRequest> decode_scope_request(const Json& json) {
    WireReader in(json);
    ScopeRequest request{
        .platform = in.required_text("platform"),
        .guild_id = in.required_text("guildId"),
        .channel_id = in.required_text("channelId"),
    };
    return in.finish(std::move(request));
}

Result<DmDefaultRequest> decode_dm_default_request(const Json& json) {
    WireReader in(json);
    DmDefaultRequest request{
        .platform = in.required_text("platform"),
        .bot_id = in.text("botId"),
        .user_id = in.required_text("userId")};
    return in.finish(std::move(request));
}

Result<EnrollRequest> decode_enroll_request(const Json& json) {
    WireReader in(json);
    EnrollRequest request{
        .enrollment_token = in.required_text("enrollmentToken"),
        .gateway_id = in.required_text("gatewayId"),
    };
    return in.finish(std::move(request));
}

Result<ProvisionRequest> decode_provision_request(const Json& json) {
    WireReader in(json);
    ProvisionRequest request{
        .gateway_id = in.required_text("gatewayId"),
        .platform = in.text("platform"),
        .bot_id = in.text("botId"),
        .route_keys = as_set(read_texts(in, "routeKeys", kRouteKeysMax)),
        .instance_id = in.text("instanceId"),
        .wake_url = in.text("wakeUrl", kRelayUrlBytesMax),
        .display_name = in.text("displayName", kDisplayNameBytesMax),
    };
    return in.finish(std::move(request));
}

}  // namespace interlock
