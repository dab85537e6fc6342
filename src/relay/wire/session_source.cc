#include "relay/wire/session_source.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 24> kPlatformNames = {
    "api_server",    "bluebubbles",    "dingtalk", "discord",    "email",           "feishu",
    "homeassistant", "local",          "matrix",   "mattermost", "msgraph_webhook", "qqbot",
    "relay",         "signal",         "slack",    "sms",        "telegram",        "webhook",
    "wecom",         "wecom_callback", "weixin",   "whatsapp",   "whatsapp_cloud",  "yuanbao"};
static_assert(std::ranges::is_sorted(kPlatformNames));

// The newer clients prefer a display name and fall back to a handle.
std::string author_name(WireReader& in) {
    for (const std::string_view key : {"user_display_name", "user_name", "user_handle"}) {
        if (std::string name = in.text(key, kRelayNameBytesMax); !name.empty()) {
            return name;
        }
    }
    return {};
}

}  // namespace

std::string known_platform(std::string_view name) {
    std::string folded = to_lower(trim(name));
    return std::ranges::binary_search(kPlatformNames, folded) ? folded : "relay";
}

Result<SessionSource> decode_session_source(const Json& json) {
    if (json.is_null()) {
        return SessionSource{};
    }
    WireReader in(json);
    SessionSource source{
        .platform = known_platform(in.text("platform")),
        .chat_id = in.text("chat_id"),
        .chat_name = in.text("chat_name", kRelayNameBytesMax),
        .chat_type = in.text("chat_type"),
        .user_id = in.text("user_id"),
        .user_name = author_name(in),
        .thread_id = in.text("thread_id"),
        .chat_topic = in.text("chat_topic", kRelayUrlBytesMax),
        .user_id_alt = in.text("user_id_alt"),
        .chat_id_alt = in.text("chat_id_alt"),
        .scope_id = in.text("scope_id"),
        .parent_chat_id = in.text("parent_chat_id"),
        .message_id = in.text("message_id"),
        .profile = in.text("profile"),
        .auto_thread_created = in.flag("auto_thread_created"),
        .auto_thread_initial_name = in.text("auto_thread_initial_name", kRelayNameBytesMax),
        .prospective_thread_id = in.text("prospective_thread_id"),
    };
    if (source.chat_type.empty()) {
        source.chat_type = "dm";
    }
    return in.finish(std::move(source));
}

Json encode(const SessionSource& source) {
    Json json = Json::object({
        {"platform", source.platform},
        {"chat_id", source.chat_id},
        {"chat_name", text_or_null(source.chat_name)},
        {"chat_type", source.chat_type},
        {"user_id", text_or_null(source.user_id)},
        {"user_name", text_or_null(source.user_name)},
        {"thread_id", text_or_null(source.thread_id)},
        {"chat_topic", text_or_null(source.chat_topic)},
    });
    set_unless_empty(json, "user_id_alt", source.user_id_alt);
    set_unless_empty(json, "chat_id_alt", source.chat_id_alt);
    set_unless_empty(json, "scope_id", source.scope_id);
    set_unless_empty(json, "guild_id", source.scope_id);
    set_unless_empty(json, "parent_chat_id", source.parent_chat_id);
    set_unless_empty(json, "message_id", source.message_id);
    set_unless_empty(json, "profile", source.profile);
    if (source.auto_thread_created) {
        json.set("auto_thread_created", true);
    }
    set_unless_empty(json, "auto_thread_initial_name", source.auto_thread_initial_name);
    set_unless_empty(json, "prospective_thread_id", source.prospective_thread_id);
    return json;
}

}  // namespace interlock
