// Interactions, whichever way they come, and the webhook that brings them. The token that answers
// one goes into the arrival's capability and nowhere else.
// docs/contracts/relay-connector.md#forwards and #capabilities
#pragma once

#include <optional>
#include <string>

#include "relay/platforms/discord/discord_config.h"
#include "relay/ports/chat_platform.h"

namespace interlock {

// Flag of a message that only the person sees who asked.
inline constexpr std::int64_t kDiscordPrivateMessage = 64;
// Discord waits this long for the first answer and then tells the person that nobody came.
inline constexpr Duration kInteractionWait = Duration::of_seconds(3);

struct ReadInteraction {
    std::string id;
    SecretString token;
    // Nothing: there is nothing for an agent in it, and `answer` goes out at once.
    std::optional<PlatformArrival> arrival;
    Json answer;  // What Discord is told when the arrival is stored.
};
// Only what is no interaction at all is an error.
Result<ReadInteraction> read_interaction(
    const Json& json, const BotKey& bot, const BotIdentity& identity);

// What is told instead when nobody will get the arrival.
Json undelivered_interaction(const InboxAnswer& answer);

// The interaction as gateways may see it: without its token and without whatever else is named like
// a secret.
Json sanitised_interaction(const Json& json);

struct DiscordFace {
    const DiscordConfig& config;
    const BotKey& bot;
    BotIdentity identity;
};
// 401 for a bad signature, 400 for a body that is no interaction.
WebhookAnswer receive_interaction(const WebhookRequest& request, const DiscordFace& face);

// When a snowflake was made.
Timestamp snowflake_time(std::string_view id);

}  // namespace interlock
