#include "relay/platforms/discord/discord_config.h"

#include <algorithm>
#include <charconv>

#include "base/errors.h"

namespace interlock {
namespace {

constexpr int kSnowflakeTimeShift = 22;
constexpr std::size_t kTokenBytesMax = 512;

std::unexpected<Error> bad_setting(std::string_view key, std::string_view problem) {
    return fail(
        errors::invalid_config,
        "The setting " + std::string(key) + " of a Discord bot " + std::string(problem) + ".");
}

bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_token(std::string_view text) {
    return !text.empty() && text.size() <= kTokenBytesMax &&
           std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace

bool is_snowflake(std::string_view text) {
    return !text.empty() && text.size() <= 20 &&
           std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

int shard_of_guild(std::string_view guild_id, int shard_count) {
    std::uint64_t id = 0;
    std::from_chars(guild_id.data(), guild_id.data() + guild_id.size(), id);
    return shard_count <= 1
               ? 0
               : static_cast<int>((id >> kSnowflakeTimeShift) % static_cast<unsigned>(shard_count));
}

Result<void> check_discord_config(const DiscordConfig& config) {
    if (!is_snowflake(config.bot_id)) {
        return bad_setting("bot_id", "must be the bot's user id");
    }
    if (!is_token(config.token.reveal())) {
        return bad_setting("token", "must be the bot's token, one word");
    }
    if (!config.application_id.empty() && !is_snowflake(config.application_id)) {
        return bad_setting("application_id", "must be an id");
    }
    if (!config.public_key.empty() &&
        (config.public_key.size() != 64 || !std::ranges::all_of(config.public_key, is_hex))) {
        return bad_setting("public_key", "must be 64 hexadecimal digits");
    }
    if (!config.api_base.starts_with("https://") && !config.api_base.starts_with("http://")) {
        return bad_setting("api_base", "must be an http or https URL");
    }
    if (!config.gateway_url.empty() && !config.gateway_url.starts_with("wss://") &&
        !config.gateway_url.starts_with("ws://")) {
        return bad_setting("gateway_url", "must be a ws or wss URL");
    }
    if (config.shards < 0 || config.shards > kDiscordShardsMax) {
        return bad_setting("shards", "must be 0 to 64");
    }
    return {};
}

}  // namespace interlock
