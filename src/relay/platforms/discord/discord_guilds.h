// What is known of a bot's guilds: roles, channels, threads, and of a few members what they hold.
// The gateway's events keep it, questions over REST complete it.
//
// Facts are good while the shard that keeps them is live, or for kDiscordFactsLife after they were
// fetched or the shard was lost. Older ones are no facts: whoever asks is told what to fetch (I5).
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "relay/ports/chat_platform.h"
#include "relay/rules/discord_permissions.h"
#include "relay/rules/platform_event.h"

namespace interlock {

inline constexpr std::size_t kDiscordGuildsMax = 5'000;
inline constexpr std::size_t kDiscordChannelsMax = 200'000;  // Threads included, of all guilds.
inline constexpr std::size_t kDiscordRolesMax = 300;         // Of a guild; Discord has 250.
inline constexpr std::size_t kDiscordOverwritesMax = 1'000;  // Of a channel.
inline constexpr std::size_t kDiscordMembersMax = 20'000;
inline constexpr Duration kDiscordFactsLife = Duration::of_seconds(60);

// What has to be fetched before a question can be answered.
enum class MissingFact { none, guild, channel, parent, member, thread_member };

struct ViewState {
    std::optional<bool> can_view;
    MissingFact missing = MissingFact::none;
    std::string parent_id;  // With `parent`: the channel that the thread hangs from.
};

class DiscordGuilds {
public:
    // An event of the gateway, in its order. Events that are not about guilds change nothing.
    void on_event(std::string_view type, const Json& data, Duration now);
    // A shard's session begins anew: its guilds will be told again.
    void forget_shard(int shard, int shard_count);
    void shard_lost(int shard, int shard_count, Duration now);
    void shard_resumed(int shard, int shard_count);

    // What was fetched.
    void put_guild(const Json& guild, Duration now);
    void put_channel(const Json& channel, Duration now);
    void put_no_channel(const std::string& guild_id, const std::string& channel_id, Duration now);
    // Without roles: not a member.
    void put_member(
        const std::string& guild_id,
        const std::string& user_id,
        std::optional<std::vector<std::string>> role_ids,
        Duration now);
    void put_thread_member(
        const std::string& thread_id, const std::string& user_id, bool is_in, Duration now);

    // Names and parents may be of any age.
    std::optional<DiscordChannel> channel(
        const std::string& guild_id, const std::string& channel_id) const;
    ViewState view(const ViewQuestion& question, Duration now) const;

    struct Sizes {
        std::size_t guilds = 0;
        std::size_t channels = 0;
        std::size_t members = 0;
    };
    Sizes sizes() const;

private:
    struct Channel {
        std::int64_t type = 0;
        std::string name;
        std::string topic;
        std::string parent_id;
        std::vector<DiscordOverwrite> overwrites;
        bool is_absent = false;    // There is no such channel in this guild.
        bool is_followed = false;  // The gateway tells of changes.
        Duration known_at;
    };
    struct Guild {
        bool has_roles = false;
        bool is_followed = false;
        bool is_lost = false;  // It was followed until `known_at`, and will be after a resume.
        Duration known_at;
        std::string owner_id;
        std::map<std::string, DiscordRole> roles;
        std::map<std::string, Channel> channels;
    };
    struct Member {
        std::optional<std::vector<std::string>> role_ids;
        Duration known_at;
    };

    void on_guild(const Json& data, bool is_whole, Duration now);
    void on_guild_gone(const Json& data);
    void on_role(const Json& data, bool is_gone);
    void on_channel(const Json& data, bool is_gone, Duration now);
    void on_thread_list(const Json& data, Duration now);
    void on_member(const Json& data, bool is_gone, Duration now);
    void on_thread_members(const Json& data);
    void on_message(const Json& data, Duration now);
    void read_guild(Guild& guild, const Json& data, Duration now);
    void store_channel(Guild& guild, const Json& data, bool is_followed, Duration now);
    Guild* guild_of(const Json& data);
    Guild& make_guild(const std::string& id);
    void store_member(const std::string& key, Member member);
    bool is_fresh(const Guild& guild, Duration now) const;
    bool is_fresh(const Guild& guild, const Channel& channel, Duration now) const;

    mutable std::mutex mutex_;
    std::map<std::string, Guild> guilds_;
    std::size_t channel_count_ = 0;
    std::map<std::string, Member> members_;         // "guild/user"
    std::map<std::string, Member> thread_members_;  // "thread/user"; roles: it is in the thread.
};

}  // namespace interlock
