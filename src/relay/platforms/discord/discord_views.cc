#include "relay/platforms/discord/discord_views.h"

#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

constexpr std::size_t kMemberRolesMax = 300;

bool is_sent(const RestAnswer& answer) {
    return answer.outcome == CallOutcome::sent;
}

std::optional<std::vector<std::string>> roles_of(const Json& member) {
    const Json* const roles = member.find("roles");
    if (roles == nullptr || !roles->is_array() || roles->items().size() > kMemberRolesMax) {
        return std::nullopt;
    }
    std::vector<std::string> ids;
    for (const Json& role : roles->items()) {
        ids.push_back(id_text(role).value_or(""));
    }
    return ids;
}

}  // namespace

std::optional<bool> DiscordViews::find(const ViewQuestion& question) {
    const Timestamp not_after = clock_.now() + kViewWait;
    for (int round = 0; round < kViewFetchesMax; ++round) {
        const ViewState state = guilds_.view(question, clock_.monotonic());
        if (state.can_view) {
            return state.can_view;
        }
        switch (fetch(question, state, not_after)) {
            case Fetched::found:
                continue;
            case Fetched::not_there:
                return false;
            case Fetched::failed:
                return std::nullopt;
        }
    }
    return std::nullopt;
}

void DiscordViews::find_channel(const std::string& channel_id) {
    if (is_snowflake(channel_id)) {
        fetch_channel("", channel_id, clock_.now() + kViewWait);
    }
}

DiscordViews::Fetched DiscordViews::fetch(
    const ViewQuestion& question, const ViewState& state, Timestamp not_after) {
    if (!is_snowflake(question.guild_id) || !is_snowflake(question.channel_id) ||
        !is_snowflake(question.user_id)) {
        return Fetched::failed;
    }
    switch (state.missing) {
        case MissingFact::guild:
            return fetch_guild(question.guild_id, not_after);
        case MissingFact::channel:
            return fetch_channel(question.guild_id, question.channel_id, not_after);
        case MissingFact::parent:
            return is_snowflake(state.parent_id)
                       ? fetch_channel(question.guild_id, state.parent_id, not_after)
                       : Fetched::failed;
        case MissingFact::member:
            return fetch_member(question, not_after);
        case MissingFact::thread_member:
            return fetch_thread_member(question, not_after);
        case MissingFact::none:
            break;
    }
    return Fetched::failed;
}

DiscordViews::Fetched DiscordViews::fetch_guild(const std::string& guild_id, Timestamp not_after) {
    const RestAnswer answer = rest_.run(
        rest_get("/guilds/" + guild_id, {.route = "GET /guilds/{}", .major = guild_id}), not_after);
    const Json* const id = answer.body.find("id");
    if (!is_sent(answer) || id == nullptr || id_text(*id) != guild_id) {
        return answer.status == 404 ? Fetched::not_there : Fetched::failed;
    }
    guilds_.put_guild(answer.body, clock_.monotonic());
    return Fetched::found;
}

DiscordViews::Fetched DiscordViews::fetch_channel(
    const std::string& guild_id, const std::string& channel_id, Timestamp not_after) {
    const RestAnswer answer = rest_.run(
        rest_get("/channels/" + channel_id, {.route = "GET /channels/{}", .major = channel_id}),
        not_after);
    if (!is_sent(answer)) {
        if (answer.status == 404 && !guild_id.empty()) {
            guilds_.put_no_channel(guild_id, channel_id, clock_.monotonic());
        }
        return answer.status == 404 ? Fetched::not_there : Fetched::failed;
    }
    const Json* const of_guild = answer.body.find("guild_id");
    if (!guild_id.empty() && (of_guild == nullptr || id_text(*of_guild) != guild_id)) {
        guilds_.put_no_channel(guild_id, channel_id, clock_.monotonic());
        return Fetched::not_there;  // A channel of somewhere else.
    }
    guilds_.put_channel(answer.body, clock_.monotonic());
    return Fetched::found;
}

DiscordViews::Fetched DiscordViews::fetch_member(
    const ViewQuestion& question, Timestamp not_after) {
    const RestAnswer answer = rest_.run(
        rest_get(
            "/guilds/" + question.guild_id + "/members/" + question.user_id,
            {.route = "GET /guilds/{}/members/{}", .major = question.guild_id}),
        not_after);
    if (answer.status == 404) {
        guilds_.put_member(question.guild_id, question.user_id, std::nullopt, clock_.monotonic());
        return Fetched::not_there;
    }
    auto roles = is_sent(answer) ? roles_of(answer.body) : std::nullopt;
    if (!roles) {
        return Fetched::failed;
    }
    guilds_.put_member(question.guild_id, question.user_id, std::move(roles), clock_.monotonic());
    return Fetched::found;
}

DiscordViews::Fetched DiscordViews::fetch_thread_member(
    const ViewQuestion& question, Timestamp not_after) {
    const RestAnswer answer = rest_.run(
        rest_get(
            "/channels/" + question.channel_id + "/thread-members/" + question.user_id,
            {.route = "GET /channels/{}/thread-members/{}", .major = question.channel_id}),
        not_after);
    if (answer.status != 404 && !is_sent(answer)) {
        return Fetched::failed;
    }
    guilds_.put_thread_member(
        question.channel_id, question.user_id, is_sent(answer), clock_.monotonic());
    return Fetched::found;
}

}  // namespace interlock
