// Who can see a Discord channel: the platform's own rules for effective permissions, for the
// visibility floor of the delivery gate. Facts that are missing never add a permission.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace interlock {

inline constexpr std::uint64_t kDiscordAdministrator = std::uint64_t{1} << 3;
inline constexpr std::uint64_t kDiscordViewChannel = std::uint64_t{1} << 10;
inline constexpr std::uint64_t kDiscordManageThreads = std::uint64_t{1} << 34;
// Every permission that there is today; what owners and administrators hold.
inline constexpr std::uint64_t kDiscordAllPermissions = 8866461766385663;

struct DiscordRole {
    std::string id;
    std::uint64_t permissions = 0;
};

struct DiscordOverwrite {
    std::string id;
    bool is_member = false;  // Else it is a role's; the guild's own id is @everyone.
    std::uint64_t allow = 0;
    std::uint64_t deny = 0;
};

struct DiscordMember {
    std::string guild_id;
    std::string owner_id;
    std::string user_id;
    std::vector<std::string> role_ids;
    std::vector<DiscordRole> roles;            // Of the guild.
    std::vector<DiscordOverwrite> overwrites;  // Of the channel; for a thread, of its parent.
};

std::uint64_t effective_permissions(const DiscordMember& member);

struct DiscordThread {
    bool is_private = false;
    bool is_joined = false;  // The member is in the thread.
};
bool can_view_channel(
    const DiscordMember& member, const std::optional<DiscordThread>& thread = std::nullopt);

// Discord writes permissions as decimal text, beyond what a double holds.
std::optional<std::uint64_t> read_permissions(std::string_view text);

}  // namespace interlock
