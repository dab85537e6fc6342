#include "relay/rules/delivery_gate.h"

#include <algorithm>
#include <array>

namespace interlock {
namespace {

struct Sentence {
    std::string_view code;
    std::string_view reason;
};
// Decisions are stored by their codes; these are for people.
constexpr std::array<Sentence, 21> kSentences = {{
    {"other_tenant", "The chat is routed to another tenant, or to none."},
    {"same_tenant", "The chat is routed to the instance's tenant."},
    {"own_bot", "One of our own bots wrote it."},
    {"unbound_author", "The author is linked to no instance here."},
    {"linked_author", "The author is linked."},
    {"not_the_owner", "A direct message is for the author's instance."},
    {"owner", "The author owns this instance."},
    {"other_dm_default", "The author's messages go to another one."},
    {"no_scope", "The instance has not claimed this channel."},
    {"other_bot_only", "The instance speaks as other bots of this platform."},
    {"scope", "It claimed the channel and its policy admits the author."},
    {"principal_refused", "Its principal policy refuses the author."},
    {"no_floor", "The visibility floor is for Discord's guild channels."},
    {"view_unknown", "Whether its owner sees the channel is not known."},
    {"owner_sees", "The instance's owner sees the channel."},
    {"owner_blind", "The instance's owner cannot see the channel."},
    {"owner_bypass", "One's own messages are always relevant."},
    {"other_bot", "A bot wrote it and the policy does not admit bots."},
    {"addressed", "It speaks to the bot, or need not."},
    {"free_response", "In this channel it need not speak to the bot."},
    {"not_addressed", "It does not speak to the bot."},
}};

GateStep pass(GateLayer layer, std::string_view code) {
    return {layer, true, code, gate_reason(code)};
}

GateStep stop(GateLayer layer, std::string_view code) {
    return {layer, false, code, gate_reason(code)};
}

GateStep judge_tenant(const GateEvent& event, const GateInstance& instance) {
    if (event.tenant.empty() || event.tenant != instance.tenant) {
        return stop(GateLayer::tenant, "other_tenant");
    }
    return pass(GateLayer::tenant, "same_tenant");
}

GateStep judge_author(const GateEvent& event, const GateInstance&) {
    if (event.is_own_bot) {
        return stop(GateLayer::author, "own_bot");
    }
    if (event.author_id.empty() || !event.is_author_linked) {
        return stop(GateLayer::author, "unbound_author");
    }
    return pass(GateLayer::author, "linked_author");
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
            return stop(kLayer, "not_the_owner");
        }
        return instance.is_dm_choice ? pass(kLayer, "owner") : stop(kLayer, "other_dm_default");
    }
    if (instance.is_author_owner) {
        return pass(kLayer, "owner");
    }
    if (!instance.holds_scope) {
        return stop(kLayer, "no_scope");
    }
    if (!instance.speaks_as_bot) {
        return stop(kLayer, "other_bot_only");
    }
    return admits(instance.principal, event) ? pass(kLayer, "scope")
                                             : stop(kLayer, "principal_refused");
}

GateStep judge_visible(const GateEvent& event, const GateInstance& instance) {
    constexpr GateLayer kLayer = GateLayer::visible;
    if (event.platform != "discord" || event.is_dm) {
        return pass(kLayer, "no_floor");
    }
    if (!instance.owner_can_view) {
        return stop(kLayer, "view_unknown");
    }
    return *instance.owner_can_view ? pass(kLayer, "owner_sees") : stop(kLayer, "owner_blind");
}

GateStep judge_relevant(const GateEvent& event, const GateInstance& instance) {
    constexpr GateLayer kLayer = GateLayer::relevant;
    const RelevancePolicy& policy = instance.relevance;
    if (instance.is_author_owner) {
        return pass(kLayer, "owner_bypass");
    }
    if (event.is_author_bot && !policy.allow_other_bots) {
        return stop(kLayer, "other_bot");
    }
    if (!policy.require_address || event.addresses_bot) {
        return pass(kLayer, "addressed");
    }
    const auto is_free = [&policy](const std::string& channel) {
        return !channel.empty() && std::ranges::binary_search(policy.free_response_scopes, channel);
    };
    if (is_free(event.channel_id) || is_free(event.parent_channel_id)) {
        return pass(kLayer, "free_response");
    }
    return stop(kLayer, "not_addressed");
}

}  // namespace

std::string_view gate_reason(std::string_view code) {
    const auto* const found = std::ranges::find(kSentences, code, &Sentence::code);
    return found == kSentences.end() ? std::string_view() : found->reason;
}

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
