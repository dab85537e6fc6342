// Discord: messages of the gateway and interactions.
#include <algorithm>

#include "base/errors.h"
#include "base/text.h"
#include "relay/rules/platform_event.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

constexpr std::size_t kMentionsMax = 1000;
constexpr std::size_t kCommandOptionsMax = 100;
constexpr std::size_t kOptionDepthMax = 4;
constexpr std::int64_t kPlainMessage = 0;
constexpr std::int64_t kReplyMessage = 19;
constexpr std::int64_t kPingInteraction = 1;
constexpr std::int64_t kCommandInteraction = 2;
constexpr std::int64_t kComponentInteraction = 3;
constexpr std::string_view kInteractionToken = "discord.interaction_token";

struct Author {
    std::string id;
    std::string name;
    bool is_bot = false;
};

Author read_author(WireReader& outer, const Json* json) {
    if (json == nullptr) {
        outer.add_problem("author", "is required");
        return {};
    }
    WireReader in(*json);
    Author author{
        .id = in.required_text("id"),
        .name = in.text("global_name", kRelayNameBytesMax),
        .is_bot = in.flag("bot")};
    if (author.name.empty()) {
        author.name = in.text("username", kRelayNameBytesMax);
    }
    if (!in.ok()) {
        outer.add_problem("author:", in.problem());
    }
    return author;
}

bool mentions(WireReader& in, const std::string& bot_id) {
    const Json::Array* const users = in.array("mentions", kMentionsMax);
    return users != nullptr && std::ranges::any_of(*users, [&bot_id](const Json& user) {
               const Json* const id = user.find("id");
               return id != nullptr && id->is_string() && id->as_string() == bot_id;
           });
}

// The text without the bot's own mention in front: an agent is not told its name each time.
std::string without_mention(std::string text, const std::string& bot_id) {
    for (const std::string& mark : {"<@" + bot_id + ">", "<@!" + bot_id + ">"}) {
        const std::string_view rest = trim(text);
        if (!bot_id.empty() && rest.starts_with(mark)) {
            return std::string(trim(rest.substr(mark.size())));
        }
    }
    return text;
}

MessageType type_of_mime(std::string_view mime) {
    if (mime.starts_with("image/")) {
        return MessageType::photo;
    }
    if (mime.starts_with("video/")) {
        return MessageType::video;
    }
    return mime.starts_with("audio/") ? MessageType::audio : MessageType::document;
}

void read_attachments(WireReader& outer, MessageEvent& event) {
    const Json::Array* const items = outer.array("attachments", kEventMediaMax);
    if (items == nullptr) {
        return;
    }
    for (const Json& item : *items) {
        WireReader in(item);
        MediaItem media{
            .url = in.required_text("url", kRelayUrlBytesMax),
            .kind = {},
            .mime = in.text("content_type"),
            .size = in.integer("size"),
            .filename = in.text("filename", kRelayNameBytesMax),
            .caption = {}};
        if (!in.ok()) {
            outer.add_problem("attachments:", in.problem());
            return;
        }
        const MessageType type = type_of_mime(media.mime);
        media.kind = type == MessageType::photo ? "image" : to_word(type);
        if (event.media.empty()) {
            event.type = type;
        }
        event.media_urls.push_back(media.url);
        event.media.push_back(std::move(media));
    }
}

// The message that this one answers; true when the bot wrote it.
bool read_reply(WireReader& in, const BotIdentity& bot, MessageEvent& event) {
    if (const Json* const reference = in.object("message_reference")) {
        WireReader fields(*reference);
        event.reply_to_message_id = fields.text("message_id");
    }
    const Json* const replied = in.object("referenced_message");
    if (replied == nullptr) {
        return false;
    }
    WireReader fields(*replied);
    const Author author = read_author(fields, fields.object("author"));
    const bool is_own = !bot.bot_id.empty() && author.id == bot.bot_id;
    event.reply_to = RepliedMessage{
        .text = fields.text("content", kRelayTextBytesMax),
        .author = author.name,
        .is_own = is_own};
    return is_own;
}

void set_place(
    PlatformEvent& made,
    const std::string& channel_id,
    const std::string& guild_id,
    const DiscordChannel& channel) {
    SessionSource& source = made.event.source;
    source.platform = "discord";
    source.chat_id = channel_id;
    source.chat_name = channel.name;
    source.chat_topic = channel.topic;
    source.scope_id = guild_id;
    source.message_id = made.event.message_id;
    made.is_dm = guild_id.empty();
    made.discriminator = guild_id;
    source.chat_type = made.is_dm ? "dm" : "group";
    if (!made.is_dm && !channel.thread_parent_id.empty()) {
        source.chat_type = "thread";
        source.thread_id = channel_id;
        source.parent_chat_id = channel.thread_parent_id;
    }
}

void set_author(PlatformEvent& made, const Author& author, const BotIdentity& bot) {
    made.event.source.user_id = author.id;
    made.event.source.user_name = author.name;
    made.is_author_bot = author.is_bot;
    made.is_own_bot = !bot.bot_id.empty() && author.id == bot.bot_id;
}

// " value value" of a command's options, nested ones included.
std::string option_words(const Json* options, std::size_t depth) {
    std::string words;
    if (options == nullptr || !options->is_array() || depth > kOptionDepthMax) {
        return words;
    }
    std::size_t count = 0;
    for (const Json& option : options->items()) {
        if (++count > kCommandOptionsMax) {
            break;
        }
        const Json* const value = option.find("value");
        const Json* const name = option.find("name");
        if (value != nullptr && value->is_bool()) {
            words += value->as_bool() ? " true" : " false";
        } else if (value != nullptr) {
            words +=
                " " + (value->is_number() ? value->number_text() : id_text(*value).value_or(""));
        } else if (name != nullptr && name->is_string()) {  // A subcommand.
            words += " " + name->as_string() + option_words(option.find("options"), depth + 1);
        }
    }
    return words;
}

// What was asked for; false when this kind of interaction is not for an agent.
bool read_interaction_data(WireReader& in, std::int64_t type, PlatformEvent& made) {
    const Json* const data = in.object("data");
    if (data == nullptr) {
        in.add_problem("data", "is required");
        return true;
    }
    WireReader fields(*data);
    made.event.type = MessageType::command;
    if (type == kCommandInteraction) {
        made.event.text =
            "/" + fields.required_text("name") + option_words(data->find("options"), 0);
    } else {
        const std::string pressed = fields.required_text("custom_id");
        made.event.prompt_response = read_prompt_button(pressed);
        if (made.event.prompt_response) {
            made.event.text = "/" + made.event.prompt_response->option_id;
            if (const Json* const message = in.object("message")) {
                WireReader shown(*message);
                made.event.prompt_response->prompt_message_id = shown.text("id");
            }
        } else {
            made.prompt_button = pressed;
        }
    }
    if (!fields.ok()) {
        in.add_problem("data:", fields.problem());
    }
    return made.prompt_button.empty();
}

std::unexpected<Error> not_discord(const WireReader& in) {
    return fail(errors::invalid_request, "This is not what Discord sends: " + in.problem() + ".");
}

}  // namespace

Result<Normalised> normalise_discord_message(
    const Json& json, const BotIdentity& bot, const DiscordChannel& channel) {
    WireReader in(json);
    PlatformEvent made;
    made.event_id = in.required_text("id");
    made.event.message_id = made.event_id;
    set_place(made, in.required_text("channel_id"), in.text("guild_id"), channel);
    const Author author = read_author(in, in.object("author"));
    set_author(made, author, bot);
    made.is_author_bot = made.is_author_bot || !in.text("webhook_id").empty();
    made.event.text = in.text("content", kRelayTextBytesMax);
    read_attachments(in, made.event);
    const bool answers_bot = read_reply(in, bot, made.event);
    made.addresses_bot = made.is_dm || answers_bot || mentions(in, bot.bot_id);
    made.event.text = without_mention(std::move(made.event.text), bot.bot_id);
    if (made.event.text.starts_with('/') && made.event.media.empty()) {
        made.event.type = MessageType::command;
    }
    const std::int64_t type = in.integer("type").value_or(kPlainMessage);
    if (!in.ok()) {
        return not_discord(in);
    }
    if (type != kPlainMessage && type != kReplyMessage) {
        return Normalised{
            std::nullopt, "a notice of the platform (type " + std::to_string(type) + ")"};
    }
    if (made.event.text.empty() && made.event.media.empty()) {
        return Normalised{std::nullopt, "a message without text or attachment"};
    }
    return Normalised{std::move(made), {}};
}

Result<Normalised> normalise_discord_interaction(const Json& json, const BotIdentity& bot) {
    WireReader in(json);
    const std::int64_t type = in.integer("type").value_or(0);
    if (in.ok() && type == kPingInteraction) {
        return Normalised{std::nullopt, "a ping"};
    }
    PlatformEvent made;
    made.event_id = in.required_text("id");
    made.event.message_id = made.event_id;
    made.addresses_bot = true;
    made.capability_kind = kInteractionToken;
    made.capability = SecretString(in.required_text("token", kRelayUrlBytesMax));
    DiscordChannel channel;
    if (const Json* const place = in.object("channel")) {
        WireReader fields(*place);
        channel.name = fields.text("name", kRelayNameBytesMax);
        // Types 10 to 12 are threads; the parent is the channel they hang from.
        const std::int64_t kind = fields.integer("type").value_or(0);
        channel.thread_parent_id = kind >= 10 && kind <= 12 ? fields.text("parent_id") : "";
    }
    set_place(made, in.required_text("channel_id"), in.text("guild_id"), channel);
    const Json* const member = in.object("member");
    const Json* const user = member != nullptr ? member->find("user") : in.object("user");
    set_author(made, read_author(in, user), bot);
    if (type != kCommandInteraction && type != kComponentInteraction) {
        return in.ok()
                   ? Result<Normalised>(Normalised{std::nullopt, "an interaction of another kind"})
                   : Result<Normalised>(not_discord(in));
    }
    const bool is_for_an_agent = read_interaction_data(in, type, made);
    if (!in.ok()) {
        return not_discord(in);
    }
    if (!is_for_an_agent) {
        return Normalised{std::nullopt, "a button that is not ours"};
    }
    return Normalised{std::move(made), {}};
}

}  // namespace interlock
