// Who and what there is in the relay's world: tenants that share three bots, two of them of one
// platform, their instances, the people who write, and the chats they write in. This is the truth
// that the checkers go by.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/wire/ids.h"
#include "relay/ports/chat_platform.h"
#include "sim/seeded.h"

namespace interlock::sim {

// What clients of three ages do with mail (docs/contracts/relay-connector.md#9-delivery).
enum class GatewayKind {
    june,    // No replay window, one hello, no ack for a forward.
    august,  // Forgets repeated message ids, two hellos, no ack for a forward.
    newest,  // The same, and acknowledges forwards.
};

struct RelayMember {
    std::string instance_id;
    TenantId tenant_id;
    GatewayKind kind = GatewayKind::june;
};

struct RelayChat {
    BotKey bot;
    std::string chat_id;
    std::string guild;          // Discord's; empty elsewhere.
    std::string parent;         // Of a thread.
    std::string discriminator;  // What it is routed by; empty for a direct message.
    std::string dm_user;        // Not empty: a direct message.

    bool is_dm() const { return !dm_user.empty(); }
};

// Something that somebody wrote.
struct RelayMail {
    std::string event_key;
    std::string event_id;
    std::size_t chat = 0;  // In the cast.
    std::string user;
    std::string text;
    bool is_author_bot = false;
    bool is_own_bot = false;
    bool addresses_bot = false;
    bool is_forward = false;
    bool has_file = false;   // Which only the bot can fetch.
    bool is_poison = false;  // Its reader fails each time.
    Timestamp at;
    // How it stands between the platform and us.
    bool is_told = false;       // The platform knows that we have it.
    bool is_forgotten = false;  // The platform has given up.
    int under_way = 0;          // Submissions without an answer.
};

struct RelayCast {
    std::vector<TenantId> tenants;
    std::vector<RelayMember> members;
    std::vector<BotKey> bots;
    std::vector<std::string> users;  // The last one is a stranger's bot.
    std::vector<RelayChat> chats;
    // An instance whose gateway stays away until the end; empty: none does. Its owner is the first
    // user.
    std::string away;

    const RelayMember& member(const std::string& instance_id) const;
    const RelayChat* chat(const BotKey& bot, const std::string& chat_id) const;
};

inline constexpr std::string_view kRelayOwnBotUser = "own-bot";

RelayCast make_relay_cast(std::uint64_t seed);

}  // namespace interlock::sim
