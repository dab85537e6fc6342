#include "relay/rules/session_key.h"

#include <algorithm>

#include "base/text.h"

namespace interlock {
namespace {

// Strips a WhatsApp address to the number in it: "+15551234567", "15551234567:3@s.whatsapp.net".
std::string stripped_whatsapp(std::string_view id) {
    std::string text(trim(id));
    if (const std::size_t plus = text.find('+'); plus != std::string::npos) {
        text.erase(plus, 1);
    }
    text.resize(std::min(text.find(':'), text.size()));
    text.resize(std::min(text.find('@'), text.size()));
    return text;
}

// The client strips twice on its way, which shows in odd ids with more than one plus.
std::string canonical_id(const SessionSource& source, const std::string& id) {
    if (source.platform != "whatsapp") {
        return id;
    }
    const std::string canonical = stripped_whatsapp(stripped_whatsapp(id));
    return canonical.empty() ? id : canonical;
}

std::string participant_of(const SessionSource& source) {
    return canonical_id(source, source.user_id_alt.empty() ? source.user_id : source.user_id_alt);
}

std::string space_of(const SessionKeyOptions& options) {
    const std::string& profile = options.profile;
    if (profile.empty() || profile == "default") {
        return "agent:main";
    }
    const bool is_taken = profile == "main" && options.revision == ClientRevision::newest;
    return "agent:" + profile + (is_taken ? "~" : "");
}

class KeyText {
public:
    explicit KeyText(std::string start) : text_(std::move(start)) {}

    KeyText& add(const std::string& part) {
        if (!part.empty()) {
            text_ += ':';
            text_ += part;
        }
        return *this;
    }
    std::string take() { return std::move(text_); }

private:
    std::string text_;
};

}  // namespace

std::string build_session_key(const SessionSource& source, const SessionKeyOptions& options) {
    KeyText key(space_of(options) + ":" + source.platform);
    const bool is_june = options.revision == ClientRevision::june;
    const std::string scope = source.platform == "slack" && !is_june ? source.scope_id : "";
    if (source.chat_type == "dm") {
        const std::string chat = canonical_id(source, source.chat_id);
        return key.add("dm")
            .add(scope)
            .add(chat.empty() ? participant_of(source) : chat)
            .add(source.thread_id)
            .take();
    }
    const bool is_prospective =
        source.thread_id.empty() && !is_june && !source.prospective_thread_id.empty();
    const std::string& thread = is_prospective ? source.prospective_thread_id : source.thread_id;
    const bool per_user =
        options.group_sessions_per_user && (thread.empty() || options.thread_sessions_per_user);
    return key.add(is_prospective ? "thread" : source.chat_type)
        .add(scope)
        .add(source.chat_id)
        .add(thread)
        .add(per_user ? participant_of(source) : "")
        .take();
}

std::vector<std::string> interaction_keys(const SessionSource& source) {
    SessionSource as_group = source;  // August: a group of the platform, whatever it is.
    as_group.chat_type = "group";
    as_group.thread_id.clear();
    SessionSource as_channel = as_group;  // June: a channel of no platform it knows.
    as_channel.platform = "relay";
    as_channel.chat_type = "channel";
    std::vector<std::string> keys;
    for (std::string key :
         {build_session_key(source), build_session_key(as_group), build_session_key(as_channel)}) {
        if (std::ranges::find(keys, key) == keys.end()) {
            keys.push_back(std::move(key));
        }
    }
    return keys;
}

}  // namespace interlock
