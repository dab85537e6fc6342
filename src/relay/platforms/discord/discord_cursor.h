// Where a bot's gateway sessions stand, as one text that is stored with its arrivals and comes back
// at the next start: session, address and last stored sequence of each shard.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace interlock {

struct ResumePoint {
    std::string session_id;
    std::string resume_url;
    std::int64_t sequence = 0;
    friend bool operator==(const ResumePoint&, const ResumePoint&) = default;
};

struct DiscordCursor {
    int shard_count = 0;
    std::map<int, ResumePoint> shards;
    friend bool operator==(const DiscordCursor&, const DiscordCursor&) = default;
};

std::string to_text(const DiscordCursor& cursor);
// A text that is not one of ours is an empty cursor: the sessions begin anew, which loses nothing
// that was acknowledged.
DiscordCursor read_discord_cursor(std::string_view text);

}  // namespace interlock
