#include "relay/wire/message_event.h"

#include <algorithm>

#include "codec/json_list.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

RepliedMessage read_reply(WireReader& outer, const Json& json) {
    WireReader in(json);
    RepliedMessage reply{
        .text = in.text("text", kRelayTextBytesMax),
        .author = in.text("author", kRelayNameBytesMax),
        .is_own = in.flag("is_own"),
    };
    if (!in.ok()) {
        outer.add_problem("reply_to:", in.problem());
    }
    return reply;
}

PromptResponse read_prompt(WireReader& outer, const Json& json) {
    WireReader in(json);
    PromptResponse prompt{
        .prompt_id = in.required_text("prompt_id"),
        .option_id = in.required_text("option_id"),
        .label = in.text("label", kRelayNameBytesMax),
        .prompt_message_id = in.text("prompt_message_id"),
    };
    if (!in.ok()) {
        outer.add_problem("prompt_response:", in.problem());
    }
    return prompt;
}

std::vector<std::string> read_urls(WireReader& in) {
    std::vector<std::string> urls;
    const Json::Array* const items = in.array("media_urls", kEventMediaMax);
    if (items == nullptr) {
        return urls;
    }
    for (const Json& item : *items) {
        if (!item.is_string() || item.as_string().size() > kRelayUrlBytesMax) {
            in.add_problem("media_urls", "must hold texts of bounded length");
            continue;
        }
        urls.push_back(item.as_string());
    }
    return urls;
}

std::vector<MediaItem> read_media(WireReader& outer) {
    std::vector<MediaItem> media;
    const Json::Array* const items = outer.array("media", kEventMediaMax);
    if (items == nullptr) {
        return media;
    }
    for (const Json& item : *items) {
        WireReader in(item);
        MediaItem read{
            .url = in.required_text("url", kRelayUrlBytesMax),
            .kind = in.text("kind"),
            .mime = in.text("mime"),
            .size = in.integer("size"),
            .filename = in.text("filename", kRelayNameBytesMax),
            .caption = in.text("caption", kRelayTextBytesMax),
        };
        if (!in.ok()) {
            outer.add_problem("media:", in.problem());
        }
        media.push_back(std::move(read));
    }
    return media;
}

// Lines without text, and what is no line at all, are dropped, as the clients do.
std::vector<ContextLine> read_context(WireReader& outer) {
    std::vector<ContextLine> context;
    const Json::Array* const items = outer.array("context", kEventContextMax);
    if (items == nullptr) {
        return context;
    }
    for (const Json& item : *items) {
        if (!item.is_object()) {
            continue;
        }
        WireReader in(item);
        ContextLine line{
            .text = in.text("text", kRelayTextBytesMax), .user_name = {}, .user_id = {}};
        if (const Json* const source = in.object("source")) {
            WireReader author(*source);
            line.user_name = author.text("user_name", kRelayNameBytesMax);
            line.user_id = author.text("user_id");
            if (!author.ok()) {
                in.add_problem("source:", author.problem());
            }
        }
        if (!in.ok()) {
            outer.add_problem("context:", in.problem());
        }
        if (!line.text.empty()) {
            context.push_back(std::move(line));
        }
    }
    return context;
}

Json encode(const MediaItem& item) {
    Json json = Json::object({{"url", item.url}});
    set_unless_empty(json, "kind", item.kind);
    set_unless_empty(json, "mime", item.mime);
    if (item.size) {
        json.set("size", *item.size);
    }
    set_unless_empty(json, "filename", item.filename);
    set_unless_empty(json, "caption", item.caption);
    return json;
}

Json encode(const ContextLine& line) {
    Json author = Json::object();
    set_unless_empty(author, "user_name", line.user_name);
    set_unless_empty(author, "user_id", line.user_id);
    Json json = Json::object({{"text", line.text}});
    if (!author.members().empty()) {
        json.set("source", std::move(author));
    }
    return json;
}

template <class T>
Json encode_all(const std::vector<T>& items) {
    Json list = Json::array();
    for (const T& item : items) {
        list.push(encode(item));
    }
    return list;
}

}  // namespace

std::string_view to_word(MessageType type) {
    return kMessageTypeWords[static_cast<std::size_t>(type)];
}

MessageType message_type_of(std::string_view word) {
    const auto found = std::ranges::find(kMessageTypeWords, word);
    return found == kMessageTypeWords.end()
               ? MessageType::text
               : static_cast<MessageType>(found - kMessageTypeWords.begin());
}

Result<MessageEvent> decode_message_event(const Json& json) {
    WireReader in(json);
    MessageEvent event{
        .text = in.text("text", kRelayTextBytesMax),
        .type = message_type_of(in.text("message_type")),
        .message_id = in.text("message_id"),
        .reply_to_message_id = in.text("reply_to_message_id"),
        .media_urls = read_urls(in),
        .bot_id = in.text("bot_id"),
        .source = {},
        .reply_to = std::nullopt,
        .prompt_response = std::nullopt,
        .media = read_media(in),
        .context = read_context(in),
        .context_error = in.text("context_error", kRelayNameBytesMax),
    };
    if (const Json* const source = in.object("source")) {
        auto read = decode_session_source(*source);
        if (read) {
            event.source = *std::move(read);
        } else {
            in.add_problem("source:", read.error().message);
        }
    }
    if (const Json* const reply = in.object("reply_to")) {
        event.reply_to = read_reply(in, *reply);
    }
    if (const Json* const prompt = in.object("prompt_response")) {
        event.prompt_response = read_prompt(in, *prompt);
    }
    return in.finish(std::move(event));
}

Json encode(const MessageEvent& event) {
    Json json = Json::object({
        {"text", event.text},
        {"message_type", to_word(event.type)},
        {"message_id", text_or_null(event.message_id)},
        {"reply_to_message_id", text_or_null(event.reply_to_message_id)},
        {"media_urls", json_list(event.media_urls)},
        {"source", encode(event.source)},
    });
    set_unless_empty(json, "bot_id", event.bot_id);
    if (event.reply_to) {
        json.set(
            "reply_to",
            Json::object({
                {"text", event.reply_to->text},
                {"author", text_or_null(event.reply_to->author)},
                {"is_own", event.reply_to->is_own},
            }));
    }
    if (event.prompt_response) {
        Json prompt = Json::object({
            {"prompt_id", event.prompt_response->prompt_id},
            {"option_id", event.prompt_response->option_id},
        });
        set_unless_empty(prompt, "label", event.prompt_response->label);
        set_unless_empty(prompt, "prompt_message_id", event.prompt_response->prompt_message_id);
        json.set("prompt_response", std::move(prompt));
    }
    if (!event.media.empty()) {
        json.set("media", encode_all(event.media));
    }
    if (!event.context.empty()) {
        json.set("context", encode_all(event.context));
    }
    set_unless_empty(json, "context_error", event.context_error);
    return json;
}

}  // namespace interlock
