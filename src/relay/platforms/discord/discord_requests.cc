#include "relay/platforms/discord/discord_requests.h"

#include <algorithm>

#include "base/crypto.h"
#include "base/text.h"
#include "relay/rules/message_split.h"
#include "relay/rules/platform_event.h"

namespace interlock {
namespace {

constexpr std::int64_t kButtonRow = 1;
constexpr std::int64_t kButton = 2;
constexpr std::int64_t kPublicThread = 11;
constexpr std::size_t kInteractionTokenBytesMax = 1024;
constexpr std::size_t kEmojiBytesMax = 128;
constexpr std::size_t kFilenameBytesMax = 200;
constexpr std::size_t kNonceBytesMax = 25;

using Made = std::expected<RestRequest, PlatformReply>;

std::unexpected<PlatformReply> refuse(std::string_view code, std::string_view sentence) {
    return std::unexpected(discord_refusal(code, sentence));
}

std::unexpected<PlatformReply> refuse_id(std::string_view what) {
    return refuse("invalid_request", "The " + std::string(what) + " is not an id of Discord's.");
}

RouteKey channel_route(std::string_view route, const std::string& channel) {
    return {.route = std::string(route), .major = channel};
}

// The channel or thread to speak in.
std::string place_of(const PlatformCall& call, const std::string& chat_id) {
    return call.thread_id.empty() ? chat_id : call.thread_id;
}

// An agent's text calls only people whom it names one by one, never everybody or a role.
Json allowed_mentions() {
    return Json::object({{"parse", Json::array({"users"})}});
}

Json message_body(const std::string& content) {
    return Json::object({{"content", content}, {"allowed_mentions", allowed_mentions()}});
}

// What every new message has beside its content. The nonce is not for webhooks.
void add_new_message_parts(Json& body, const PlatformCall& call, const std::string& reply_to) {
    if (call.capability.empty() && is_snowflake(reply_to)) {
        body.set(
            "message_reference",
            Json::object({{"message_id", reply_to}, {"fail_if_not_exists", false}}));
    }
    if (call.capability.empty() && !call.nonce.empty() && call.nonce.size() <= kNonceBytesMax) {
        body.set("nonce", call.nonce);
        body.set("enforce_nonce", true);
    }
}

bool fits(const std::string& content) {
    return length_in(content, kDiscordTextUnit) <= kDiscordTextMax;
}

std::optional<PlatformReply> content_problem(const std::string& content) {
    if (content.empty()) {
        return discord_refusal("invalid_request", "A message needs a text.");
    }
    if (!fits(content)) {
        return discord_refusal("too_long", "The text is longer than one Discord message.");
    }
    return std::nullopt;
}

std::string digest_of(std::string_view secret) {
    return sha256_hex(secret).substr(0, 16);
}

RouteKey webhook_route(std::string_view route, const PlatformCall& call) {
    return {.route = std::string(route), .major = digest_of(call.capability.reveal())};
}

std::string webhook_path(const PlatformCall& call, const std::string& application_id) {
    return "/webhooks/" + application_id + "/" + std::string(call.capability.reveal());
}

struct Upload {
    std::string content_type;
    std::string body;
};

std::string safe_filename(std::string name) {
    std::ranges::replace_if(
        name,
        [](char c) {
            return !(
                (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                c == '.' || c == '_' || c == '-');
        },
        '_');
    name.resize(std::min(name.size(), kFilenameBytesMax));
    return name.empty() ? "file" : name;
}

std::string safe_type(const std::string& type) {
    const bool is_plain = std::ranges::all_of(type, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '/' || c == '.' || c == '+' || c == '-';
    });
    return is_plain && !type.empty() ? type : "application/octet-stream";
}

Upload upload_of(Json body, const PlatformCall& call, const SendMediaAction& action) {
    const std::string name = safe_filename(action.filename);
    body.set("attachments", Json::array({Json::object({{"id", "0"}, {"filename", name}})}));
    const std::string json = to_text(body);
    // The boundary is a digest of the bytes, which hold it only if somebody meant them to; then it
    // is made anew.
    std::string boundary = "interlock-" + digest_of(call.media_bytes);
    while (call.media_bytes.find(boundary) != std::string::npos ||
           json.find(boundary) != std::string::npos) {
        boundary = "interlock-" + digest_of(boundary);
    }
    Upload made{.content_type = "multipart/form-data; boundary=" + boundary, .body = {}};
    made.body = "--" + boundary +
                "\r\nContent-Disposition: form-data; name=\"payload_json\"\r\n"
                "Content-Type: application/json\r\n\r\n" +
                json + "\r\n--" + boundary +
                "\r\nContent-Disposition: form-data; name=\"files[0]\"; filename=\"" + name +
                "\"\r\nContent-Type: " + safe_type(call.media_type) + "\r\n\r\n" +
                call.media_bytes + "\r\n--" + boundary + "--\r\n";
    return made;
}

// The path, route and method of a new message or of the one that replaces "thinking…".
Made new_message(
    const PlatformCall& call, const std::string& chat_id, const std::string& application_id) {
    if (!call.capability.empty()) {
        if (!is_interaction_token(call.capability.reveal())) {
            return refuse("capability_invalid", "The interaction's token cannot be used.");
        }
        const std::string base = webhook_path(call, application_id);
        RestRequest request =
            call.edits_original
                ? rest_with_json(
                      "PATCH",
                      base + "/messages/@original",
                      webhook_route("PATCH /webhooks/{}/{}/messages/{}", call),
                      {})
                : rest_with_json(
                      "POST", base + "?wait=true", webhook_route("POST /webhooks/{}/{}", call), {});
        request.uses_bot_token = false;
        request.repeat = call.edits_original ? RestRepeat::once : RestRepeat::never;
        request.route.is_global_exempt = true;
        return request;
    }
    const std::string channel = place_of(call, chat_id);
    if (!is_snowflake(channel)) {
        return refuse_id("chat");
    }
    RestRequest request = rest_with_json(
        "POST",
        "/channels/" + channel + "/messages",
        channel_route("POST /channels/{}/messages", channel),
        {});
    request.repeat = call.nonce.empty() || call.nonce.size() > kNonceBytesMax ? RestRepeat::never
                                                                              : RestRepeat::once;
    return request;
}

struct NewMessage {
    const std::string& chat_id;
    const std::string& reply_to;
    Json body;
};

Made send_message(const PlatformCall& call, NewMessage message, const std::string& application_id) {
    Made request = new_message(call, message.chat_id, application_id);
    if (request) {
        add_new_message_parts(message.body, call, message.reply_to);
        request->body = to_text(message.body);
    }
    return request;
}

Made make(const SendAction& action, const PlatformCall& call, const std::string& application_id) {
    if (auto problem = content_problem(action.content)) {
        return std::unexpected(*std::move(problem));
    }
    return send_message(
        call, {action.chat_id, action.reply_to, message_body(action.content)}, application_id);
}

Made make(
    const FollowUpAction& action, const PlatformCall& call, const std::string& application_id) {
    if (call.capability.empty()) {
        return refuse("capability_missing", "There is no open interaction to answer.");
    }
    if (auto problem = content_problem(action.content)) {
        return std::unexpected(*std::move(problem));
    }
    const std::string none;
    return send_message(call, {none, none, message_body(action.content)}, application_id);
}

Made make(const EditAction& action, const PlatformCall& call, const std::string& application_id) {
    if (auto problem = content_problem(action.content)) {
        return std::unexpected(*std::move(problem));
    }
    if (!is_snowflake(action.message_id)) {
        return refuse_id("message");
    }
    const Json body = message_body(action.content);
    if (!call.capability.empty()) {
        if (!is_interaction_token(call.capability.reveal())) {
            return refuse("capability_invalid", "The interaction's token cannot be used.");
        }
        RestRequest request = rest_with_json(
            "PATCH",
            webhook_path(call, application_id) + "/messages/" + action.message_id,
            webhook_route("PATCH /webhooks/{}/{}/messages/{}", call),
            body);
        request.uses_bot_token = false;
        request.repeat = RestRepeat::once;
        request.route.is_global_exempt = true;
        return request;
    }
    const std::string channel = place_of(call, action.chat_id);
    if (!is_snowflake(channel)) {
        return refuse_id("chat");
    }
    RestRequest request = rest_with_json(
        "PATCH",
        "/channels/" + channel + "/messages/" + action.message_id,
        channel_route("PATCH /channels/{}/messages/{}", channel),
        body);
    request.repeat = RestRepeat::once;
    return request;
}

Made make(const TypingAction& action, const PlatformCall& call, const std::string&) {
    const std::string channel = place_of(call, action.chat_id);
    if (!is_snowflake(channel)) {
        return refuse_id("chat");
    }
    return RestRequest{
        .method = "POST",
        .path = "/channels/" + channel + "/typing",
        .route = channel_route("POST /channels/{}/typing", channel),
        .repeat = RestRepeat::harmless};
}

Made make(
    const SendMediaAction& action, const PlatformCall& call, const std::string& application_id) {
    if (call.media_bytes.size() > kDiscordUploadBytesMax) {
        return refuse("too_large", "The file is larger than Discord takes.");
    }
    if (!call.media_bytes.empty()) {
        if (!fits(action.content)) {
            return refuse("too_long", "The caption is longer than one Discord message.");
        }
        Made request = new_message(call, action.chat_id, application_id);
        if (request) {
            Json body = message_body(action.content);
            add_new_message_parts(body, call, action.reply_to);
            Upload upload = upload_of(std::move(body), call, action);
            request->content_type = std::move(upload.content_type);
            request->body = std::move(upload.body);
        }
        return request;
    }
    if (action.source_url.empty()) {
        return refuse("invalid_request", "There is neither a file nor an address of one.");
    }
    const std::string content =
        action.content.empty() ? action.source_url : action.content + "\n" + action.source_url;
    if (!fits(content)) {
        return refuse("too_long", "Caption and address are longer than one Discord message.");
    }
    return send_message(
        call, {action.chat_id, action.reply_to, message_body(content)}, application_id);
}

std::int64_t button_style(std::string_view word) {
    if (word == "primary") {
        return 1;
    }
    if (word == "success" || word == "positive") {
        return 3;
    }
    return word == "danger" || word == "destructive" || word == "negative" ? 4 : 2;
}

Json buttons_of(const PromptAction& action) {
    Json rows = Json::array();
    for (std::size_t first = 0; first < action.options.size(); first += kDiscordButtonsPerRow) {
        Json row = Json::array();
        const std::size_t end = std::min(first + kDiscordButtonsPerRow, action.options.size());
        for (std::size_t at = first; at < end; ++at) {
            const PromptOption& option = action.options[at];
            const std::string& label = option.label.empty() ? option.id : option.label;
            row.push(Json::object(
                {{"type", kButton},
                 {"style", button_style(option.style)},
                 {"label", prefix_in(label, kDiscordButtonLabelMax, kDiscordTextUnit)},
                 {"custom_id", prompt_button(action.prompt_id, option.id)}}));
        }
        rows.push(Json::object({{"type", kButtonRow}, {"components", std::move(row)}}));
    }
    return rows;
}

Made make(const PromptAction& action, const PlatformCall& call, const std::string& application_id) {
    if (auto problem = content_problem(action.content)) {
        return std::unexpected(*std::move(problem));
    }
    if (action.options.empty() || action.options.size() > kPromptOptionsMax) {
        return refuse("invalid_request", "A prompt has 1 to 25 options.");
    }
    Json body = message_body(action.content);
    body.set("components", buttons_of(action));
    return send_message(call, {action.chat_id, action.reply_to, std::move(body)}, application_id);
}

Made make(const ReactAction& action, const PlatformCall& call, const std::string&) {
    const std::string channel = place_of(call, action.chat_id);
    if (!is_snowflake(channel) || !is_snowflake(action.message_id)) {
        return refuse_id("message");
    }
    if (action.emoji.empty() || action.emoji.size() > kEmojiBytesMax) {
        return refuse("invalid_request", "A reaction is one emoji.");
    }
    return RestRequest{
        .method = action.remove ? "DELETE" : "PUT",
        .path = "/channels/" + channel + "/messages/" + action.message_id + "/reactions/" +
                percent_encode(action.emoji) + "/@me",
        .route = channel_route("/channels/{}/messages/{}/reactions", channel),
        .repeat = RestRepeat::once};
}

std::optional<PlatformReply> name_problem(const std::string& name) {
    if (name.empty() || length_in(name, kDiscordTextUnit) > kThreadNameCharactersMax) {
        return discord_refusal("invalid_request", "A thread's name has 1 to 100 characters.");
    }
    return std::nullopt;
}

Made make(const ThreadCreateAction& action, const PlatformCall&, const std::string&) {
    if (!is_snowflake(action.chat_id)) {
        return refuse_id("chat");
    }
    if (auto problem = name_problem(action.thread_name)) {
        return std::unexpected(*std::move(problem));
    }
    if (!action.message_id.empty()) {
        if (!is_snowflake(action.message_id)) {
            return refuse_id("message");
        }
        return rest_with_json(
            "POST",
            "/channels/" + action.chat_id + "/messages/" + action.message_id + "/threads",
            channel_route("POST /channels/{}/messages/{}/threads", action.chat_id),
            Json::object(
                {{"name", action.thread_name}, {"auto_archive_duration", kDiscordArchiveMinutes}}));
    }
    return rest_with_json(
        "POST",
        "/channels/" + action.chat_id + "/threads",
        channel_route("POST /channels/{}/threads", action.chat_id),
        Json::object(
            {{"name", action.thread_name},
             {"type", kPublicThread},
             {"auto_archive_duration", kDiscordArchiveMinutes}}));
}

Made make(const ThreadRenameAction& action, const PlatformCall&, const std::string&) {
    if (!is_snowflake(action.thread_id)) {
        return refuse_id("thread");
    }
    if (auto problem = name_problem(action.thread_name)) {
        return std::unexpected(*std::move(problem));
    }
    RestRequest request = rest_with_json(
        "PATCH",
        "/channels/" + action.thread_id,
        channel_route("PATCH /channels/{}", action.thread_id),
        Json::object({{"name", action.thread_name}}));
    request.repeat = RestRepeat::once;
    return request;
}

Made make(const GetChatInfoAction& action, const PlatformCall&, const std::string&) {
    if (!is_snowflake(action.chat_id)) {
        return refuse_id("chat");
    }
    return rest_get(
        "/channels/" + action.chat_id, channel_route("GET /channels/{}", action.chat_id));
}

Made make(const UnknownAction&, const PlatformCall&, const std::string&) {
    return refuse("unsupported", "Discord has no such operation.");
}

}  // namespace

PlatformReply discord_refusal(std::string_view code, std::string_view sentence) {
    PlatformReply reply;
    reply.code = code;
    reply.error = sentence;
    return reply;
}

bool is_interaction_token(std::string_view text) {
    return !text.empty() && text.size() <= kInteractionTokenBytesMax &&
           std::ranges::all_of(
               text,
               [](char c) {
                   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '=' || c == '~' ||
                          c == '.';
               }) &&
           text.find_first_not_of('.') != std::string_view::npos;
}

std::expected<RestRequest, PlatformReply> discord_request(
    const PlatformCall& call, const std::string& application_id) {
    return std::visit(
        [&](const auto& action) { return make(action, call, application_id); }, call.action);
}

RestRequest interaction_callback(
    const std::string& interaction_id, const SecretString& token, const Json& body) {
    RestRequest request = rest_with_json(
        "POST",
        "/interactions/" + interaction_id + "/" + std::string(token.reveal()) + "/callback",
        {.route = "POST /interactions/{}/{}/callback",
         .major = interaction_id,
         .is_global_exempt = true},
        body);
    request.uses_bot_token = false;
    return request;
}

}  // namespace interlock
