#include "core/relay/delivery_gate.h"

#include <algorithm>
#include <array>

namespace interlock {
namespace {

GateStep pass(GateLayer layer, std::string_view code, std::string_view reason) {
    return {layer, true, code, reason};
}

GateStep stop(GateLayer layer, std::string_view code, std::string_view reason) {
    return {layer, false, code, reason};
}

GateStep judge_tenant(const GateEvent& event, const GateInstance& instance) {
    if (event.tenant.empty() || event.tenant != instance.tenant) {
        return stop(
            GateLayer::tenant, "other_tenant", "The chat is routed to another tenant, or to none.");
    }
    return pass(GateLayer::tenant, "same_tenant", "The chat is routed to the instance's tenant.");
}

GateStep judge_author(const GateEvent& event, const GateInstance&) {
    if (event.is_own_bot) {
        return stop(GateLayer::author, "own_bot", "One of our own bots wrote it.");
    }
    if (event.author_id.empty() || !event.is_author_linked) {
        return stop(
            GateLayer::author, "unbound_author", "The author is linked to no instance here.");
    }
    return pass(GateLayer::author, "linked_author", "The author is linked.");
}

bool admits(const PrincipalPolicy& policy, const GateEvent& event) {
    if (!policy.platform.empty() && policy.platform != event.platform) {
        return false;
    }
    return policy.audience == PrincipalAudience::any ||
           (policy.audience == PrincipalAudience::allow_list &&
            std::ranges::binary_search(policy.allow, event.author_id));
}

GateStep judge_authorised(const GateEvent& event, const GateInstance& instance) {
    constexpr GateLayer kLayer = GateLayer::authorised;
    if (event.is_dm) {
        if (!instance.is_author_owner) {
            return stop(kLayer, "not_the_owner", "A direct message is for the author's instance.");
        }
        return instance.is_dm_choice
                   ? pass(kLayer, "owner", "The author owns this instance.")
                   : stop(kLayer, "other_dm_default", "The author's messages go to another one.");
    }
    if (instance.is_author_owner) {
        return pass(kLayer, "owner", "The author owns this instance.");
    }
    if (!instance.holds_scope) {
        return stop(kLayer, "no_scope", "The instance has not claimed this channel.");
    }
    return admits(instance.principal, event)
               ? pass(kLayer, "scope", "It claimed the channel and its policy admits the author.")
               : stop(kLayer, "principal_refused", "Its principal policy refuses the author.");
}

GateStep judge_visible(const GateEvent& event, const GateInstance& instance) {
    constexpr GateLayer kLayer = GateLayer::visible;
    if (event.platform != "discord" || event.is_dm) {
        return pass(kLayer, "no_floor", "The visibility floor is for Discord's guild channels.");
    }
    if (!instance.owner_can_view) {
        return stop(kLayer, "view_unknown", "Whether its owner sees the channel is not known.");
    }
    return *instance.owner_can_view
               ? pass(kLayer, "owner_sees", "The instance's owner sees the channel.")
               : stop(kLayer, "owner_blind", "The instance's owner cannot see the channel.");
}

GateStep judge_relevant(const GateEvent& event, const GateInstance& instance) {
    constexpr GateLayer kLayer = GateLayer::relevant;
    const RelevancePolicy& policy = instance.relevance;
    if (instance.is_author_owner) {
        return pass(kLayer, "owner_bypass", "One's own messages are always relevant.");
    }
    if (event.is_author_bot && !policy.allow_other_bots) {
        return stop(kLayer, "other_bot", "A bot wrote it and the policy does not admit bots.");
    }
    if (!policy.require_address || event.addresses_bot) {
        return pass(kLayer, "addressed", "It speaks to the bot, or need not.");
    }
    const auto is_free = [&policy](const std::string& channel) {
        return !channel.empty() && std::ranges::binary_search(policy.free_response_scopes, channel);
    };
    if (is_free(event.channel_id) || is_free(event.parent_channel_id)) {
        return pass(kLayer, "free_response", "In this channel it need not speak to the bot.");
    }
    return stop(kLayer, "not_addressed", "It does not speak to the bot.");
}

}  // namespace

std::string_view to_word(GateLayer layer) {
    static constexpr std::array<std::string_view, 5> kWords = {
        "tenant", "author", "authorised", "visible", "relevant"};
    return kWords[static_cast<std::size_t>(layer)];
}

GateDecision judge_delivery(const GateEvent& event, const GateInstance& instance) {
    GateDecision decision{.instance_id = instance.instance_id, .delivers = true, .steps = {}};
    for (const auto judge :
         {judge_tenant, judge_author, judge_authorised, judge_visible, judge_relevant}) {
        decision.steps.push_back(judge(event, instance));
        if (!decision.steps.back().passed) {
            decision.delivers = false;
            break;
        }
    }
    return decision;
}

std::string dm_choice(const std::vector<std::string>& bound, std::string_view chosen) {
    if (std::ranges::find(bound, chosen) != bound.end()) {
        return std::string(chosen);
    }
    return bound.empty() ? std::string() : bound.front();
}

}  // namespace interlock
