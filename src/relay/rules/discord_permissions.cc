#include "relay/rules/discord_permissions.h"

#include <algorithm>
#include <charconv>

namespace interlock {
namespace {

bool holds(const DiscordMember& member, const std::string& role_id) {
    return role_id == member.guild_id ||
           std::ranges::find(member.role_ids, role_id) != member.role_ids.end();
}

std::uint64_t with(std::uint64_t permissions, const DiscordOverwrite& overwrite) {
    return (permissions & ~overwrite.deny) | overwrite.allow;
}

}  // namespace

std::uint64_t effective_permissions(const DiscordMember& member) {
    if (!member.user_id.empty() && member.user_id == member.owner_id) {
        return kDiscordAllPermissions;
    }
    std::uint64_t permissions = 0;
    for (const DiscordRole& role : member.roles) {
        if (holds(member, role.id)) {
            permissions |= role.permissions;
        }
    }
    if ((permissions & kDiscordAdministrator) != 0) {
        return kDiscordAllPermissions;
    }
    DiscordOverwrite of_roles;
    DiscordOverwrite of_member;
    for (const DiscordOverwrite& overwrite : member.overwrites) {
        if (overwrite.is_member) {
            if (overwrite.id == member.user_id) {
                of_member = overwrite;
            }
        } else if (overwrite.id == member.guild_id) {
            permissions = with(permissions, overwrite);
        } else if (holds(member, overwrite.id)) {
            of_roles.allow |= overwrite.allow;
            of_roles.deny |= overwrite.deny;
        }
    }
    return with(with(permissions, of_roles), of_member);
}

bool can_view_channel(const DiscordMember& member, const std::optional<DiscordThread>& thread) {
    const std::uint64_t permissions = effective_permissions(member);
    if ((permissions & kDiscordViewChannel) == 0) {
        return false;
    }
    return !thread || !thread->is_private || thread->is_joined ||
           (permissions & kDiscordManageThreads) != 0;
}

std::optional<std::uint64_t> read_permissions(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

}  // namespace interlock
