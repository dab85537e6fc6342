// Which instances receive a message: every layer of docs/contracts/relay-connector.md#layers has to
// pass. The steps are kept, so that every decision can be explained. What is not known counts as no
// (I5).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/wire/ids.h"
#include "relay/wire/relay_requests.h"

namespace interlock {

struct GateEvent {
    TenantId tenant;  // From the route of the chat, or the author's binding in a direct message.
    std::string platform;
    bool is_dm = false;
    std::string channel_id;
    std::string parent_channel_id;  // Of a thread.
    std::string author_id;
    bool is_author_linked = false;  // To any instance of the tenant.
    bool is_author_bot = false;
    bool is_own_bot = false;     // Written by a bot of ours.
    bool addresses_bot = false;  // Mentions it or answers it.
};

struct GateInstance {
    std::string instance_id;
    TenantId tenant;
    bool is_author_owner = false;  // The author is bound to this instance.
    // In a direct message: this is the author's choice among the instances bound to him.
    bool is_dm_choice = false;
    bool holds_scope = false;   // It claimed this channel (or the parent of this thread).
    bool speaks_as_bot = true;  // As this one of the platform's bots, and not as others only.
    PrincipalPolicy principal;
    // VIEW_CHANNEL of the instance's bound owner; nothing when it could not be found out.
    std::optional<bool> owner_can_view;
    RelevancePolicy relevance;
};

enum class GateLayer { tenant, author, authorised, visible, relevant };
std::string_view to_word(GateLayer layer);

struct GateStep {
    GateLayer layer = GateLayer::tenant;
    bool passed = false;
    std::string_view code;    // Stable.
    std::string_view reason;  // One sentence.
};

// The sentence behind a step's code; empty for a code that no step has.
std::string_view gate_reason(std::string_view code);

struct GateDecision {
    std::string instance_id;
    bool delivers = false;
    std::vector<GateStep> steps;  // Up to the first that did not pass.
};

GateDecision judge_delivery(const GateEvent& event, const GateInstance& instance);

// The instance that gets a user's direct messages: his default if he is bound to it, else the one
// bound first. `bound` is in the order of binding; empty: none.
std::string dm_choice(const std::vector<std::string>& bound, std::string_view chosen);

}  // namespace interlock
