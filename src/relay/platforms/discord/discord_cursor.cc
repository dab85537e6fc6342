#include "relay/platforms/discord/discord_cursor.h"

#include "base/json.h"
#include "relay/platforms/discord/discord_config.h"
#include "relay/wire/wire_reader.h"

namespace interlock {

std::string to_text(const DiscordCursor& cursor) {
    Json shards = Json::array();
    for (const auto& [shard, point] : cursor.shards) {
        shards.push(Json::object(
            {{"shard", shard},
             {"session_id", point.session_id},
             {"resume_url", point.resume_url},
             {"seq", point.sequence}}));
    }
    return to_text(
        Json::object({{"shard_count", cursor.shard_count}, {"shards", std::move(shards)}}));
}

DiscordCursor read_discord_cursor(std::string_view text) {
    const auto json = parse_json(text);
    if (!json) {
        return {};
    }
    WireReader in(*json);
    const std::int64_t count = in.integer("shard_count").value_or(0);
    const Json::Array* const shards = in.array("shards", kDiscordShardsMax);
    if (!in.ok() || shards == nullptr || count < 1 || count > kDiscordShardsMax) {
        return {};
    }
    DiscordCursor cursor{.shard_count = static_cast<int>(count), .shards = {}};
    for (const Json& item : *shards) {
        WireReader fields(item);
        const std::int64_t shard = fields.integer("shard").value_or(-1);
        ResumePoint point{
            .session_id = fields.required_text("session_id"),
            .resume_url = fields.text("resume_url", kRelayUrlBytesMax),
            .sequence = fields.integer("seq").value_or(0)};
        if (!fields.ok() || shard < 0 || shard >= count || point.sequence < 1) {
            return {};
        }
        cursor.shards[static_cast<int>(shard)] = std::move(point);
    }
    return cursor;
}

}  // namespace interlock
