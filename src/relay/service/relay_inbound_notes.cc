// What the relay remembers of an event that somebody gets: its chat, its session, its capability.
#include <algorithm>

#include "base/log.h"
#include "relay/rules/session_key.h"
#include "relay/service/relay_inbound.h"

namespace interlock {
namespace {

// How long Discord takes an answer to an interaction.
constexpr Duration kCapabilityLife = Duration::of_minutes(15);

}  // namespace

void RelayInbound::keep_capability(
    RelayTurn& turn,
    const PlatformArrival& arrival,
    const TenantId& tenant_id,
    const std::string& instance_id) {
    if (arrival.event.capability_kind.empty() || arrival.event.capability.empty()) {
        return;
    }
    const auto kept = parts_.bind_capability(
        turn,
        {.tenant_id = tenant_id,
         .instance_id = instance_id,
         .bot = arrival.bot,
         .session_keys = interaction_keys(arrival.event.event.source),
         .kind = arrival.event.capability_kind,
         .chat_id = arrival.event.event.source.chat_id,
         .value = arrival.event.capability.clone(),
         .expires_at = turn.now() + kCapabilityLife});
    if (!kept) {
        log_error("relay_capability_lost", {{"message", kept.error().message}});
    }
}

void RelayInbound::note_session(
    RelayTurn& turn,
    const PlatformArrival& arrival,
    const TenantId& tenant_id,
    const std::string& instance_id) {
    const SessionSource& source = arrival.event.event.source;
    std::vector<std::string> keys{build_session_key(source)};
    if (std::string june =
            build_session_key(source, {.profile = {}, .revision = ClientRevision::june});
        june != keys[0]) {
        keys.push_back(std::move(june));
    }
    for (const std::string& session_key : keys) {
        const std::string key = row_key({tenant_id.text(), session_key});
        const auto held = parts_.state.sessions.find(key, turn.now());
        if (held && *held != nullptr && (*held)->instance_id == instance_id) {
            continue;
        }
        parts_.state.sessions.put(
            turn, key, {instance_id, source.chat_id}, turn.now() + kSessionRowLife);
    }
}

void RelayInbound::note_chat(
    RelayTurn& turn,
    const PlatformArrival& arrival,
    const TenantId& tenant_id,
    const std::vector<std::string>& instances) {
    const SessionSource& source = arrival.event.event.source;
    const std::string key = chat_key_of(arrival);
    const auto held = parts_.state.chats.find(key, turn.now());
    const bool is_known_chat = held && *held != nullptr;
    ChatRow row = is_known_chat ? **held : ChatRow{};
    // A chat that changed hands starts anew: who was reached under another tenant counts no more.
    if (row.tenant_id != tenant_id) {
        row.delivered_to.clear();
    }
    row.platform = arrival.bot.platform;
    row.bot_id = arrival.bot.bot_id;
    row.chat_id = source.chat_id;
    row.tenant_id = tenant_id;
    row.guild_id = source.scope_id;
    row.parent_chat_id = source.parent_chat_id;
    row.is_dm = arrival.event.is_dm;
    row.dm_user = arrival.event.is_dm ? source.user_id : std::string();
    row.name = source.chat_name;
    row.chat_type = source.chat_type;
    for (const std::string& instance_id : instances) {
        if (std::ranges::find(row.delivered_to, instance_id) == row.delivered_to.end()) {
            row.delivered_to.push_back(instance_id);
        }
    }
    if (row.delivered_to.size() > kChatDeliveredToMax) {
        row.delivered_to.erase(row.delivered_to.begin());
    }
    if (!is_known_chat || row != **held) {
        parts_.state.chats.put(turn, key, std::move(row));
    }
}

}  // namespace interlock
