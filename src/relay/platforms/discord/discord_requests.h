// A call of the relay as a request to Discord. Pure: what does not fit is refused here, before
// anything leaves.
#pragma once

#include <expected>
#include <string>

#include "relay/platforms/discord/discord_rest.h"
#include "relay/ports/chat_platform.h"

namespace interlock {

inline constexpr std::size_t kDiscordTextMax = 2000;
// Discord does not say in what it counts. UTF-16 units are never fewer than characters, so what
// fits by them fits either way.
inline constexpr LengthUnit kDiscordTextUnit = LengthUnit::utf16;
inline constexpr std::size_t kDiscordButtonsPerRow = 5;
inline constexpr std::size_t kDiscordButtonLabelMax = 80;
inline constexpr std::size_t kDiscordUploadBytesMax = std::size_t{10} * 1024 * 1024;
inline constexpr std::int64_t kDiscordArchiveMinutes = 1440;

// What a refusal of ours looks like.
PlatformReply discord_refusal(std::string_view code, std::string_view sentence);

// For every action but get_chat_info, a follow_up without a capability, and a rename with a
// condition, which ask first. `application_id` owns the interaction's webhook.
std::expected<RestRequest, PlatformReply> discord_request(
    const PlatformCall& call, const std::string& application_id);

// The answer to an interaction that came over the gateway.
RestRequest interaction_callback(
    const std::string& interaction_id, const SecretString& token, const Json& body);

// What an interaction's token may be made of; it stands in a path.
bool is_interaction_token(std::string_view text);

}  // namespace interlock
