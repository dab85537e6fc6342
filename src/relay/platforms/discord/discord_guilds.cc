#include "relay/platforms/discord/discord_guilds.h"

#include <algorithm>

#include "relay/platforms/discord/discord_config.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

constexpr std::int64_t kPrivateThread = 12;
constexpr std::int64_t kMemberOverwrite = 1;
constexpr std::size_t kListMax = 10'000;

bool is_thread(std::int64_t type) {
    return type >= 10 && type <= 12;
}

bool is_recent(Duration known_at, Duration now) {
    return now.microseconds - known_at.microseconds < kDiscordFactsLife.microseconds;
}

std::string text_of(const Json& object, std::string_view key) {
    const Json* const found = object.find(key);
    return found != nullptr ? id_text(*found).value_or("") : "";
}

bool flag_of(const Json& object, std::string_view key) {
    const Json* const found = object.find(key);
    return found != nullptr && found->is_bool() && found->as_bool();
}

const Json::Array& list_of(const Json& object, std::string_view key) {
    static const Json::Array kNone;
    const Json* const found = object.find(key);
    return found != nullptr && found->is_array() && found->items().size() <= kListMax
               ? found->items()
               : kNone;
}

std::uint64_t permissions_of(const Json& object, std::string_view key, std::uint64_t unreadable) {
    return read_permissions(text_of(object, key)).value_or(unreadable);
}

// Nothing when one is missing or malformed, because it could be the one that forbids. A bit field
// that cannot be read allows nothing and forbids everything.
std::optional<std::vector<DiscordOverwrite>> read_overwrites(const Json& channel) {
    const Json* const list = channel.find("permission_overwrites");
    if (list == nullptr || !list->is_array() || list->items().size() > kDiscordOverwritesMax) {
        return std::nullopt;
    }
    std::vector<DiscordOverwrite> overwrites;
    for (const Json& item : list->items()) {
        const Json* const type = item.find("type");
        overwrites.push_back(
            {.id = text_of(item, "id"),
             .is_member = type != nullptr && id_text(*type) == std::to_string(kMemberOverwrite),
             .allow = permissions_of(item, "allow", 0),
             .deny = permissions_of(item, "deny", kDiscordAllPermissions)});
    }
    return overwrites;
}

std::vector<std::string> read_role_ids(const Json& member) {
    std::vector<std::string> ids;
    for (const Json& id : list_of(member, "roles")) {
        if (id.is_string() && ids.size() < kDiscordRolesMax) {
            ids.push_back(id.as_string());
        }
    }
    return ids;
}

std::string pair_key(const std::string& first, const std::string& second) {
    return first + "/" + second;
}

// Makes room: facts that have grown too old go, and if that is not enough every second one does.
// All of them can be fetched again.
template <class Map>
void make_room(Map& map, std::size_t most, Duration now) {
    if (map.size() < most) {
        return;
    }
    std::erase_if(map, [now](const auto& item) { return !is_recent(item.second.known_at, now); });
    if (map.size() < most) {
        return;
    }
    bool goes = false;
    std::erase_if(map, [&goes](const auto&) { return goes = !goes; });
}

}  // namespace

void DiscordGuilds::on_event(std::string_view type, const Json& data, Duration now) {
    const std::lock_guard lock(mutex_);
    if (type == "GUILD_CREATE" || type == "GUILD_UPDATE") {
        on_guild(data, type == "GUILD_CREATE", now);
    } else if (type == "GUILD_DELETE") {
        on_guild_gone(data);
    } else if (type == "GUILD_ROLE_CREATE" || type == "GUILD_ROLE_UPDATE") {
        on_role(data, false);
    } else if (type == "GUILD_ROLE_DELETE") {
        on_role(data, true);
    } else if (
        type == "CHANNEL_CREATE" || type == "CHANNEL_UPDATE" || type == "THREAD_CREATE" ||
        type == "THREAD_UPDATE") {
        on_channel(data, false, now);
    } else if (type == "CHANNEL_DELETE" || type == "THREAD_DELETE") {
        on_channel(data, true, now);
    } else if (type == "THREAD_LIST_SYNC") {
        on_thread_list(data, now);
    } else if (type == "GUILD_MEMBER_UPDATE" || type == "GUILD_MEMBER_ADD") {
        on_member(data, false, now);
    } else if (type == "GUILD_MEMBER_REMOVE") {
        on_member(data, true, now);
    } else if (type == "THREAD_MEMBERS_UPDATE") {
        on_thread_members(data);
    } else if (type == "MESSAGE_CREATE" || type == "INTERACTION_CREATE") {
        on_message(data, now);
    }
}

DiscordGuilds::Guild* DiscordGuilds::guild_of(const Json& data) {
    const auto found = guilds_.find(text_of(data, "guild_id"));
    return found != guilds_.end() ? &found->second : nullptr;
}

DiscordGuilds::Guild& DiscordGuilds::make_guild(const std::string& id) {
    if (!guilds_.contains(id) && guilds_.size() >= kDiscordGuildsMax) {
        // The one that was fetched longest ago goes; it can be fetched again.
        const auto oldest = std::ranges::min_element(
            guilds_, {}, [](const auto& item) { return item.second.known_at; });
        channel_count_ -= oldest->second.channels.size();
        guilds_.erase(oldest);
    }
    return guilds_[id];
}

void DiscordGuilds::read_guild(Guild& guild, const Json& data, Duration now) {
    guild.has_roles = true;
    guild.known_at = now;
    guild.owner_id = text_of(data, "owner_id");
    guild.roles.clear();
    for (const Json& role : list_of(data, "roles")) {
        const std::string id = text_of(role, "id");
        if (guild.roles.size() < kDiscordRolesMax) {
            guild.roles[id] = {.id = id, .permissions = permissions_of(role, "permissions", 0)};
        }
    }
}

void DiscordGuilds::on_guild(const Json& data, bool is_whole, Duration now) {
    const std::string id = text_of(data, "id");
    if (!is_snowflake(id) || flag_of(data, "unavailable")) {
        return;
    }
    if (!is_whole && !guilds_.contains(id)) {
        return;
    }
    Guild& guild = make_guild(id);
    read_guild(guild, data, now);
    if (is_whole) {
        guild.is_followed = true;
        guild.is_lost = false;
        channel_count_ -= guild.channels.size();
        guild.channels.clear();
        for (const std::string_view key : {"channels", "threads"}) {
            for (const Json& channel : list_of(data, key)) {
                store_channel(guild, channel, true, now);
            }
        }
    }
}

void DiscordGuilds::on_guild_gone(const Json& data) {
    const auto found = guilds_.find(text_of(data, "id"));
    if (found != guilds_.end()) {
        channel_count_ -= found->second.channels.size();
        guilds_.erase(found);
    }
}

void DiscordGuilds::on_role(const Json& data, bool is_gone) {
    Guild* const guild = guild_of(data);
    if (guild == nullptr) {
        return;
    }
    if (is_gone) {
        guild->roles.erase(text_of(data, "role_id"));
        return;
    }
    const Json* const role = data.find("role");
    const std::string id = role != nullptr ? text_of(*role, "id") : "";
    if (!id.empty() && (guild->roles.contains(id) || guild->roles.size() < kDiscordRolesMax)) {
        guild->roles[id] = {.id = id, .permissions = permissions_of(*role, "permissions", 0)};
    }
}

void DiscordGuilds::store_channel(Guild& guild, const Json& data, bool is_followed, Duration now) {
    const std::string id = text_of(data, "id");
    const Json* const found = data.find("type");
    const std::int64_t type =
        found != nullptr && found->is_number() ? found->as_int64().value_or(-1) : -1;
    auto overwrites = read_overwrites(data);
    if (is_thread(type)) {
        overwrites.emplace();  // The parent's count.
    }
    if (!is_snowflake(id) || type < 0 || !overwrites) {
        channel_count_ -= guild.channels.erase(id);
        return;
    }
    const bool is_new = !guild.channels.contains(id);
    if (is_new && channel_count_ >= kDiscordChannelsMax) {
        return;  // Unknown ones are asked for when they are needed.
    }
    channel_count_ += is_new ? 1 : 0;
    guild.channels[id] = {
        .type = type,
        .name = text_of(data, "name").substr(0, kRelayNameBytesMax),
        .topic = text_of(data, "topic").substr(0, kRelayTextBytesMax),
        .parent_id = text_of(data, "parent_id"),
        .overwrites = *std::move(overwrites),
        .is_absent = false,
        .is_followed = is_followed,
        .known_at = now};
}

void DiscordGuilds::on_channel(const Json& data, bool is_gone, Duration now) {
    Guild* const guild = guild_of(data);
    if (guild == nullptr) {
        return;
    }
    if (is_gone) {
        channel_count_ -= guild->channels.erase(text_of(data, "id"));
    } else {
        store_channel(*guild, data, guild->is_followed, now);
    }
}

void DiscordGuilds::on_thread_list(const Json& data, Duration now) {
    Guild* const guild = guild_of(data);
    if (guild != nullptr) {
        for (const Json& thread : list_of(data, "threads")) {
            store_channel(*guild, thread, guild->is_followed, now);
        }
    }
}

void DiscordGuilds::on_member(const Json& data, bool is_gone, Duration now) {
    const Json* const user = data.find("user");
    const std::string key =
        pair_key(text_of(data, "guild_id"), user != nullptr ? text_of(*user, "id") : "");
    if (is_gone) {
        store_member(key, {.role_ids = std::nullopt, .known_at = now});
    } else if (members_.contains(key)) {
        store_member(key, {.role_ids = read_role_ids(data), .known_at = now});
    }
}

void DiscordGuilds::on_thread_members(const Json& data) {
    const std::string thread = text_of(data, "id");
    for (const Json& id : list_of(data, "removed_member_ids")) {
        thread_members_.erase(pair_key(thread, id_text(id).value_or("")));
    }
    for (const Json& member : list_of(data, "added_members")) {
        thread_members_.erase(pair_key(thread, text_of(member, "user_id")));
    }
}

// A message names the roles that its author holds at that time.
void DiscordGuilds::on_message(const Json& data, Duration now) {
    const Json* const member = data.find("member");
    const Json* user = data.find("author");
    if (user == nullptr && member != nullptr) {
        user = member->find("user");
    }
    const std::string guild_id = text_of(data, "guild_id");
    if (member == nullptr || user == nullptr || guild_id.empty() ||
        member->find("roles") == nullptr || data.find("webhook_id") != nullptr) {
        return;
    }
    store_member(
        pair_key(guild_id, text_of(*user, "id")),
        {.role_ids = read_role_ids(*member), .known_at = now});
}

void DiscordGuilds::store_member(const std::string& key, Member member) {
    if (!members_.contains(key)) {
        make_room(members_, kDiscordMembersMax, member.known_at);
    }
    members_[key] = std::move(member);
}

void DiscordGuilds::forget_shard(int shard, int shard_count) {
    const std::lock_guard lock(mutex_);
    std::erase_if(guilds_, [&](const auto& item) {
        const bool is_of_shard = shard_of_guild(item.first, shard_count) == shard;
        channel_count_ -= is_of_shard ? item.second.channels.size() : 0;
        return is_of_shard;
    });
}

void DiscordGuilds::shard_lost(int shard, int shard_count, Duration now) {
    const std::lock_guard lock(mutex_);
    for (auto& [id, guild] : guilds_) {
        if (guild.is_followed && shard_of_guild(id, shard_count) == shard) {
            guild.is_followed = false;
            guild.is_lost = true;
            guild.known_at = now;
        }
    }
}

// A resume ends when Discord has told what was missed, so the facts are good again.
void DiscordGuilds::shard_resumed(int shard, int shard_count) {
    const std::lock_guard lock(mutex_);
    for (auto& [id, guild] : guilds_) {
        if (guild.is_lost && shard_of_guild(id, shard_count) == shard) {
            guild.is_followed = true;
            guild.is_lost = false;
        }
    }
}

void DiscordGuilds::put_guild(const Json& data, Duration now) {
    const std::lock_guard lock(mutex_);
    const std::string id = text_of(data, "id");
    if (!is_snowflake(id)) {
        return;
    }
    Guild& guild = make_guild(id);
    if (!guild.is_followed) {  // Otherwise an event may be newer than this answer.
        read_guild(guild, data, now);
    }
}

void DiscordGuilds::put_channel(const Json& data, Duration now) {
    const std::lock_guard lock(mutex_);
    const std::string guild_id = text_of(data, "guild_id");
    if (!is_snowflake(guild_id)) {
        return;
    }
    Guild& guild = make_guild(guild_id);
    const auto found = guild.channels.find(text_of(data, "id"));
    const bool is_followed = guild.is_followed && found != guild.channels.end() &&
                             found->second.is_followed && !found->second.is_absent;
    if (!is_followed) {
        store_channel(guild, data, false, now);
    }
}

void DiscordGuilds::put_no_channel(
    const std::string& guild_id, const std::string& channel_id, Duration now) {
    const std::lock_guard lock(mutex_);
    Guild& guild = make_guild(guild_id);
    if (!guild.channels.contains(channel_id) && channel_count_ < kDiscordChannelsMax) {
        Channel absent;
        absent.is_absent = true;
        absent.known_at = now;
        guild.channels[channel_id] = std::move(absent);
        ++channel_count_;
    } else if (guild.channels.contains(channel_id)) {
        guild.channels[channel_id].is_absent = true;
        guild.channels[channel_id].is_followed = false;
        guild.channels[channel_id].known_at = now;
    }
}

void DiscordGuilds::put_member(
    const std::string& guild_id,
    const std::string& user_id,
    std::optional<std::vector<std::string>> role_ids,
    Duration now) {
    const std::lock_guard lock(mutex_);
    store_member(pair_key(guild_id, user_id), {.role_ids = std::move(role_ids), .known_at = now});
}

void DiscordGuilds::put_thread_member(
    const std::string& thread_id, const std::string& user_id, bool is_in, Duration now) {
    const std::lock_guard lock(mutex_);
    const std::string key = pair_key(thread_id, user_id);
    if (!thread_members_.contains(key)) {
        make_room(thread_members_, kDiscordMembersMax, now);
    }
    Member member{.role_ids = std::nullopt, .known_at = now};
    if (is_in) {
        member.role_ids.emplace();
    }
    thread_members_[key] = std::move(member);
}

std::optional<DiscordChannel> DiscordGuilds::channel(
    const std::string& guild_id, const std::string& channel_id) const {
    const std::lock_guard lock(mutex_);
    const auto guild = guilds_.find(guild_id);
    if (guild == guilds_.end()) {
        return std::nullopt;
    }
    const auto found = guild->second.channels.find(channel_id);
    if (found == guild->second.channels.end() || found->second.is_absent) {
        return std::nullopt;
    }
    const Channel& known = found->second;
    return DiscordChannel{
        .name = known.name,
        .topic = known.topic,
        .thread_parent_id = is_thread(known.type) ? known.parent_id : ""};
}

bool DiscordGuilds::is_fresh(const Guild& guild, Duration now) const {
    return guild.has_roles && (guild.is_followed || is_recent(guild.known_at, now));
}

bool DiscordGuilds::is_fresh(const Guild& guild, const Channel& channel, Duration now) const {
    if (channel.is_followed) {
        return guild.is_followed || is_recent(guild.known_at, now);
    }
    return is_recent(channel.known_at, now);
}

ViewState DiscordGuilds::view(const ViewQuestion& question, Duration now) const {
    if (question.guild_id.empty()) {
        return {.can_view = true, .missing = {}, .parent_id = {}};  // A direct message.
    }
    const auto missing = [](MissingFact fact, std::string parent = {}) {
        return ViewState{.can_view = {}, .missing = fact, .parent_id = std::move(parent)};
    };
    const auto verdict = [](bool can_view) {
        return ViewState{.can_view = can_view, .missing = {}, .parent_id = {}};
    };
    const std::lock_guard lock(mutex_);
    const auto found = guilds_.find(question.guild_id);
    if (found == guilds_.end() || !is_fresh(found->second, now)) {
        return missing(MissingFact::guild);
    }
    const Guild& guild = found->second;
    const auto place = guild.channels.find(question.channel_id);
    if (place == guild.channels.end() || !is_fresh(guild, place->second, now)) {
        return missing(MissingFact::channel);
    }
    const Channel* channel = &place->second;
    if (channel->is_absent) {
        return verdict(false);
    }
    std::optional<DiscordThread> thread;
    if (is_thread(channel->type)) {
        thread = DiscordThread{.is_private = channel->type == kPrivateThread, .is_joined = false};
        const auto parent = guild.channels.find(channel->parent_id);
        if (parent == guild.channels.end() || !is_fresh(guild, parent->second, now)) {
            return missing(MissingFact::parent, channel->parent_id);
        }
        channel = &parent->second;
        if (channel->is_absent) {
            return verdict(false);
        }
    }
    const auto member = members_.find(pair_key(question.guild_id, question.user_id));
    if (member == members_.end() || !is_recent(member->second.known_at, now)) {
        return missing(MissingFact::member);
    }
    if (!member->second.role_ids) {
        return verdict(false);
    }
    DiscordMember facts{
        .guild_id = question.guild_id,
        .owner_id = guild.owner_id,
        .user_id = question.user_id,
        .role_ids = *member->second.role_ids,
        .roles = {},
        .overwrites = channel->overwrites};
    for (const auto& [id, role] : guild.roles) {
        facts.roles.push_back(role);
    }
    if (!thread || !thread->is_private || can_view_channel(facts, thread)) {
        return verdict(can_view_channel(facts, thread));
    }
    const auto joined = thread_members_.find(pair_key(question.channel_id, question.user_id));
    if (joined == thread_members_.end() || !is_recent(joined->second.known_at, now)) {
        return missing(MissingFact::thread_member);
    }
    thread->is_joined = joined->second.role_ids.has_value();
    return verdict(can_view_channel(facts, thread));
}

DiscordGuilds::Sizes DiscordGuilds::sizes() const {
    const std::lock_guard lock(mutex_);
    return {.guilds = guilds_.size(), .channels = channel_count_, .members = members_.size()};
}

}  // namespace interlock
