#include "relay/rules/egress_guard.h"

#include <algorithm>
#include <array>

namespace interlock {
namespace {

// Gateways mark a person's message while they work on it and take the mark away again: a reaction
// that an instance put there is its own, as a message is that it sent.
bool changes_anothers(const RelayAction& action, const EgressFacts& facts) {
    if (facts.message_sender == facts.caller.instance_id) {
        return false;
    }
    const auto* const react = std::get_if<ReactAction>(&action);
    return std::holds_alternative<EditAction>(action) ||
           (react != nullptr && react->remove && !facts.is_own_reaction);
}

bool is_destination(const EgressChat& chat, const std::string& instance) {
    if (chat.is_dm) {
        return chat.dm_instance == instance;
    }
    return chat.scope_instance == instance ||
           std::ranges::find(chat.delivered_to, instance) != chat.delivered_to.end();
}

}  // namespace

std::string_view to_word(EgressVerdict verdict) {
    static constexpr std::array<std::string_view, 8> kWords = {
        "allowed",
        "no_identity",
        "unknown_chat",
        "other_platform",
        "other_tenant",
        "not_a_destination",
        "not_own_message",
        "not_a_chat_action"};
    return kWords[static_cast<std::size_t>(verdict)];
}

EgressVerdict judge_egress(const RelayAction& action, const EgressFacts& facts) {
    if (std::holds_alternative<FollowUpAction>(action) ||
        std::holds_alternative<UnknownAction>(action)) {
        return EgressVerdict::not_a_chat_action;
    }
    const EgressCaller& caller = facts.caller;
    if (!caller.has_identity || caller.instance_id.empty() || caller.tenant.empty()) {
        return EgressVerdict::no_identity;
    }
    if (!facts.chat) {
        return EgressVerdict::unknown_chat;
    }
    if (facts.chat->platform != caller.platform) {
        return EgressVerdict::other_platform;
    }
    if (facts.chat->routed_tenant != caller.tenant) {
        return EgressVerdict::other_tenant;
    }
    if (!is_destination(*facts.chat, caller.instance_id)) {
        return EgressVerdict::not_a_destination;
    }
    if (changes_anothers(action, facts)) {
        return EgressVerdict::not_own_message;
    }
    return EgressVerdict::allowed;
}

bool may_follow_up(
    const std::optional<CapabilityFacts>& capability, const EgressCaller& caller, Timestamp now) {
    return capability && !caller.tenant.empty() && capability->tenant == caller.tenant &&
           !caller.instance_id.empty() && capability->instance_id == caller.instance_id &&
           caller.has_identity && capability->platform == caller.platform &&
           now < capability->expires_at;
}

}  // namespace interlock
