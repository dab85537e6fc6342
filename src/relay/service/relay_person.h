// Somebody who writes to a bot, what he says to the connector itself, and how he is met when nobody
// knows him.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/wire/ids.h"
#include "relay/ports/chat_platform.h"

namespace interlock {

inline constexpr std::size_t kPersonArgumentBytesMax = 128;

enum class PersonWordKind { link, unlink, whoami, dm_default };

// "/link CODE", "/unlink [AGENT]", "/whoami", "/default [AGENT]"; also as "/word@bot".
struct PersonWord {
    PersonWordKind kind = PersonWordKind::link;
    std::string argument;
};
// Nothing when the text is something else.
std::optional<PersonWord> read_person_word(std::string_view text);

struct Person {
    BotKey bot;
    std::string user_id;  // As the platform says, never as the text says.
    std::string user_name;
    std::string chat_id = {};  // Where he says it.
    bool is_dm = true;
};

// A message that nobody got, for want of a link or a route.
struct Encounter {
    BotKey bot;
    TenantId tenant_id;  // Empty: the chat is not routed.
    std::string discriminator;
    std::string chat_id;
    std::string chat_name;
    std::string chat_type;
    std::string user_id;
    std::string user_name;
    bool is_dm = false;
    bool addresses_bot = false;
};

// Telegram gives a group that becomes a supergroup another id.
struct ChatMove {
    std::string from;
    std::string to;
};

// One sentence that says how to get in.
std::string way_in(const Encounter& met);

}  // namespace interlock
