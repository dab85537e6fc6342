// Finds out whether a member can see a channel, fetching what is not known.
#pragma once

#include <optional>
#include <string>

#include "relay/platforms/discord/discord_guilds.h"
#include "relay/platforms/discord/discord_rest.h"

namespace interlock {

// Guild, channel, its parent, member and thread membership, and one more for what was forgotten
// meanwhile.
inline constexpr int kViewFetchesMax = 6;
inline constexpr Duration kViewWait = Duration::of_seconds(8);

class DiscordViews {
public:
    DiscordViews(DiscordGuilds& guilds, DiscordRest& rest, Clock& clock)
        : guilds_(guilds), rest_(rest), clock_(clock) {}

    // Blocking. Nothing: it could not be found out.
    std::optional<bool> find(const ViewQuestion& question);
    // Makes a channel known if it is not; blocking. Failing is no harm: it stays unknown.
    void find_channel(const std::string& channel_id);

private:
    enum class Fetched { found, not_there, failed };
    Fetched fetch(const ViewQuestion& question, const ViewState& state, Timestamp not_after);
    Fetched fetch_guild(const std::string& guild_id, Timestamp not_after);
    Fetched fetch_channel(
        const std::string& guild_id, const std::string& channel_id, Timestamp not_after);
    Fetched fetch_member(const ViewQuestion& question, Timestamp not_after);
    Fetched fetch_thread_member(const ViewQuestion& question, Timestamp not_after);

    DiscordGuilds& guilds_;
    DiscordRest& rest_;
    Clock& clock_;
};

}  // namespace interlock
