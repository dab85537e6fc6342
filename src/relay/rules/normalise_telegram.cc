// Telegram: updates, from the webhook or from getUpdates.
#include <algorithm>
#include <array>

#include "base/errors.h"
#include "base/text.h"
#include "relay/rules/message_split.h"
#include "relay/rules/platform_event.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

constexpr std::size_t kEntitiesMax = 1000;
constexpr std::size_t kPhotoSizesMax = 20;

struct Kind {
    std::string_view key;
    MessageType type;
    // Where Telegram names none: it serves every file as application/octet-stream, by which a
    // gateway would take a photo for a document.
    std::string_view mime = {};
};
// In the order in which they are looked for: a document also stands beside an animation.
constexpr std::array<Kind, 8> kFileKinds = {
    Kind{"sticker", MessageType::sticker, "image/webp"},
    Kind{"animation", MessageType::video},
    Kind{"video", MessageType::video},
    Kind{"video_note", MessageType::video, "video/mp4"},
    Kind{"voice", MessageType::voice, "audio/ogg"},
    Kind{"audio", MessageType::audio},
    Kind{"document", MessageType::document},
    Kind{"photo", MessageType::photo, "image/jpeg"}};

std::string full_name(WireReader& in) {
    std::string name = in.text("first_name", kRelayNameBytesMax);
    if (const std::string last = in.text("last_name", kRelayNameBytesMax); !last.empty()) {
        name += (name.empty() ? "" : " ") + last;
    }
    if (name.empty()) {
        name = in.text("username", kRelayNameBytesMax);
    }
    return name.empty() ? in.text("title", kRelayNameBytesMax) : name;
}

bool is_bot_itself(const Json* user, const BotIdentity& bot) {
    if (user == nullptr || bot.bot_id.empty()) {
        return false;
    }
    const Json* const id = user->find("id");
    return id != nullptr && id_text(*id) == bot.bot_id;
}

void read_author(WireReader& in, const BotIdentity& bot, PlatformEvent& made) {
    const Json* author = in.object("from");
    if (author == nullptr) {
        author = in.object("sender_chat");  // A channel writes as itself.
    }
    if (author == nullptr) {
        return;
    }
    WireReader fields(*author);
    made.event.source.user_id = fields.required_text("id");
    made.event.source.user_name = full_name(fields);
    made.is_author_bot = fields.flag("is_bot");
    made.is_own_bot = is_bot_itself(author, bot);
    if (!fields.ok()) {
        in.add_problem("from:", fields.problem());
    }
}

void read_chat(WireReader& in, PlatformEvent& made) {
    const Json* const chat = in.object("chat");
    if (chat == nullptr) {
        in.add_problem("chat", "is required");
        return;
    }
    WireReader fields(*chat);
    SessionSource& source = made.event.source;
    source.platform = "telegram";
    source.chat_id = fields.required_text("id");
    const std::string type = fields.required_text("type");
    made.is_dm = type == "private";
    source.chat_name = full_name(fields);
    source.chat_type = made.is_dm                ? "dm"
                       : type == "channel"       ? "channel"
                       : fields.flag("is_forum") ? "forum"
                                                 : "group";
    made.discriminator = made.is_dm ? "" : source.chat_id;
    // A reply in an ordinary group also has a thread id; only a topic is a thread.
    if (in.flag("is_topic_message")) {
        source.thread_id = in.text("message_thread_id");
    }
    if (!fields.ok()) {
        in.add_problem("chat:", fields.problem());
    }
}

// The part of `text` that an entity marks; its offsets count UTF-16 units.
std::string_view marked(std::string_view text, std::int64_t offset, std::int64_t length) {
    if (offset < 0 || length < 0) {
        return {};
    }
    const std::string_view before =
        prefix_in(text, static_cast<std::size_t>(offset), LengthUnit::utf16);
    return prefix_in(
        text.substr(before.size()), static_cast<std::size_t>(length), LengthUnit::utf16);
}

bool mentions_bot(const Json::Array* entities, const std::string& text, const BotIdentity& bot) {
    if (entities == nullptr) {
        return false;
    }
    return std::ranges::any_of(*entities, [&](const Json& item) {
        WireReader in(item);
        const std::string type = in.text("type");
        if (type == "text_mention") {
            return is_bot_itself(in.object("user"), bot);
        }
        const std::string_view part =
            marked(text, in.integer("offset").value_or(-1), in.integer("length").value_or(-1));
        const std::size_t at = part.find('@');
        return (type == "mention" || type == "bot_command") && !bot.username.empty() &&
               at != std::string_view::npos &&
               equal_ignoring_case(part.substr(at + 1), bot.username);
    });
}

// "/stop@our_bot now" is "/stop now" to an agent.
std::string without_bot_name(const std::string& text, const BotIdentity& bot) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::size_t at = text.find('@');
    if (bot.username.empty() || at >= end ||
        !equal_ignoring_case(std::string_view(text).substr(at + 1, end - at - 1), bot.username)) {
        return text;
    }
    return text.substr(0, at) + text.substr(end);
}

void add_file(const Json& json, const Kind& kind, PlatformEvent& made) {
    WireReader in(json);
    PlatformFile file{
        .file_id = in.text("file_id"),
        .kind = kind.type == MessageType::photo ? "image" : std::string(to_word(kind.type)),
        .mime = in.text("mime_type"),
        .filename = in.text("file_name", kRelayNameBytesMax),
        .size = in.integer("file_size"),
        .public_url = {}};
    // Stickers that move are of other kinds.
    if (file.mime.empty() && !in.flag("is_animated") && !in.flag("is_video")) {
        file.mime = kind.mime;
    }
    if (in.ok() && !file.file_id.empty()) {
        made.event.type = kind.type;
        made.files.push_back(std::move(file));
    }
}

void read_file(WireReader& in, const Json& json, PlatformEvent& made) {
    for (const Kind& kind : kFileKinds) {
        const Json* const held = json.find(kind.key);
        if (held == nullptr) {
            continue;
        }
        if (kind.type == MessageType::photo) {
            const Json::Array* const sizes = in.array(kind.key, kPhotoSizesMax);
            if (sizes != nullptr && !sizes->empty()) {
                add_file(sizes->back(), kind, made);  // The largest is the last.
            }
        } else {
            add_file(*held, kind, made);
        }
        return;
    }
    if (const Json* const place = in.object("location")) {
        made.event.type = MessageType::location;
        const Json* const latitude = place->find("latitude");
        const Json* const longitude = place->find("longitude");
        if (latitude != nullptr && longitude != nullptr && latitude->is_number() &&
            longitude->is_number() && made.event.text.empty()) {
            made.event.text = latitude->number_text() + ", " + longitude->number_text();
        }
    }
}

void read_reply(WireReader& in, const BotIdentity& bot, PlatformEvent& made) {
    const Json* const replied = in.object("reply_to_message");
    if (replied == nullptr) {
        return;
    }
    WireReader fields(*replied);
    const Json* const author = fields.object("from");
    std::string text = fields.text("text", kRelayTextBytesMax);
    RepliedMessage reply{
        .text = text.empty() ? fields.text("caption", kRelayTextBytesMax) : std::move(text),
        .author = {},
        .is_own = is_bot_itself(author, bot)};
    if (author != nullptr) {
        WireReader name(*author);
        reply.author = full_name(name);
    }
    // In a topic every message "answers" the one that opened it.
    if (fields.object("forum_topic_created") != nullptr) {
        return;
    }
    made.event.reply_to_message_id = fields.text("message_id");
    made.addresses_bot = made.addresses_bot || reply.is_own;
    made.event.reply_to = std::move(reply);
}

Result<Normalised> not_telegram(const WireReader& in) {
    return fail(errors::invalid_request, "This is not what Telegram sends: " + in.problem() + ".");
}

Result<Normalised> read_message(const Json& json, const BotIdentity& bot, PlatformEvent made) {
    WireReader in(json);
    made.event.message_id = in.required_text("message_id");
    made.event.source.message_id = made.event.message_id;
    read_chat(in, made);
    read_author(in, bot, made);
    const bool has_text = json.find("text") != nullptr;
    const std::string text = in.text(has_text ? "text" : "caption", kRelayTextBytesMax);
    made.addresses_bot =
        made.is_dm ||
        mentions_bot(in.array(has_text ? "entities" : "caption_entities", kEntitiesMax), text, bot);
    made.event.text = text;
    if (text.starts_with('/')) {
        made.event.text = without_bot_name(text, bot);
        made.event.type = MessageType::command;
    }
    read_file(in, json, made);
    read_reply(in, bot, made);
    made.moved_to = in.text("migrate_to_chat_id");  // The group has become a supergroup.
    if (!in.ok()) {
        return not_telegram(in);
    }
    if (made.event.text.empty() && made.files.empty() && made.moved_to.empty()) {
        return Normalised{std::nullopt, "a notice of the platform"};
    }
    return Normalised{std::move(made), {}};
}

Result<Normalised> read_callback(const Json& json, const BotIdentity& bot, PlatformEvent made) {
    WireReader in(json);
    // The callback's id, not the message's: each press is an event of its own.
    made.event.message_id = in.required_text("id");
    made.event.type = MessageType::command;
    made.addresses_bot = true;
    const std::string data = in.text("data");
    read_author(in, bot, made);
    if (const Json* const message = in.object("message")) {
        WireReader shown(*message);
        read_chat(shown, made);
        made.event.source.message_id = shown.text("message_id");
        if (!shown.ok()) {
            in.add_problem("message:", shown.problem());
        }
    } else {
        in.add_problem("message", "is required");
    }
    made.event.prompt_response = read_prompt_button(data);
    if (!in.ok()) {
        return not_telegram(in);
    }
    if (!made.event.prompt_response) {
        return Normalised{std::nullopt, "a button that is not ours"};
    }
    made.event.text = "/" + made.event.prompt_response->option_id;
    made.event.prompt_response->prompt_message_id = made.event.source.message_id;
    return Normalised{std::move(made), {}};
}

}  // namespace

Result<Normalised> normalise_telegram(const Json& json, const BotIdentity& bot) {
    WireReader in(json);
    PlatformEvent made;
    made.event_id = in.required_text("update_id");
    const Json* message = in.object("message");
    if (message == nullptr) {
        message = in.object("channel_post");
    }
    const Json* const callback = in.object("callback_query");
    if (!in.ok()) {
        return not_telegram(in);
    }
    if (message != nullptr) {
        return read_message(*message, bot, std::move(made));
    }
    if (callback != nullptr) {
        return read_callback(*callback, bot, std::move(made));
    }
    return Normalised{std::nullopt, "an update of another kind"};
}

}  // namespace interlock
