// SessionSource: where a message comes from, on the wire.
// docs/contracts/relay-connector.md#4-sessionsource has the table of these keys.
//
// An empty text means "not there". `scope_id` is the guild of Discord or the workspace of Slack. It
// is written under both of its wire names, because the June client reads only `guild_id` and later
// ones only `scope_id`; it is read from `scope_id` alone, as they do.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace interlock {

struct SessionSource {
    std::string platform = "relay";
    std::string chat_id;
    std::string chat_name;
    std::string chat_type = "dm";  // dm, group, channel, thread, forum; kept as written.
    std::string user_id;
    std::string user_name;
    std::string thread_id;
    std::string chat_topic;
    std::string user_id_alt;
    std::string chat_id_alt;
    std::string scope_id;
    std::string parent_chat_id;
    std::string message_id;
    std::string profile;
    bool auto_thread_created = false;
    std::string auto_thread_initial_name;
    std::string prospective_thread_id;

    friend bool operator==(const SessionSource&, const SessionSource&) = default;
};

// Takes null for an empty source. Names are folded to lower case and a platform that the clients do
// not know becomes "relay", which is what they would make of it.
Result<SessionSource> decode_session_source(const Json& json);
// The eight keys that are always there, null when empty, then the others that are set.
Json encode(const SessionSource& source);

// The platform names that the clients know, folded; "relay" for any other.
std::string known_platform(std::string_view name);

}  // namespace interlock
