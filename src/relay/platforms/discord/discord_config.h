// What one Discord bot needs to run: its credentials, where its platform is, and what it hears.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret_string.h"

namespace interlock {

// Kinds of events that the gateway sends only when they were asked for. Members and the content of
// messages are privileged: the bot's owner has to switch them on at Discord as well.
namespace discord_intents {
inline constexpr std::uint64_t guilds = std::uint64_t{1} << 0;
inline constexpr std::uint64_t guild_members = std::uint64_t{1} << 1;
inline constexpr std::uint64_t guild_messages = std::uint64_t{1} << 9;
inline constexpr std::uint64_t direct_messages = std::uint64_t{1} << 12;
inline constexpr std::uint64_t message_content = std::uint64_t{1} << 15;
// Without guild_members a role that was taken away is noticed when the member is asked for again
// (kDiscordFactsLife) and not at once.
inline constexpr std::uint64_t usual = guilds | guild_messages | direct_messages | message_content;
}  // namespace discord_intents

inline constexpr std::string_view kDiscordApiBase = "https://discord.com/api/v10";
inline constexpr int kDiscordShardsMax = 64;

struct DiscordConfig {
    std::string bot_id;  // The bot's user id.
    SecretString token;
    std::string public_key;      // Of the interactions webhook, 64 hex digits; empty: none.
    std::string application_id;  // Empty: the bot id, which it equals for all but very old bots.
    std::string api_base = std::string(kDiscordApiBase);
    std::string gateway_url;  // Empty: as the API tells.
    std::string public_url;   // Where we are found, for Discord; empty: the bot's own page there.
    std::uint64_t intents = discord_intents::usual;
    int shards = 0;  // 0: as many as the API recommends.

    const std::string& application() const {
        return application_id.empty() ? bot_id : application_id;
    }
};

// `invalid_config` with the key that is wrong.
Result<void> check_discord_config(const DiscordConfig& config);

// An id as Discord gives them: one to twenty digits. Ids stand in paths, so nothing else goes
// there.
bool is_snowflake(std::string_view text);
// The shard that gets a guild's events.
int shard_of_guild(std::string_view guild_id, int shard_count);

}  // namespace interlock
