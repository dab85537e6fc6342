// Whether an instance may act on a chat (docs/contracts/relay-connector.md#8-the-egress-guard). The
// facts come from our own records of that chat and message, never from the frame that asks; a chat
// that we have no record of is declined (I5).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "engine/wire/ids.h"
#include "relay/wire/relay_action.h"

namespace interlock {

struct EgressCaller {
    TenantId tenant;
    std::string instance_id;
    std::string platform;
    bool has_identity = false;  // It said hello as this platform and bot on this socket.
};

struct EgressChat {
    std::string platform;
    TenantId routed_tenant;  // Empty: routed to nobody.
    bool is_dm = false;
    std::string dm_instance;                // Whose direct message it is.
    std::string scope_instance;             // Who claimed the channel.
    std::vector<std::string> delivered_to;  // Instances that got a message of it.
};

struct EgressFacts {
    EgressCaller caller;
    std::optional<EgressChat> chat;
    std::string message_sender;  // For edits: the instance that sent the message; empty: not ours.
    // For a reaction that is taken away: whether this instance put it there itself.
    bool is_own_reaction = false;
};

enum class EgressVerdict {
    allowed,
    no_identity,
    unknown_chat,
    other_platform,
    other_tenant,
    not_a_destination,
    not_own_message,
    not_a_chat_action,
};
std::string_view to_word(EgressVerdict verdict);

// Every verdict but `allowed` is answered with egress_declined(), so that a caller learns nothing
// of other people's chats; the word is for our own log. follow_up names no chat: see
// judge_follow_up().
EgressVerdict judge_egress(const RelayAction& action, const EgressFacts& facts);

// A shared credential kept back for a session (relay-connector.md#capabilities).
struct CapabilityFacts {
    TenantId tenant;
    std::string instance_id;
    std::string platform;
    Timestamp expires_at;
};
// Absent, expired, another tenant's and another instance's are all the same no.
bool may_follow_up(
    const std::optional<CapabilityFacts>& capability, const EgressCaller& caller, Timestamp now);

}  // namespace interlock
