// Runs a call of the relay at Discord and makes its answer ours.
#pragma once

#include <string>

#include "relay/platforms/discord/discord_rest.h"
#include "relay/ports/chat_platform.h"

namespace interlock {

struct DiscordSelf {
    std::string application_id;
    std::string user_id;
};

// Blocking. A rename under a condition asks for the thread first.
PlatformReply run_discord_call(
    DiscordRest& rest, const PlatformCall& call, const DiscordSelf& self);

// Name and kind of a channel, in the words of SessionSource.
ChatInfo chat_info_of(const Json& channel);

}  // namespace interlock
