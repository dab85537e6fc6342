#include "relay/platforms/telegram/telegram_json.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "base/crypto.h"
#include "base/match.h"
#include "base/text.h"
#include "relay/platforms/common/platform_call.h"
#include "relay/rules/message_split.h"
#include "relay/wire/relay_frame.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

constexpr std::string_view kName = "Telegram";
constexpr std::string_view kGeneralTopic = "1";  // It has no id of its own in requests.
constexpr std::size_t kButtonsInRow = 3;
constexpr std::size_t kShortLabelMax = 16;
constexpr std::size_t kTopicNameMax = 128;

using Request = std::expected<TelegramRequest, PlatformReply>;

std::unexpected<PlatformReply> refuse(std::string code, std::string error) {
    return std::unexpected(refused_reply(std::move(code), std::move(error)));
}

std::optional<std::int64_t> to_int64(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && !text.empty()
               ? std::optional(value)
               : std::nullopt;
}

// Ids are whole numbers of 64 bits; a public channel may go by its @name.
bool set_chat(Json& fields, const std::string& chat_id) {
    if (const auto number = to_int64(chat_id)) {
        fields.set("chat_id", *number);
        return true;
    }
    fields.set("chat_id", chat_id);
    return chat_id.size() > 1 && chat_id.starts_with('@');
}

bool set_message(Json& fields, const std::string& message_id) {
    const auto number = to_int64(message_id);
    fields.set("message_id", number.value_or(0));
    return number.has_value();
}

std::unexpected<PlatformReply> no_such_chat() {
    return refuse("not_found", "This is not the id of a chat of Telegram.");
}

std::unexpected<PlatformReply> no_such_message() {
    return refuse("not_found", "This is not the id of a message of Telegram.");
}

void set_thread(Json& fields, const std::string& thread_id) {
    const auto number = to_int64(thread_id);
    if (number && thread_id != kGeneralTopic) {
        fields.set("message_thread_id", *number);
    }
}

// The id of a pressed button is no message, and nothing can answer to it.
void set_reply(Json& fields, const std::string& reply_to) {
    const auto number = to_int64(reply_to);
    if (number && *number > 0 && *number <= std::numeric_limits<std::int32_t>::max()) {
        fields.set(
            "reply_parameters",
            Json::object({{"message_id", *number}, {"allow_sending_without_reply", true}}));
    }
}

std::optional<PlatformReply> check_text(const std::string& text) {
    if (trim(text).empty()) {
        return refused_reply("invalid_request", "A message needs a text.");
    }
    if (length_in(text, LengthUnit::utf16) > kTelegramTextMax) {
        return refused_reply("too_long", "A message of Telegram holds 4096 UTF-16 units.");
    }
    return std::nullopt;
}

void set_text(Json& fields, const std::string& text, const TelegramStyle& style) {
    fields.set("text", style.markup.empty() ? text : style.markup);
    if (!style.markup.empty()) {
        fields.set("parse_mode", "MarkdownV2");
    }
}

Request send_request(
    const SendAction& action, const PlatformCall& call, const TelegramStyle& style) {
    TelegramRequest request{.method = "sendMessage", .upload = {}};
    if (!set_chat(request.fields, action.chat_id)) {
        return no_such_chat();
    }
    if (auto problem = check_text(action.content)) {
        return std::unexpected(*std::move(problem));
    }
    set_text(request.fields, action.content, style);
    set_thread(request.fields, call.thread_id);
    set_reply(request.fields, action.reply_to);
    return request;
}

Request edit_request(const EditAction& action, const TelegramStyle& style) {
    TelegramRequest request{.method = "editMessageText", .upload = {}};
    if (!set_chat(request.fields, action.chat_id)) {
        return no_such_chat();
    }
    if (!set_message(request.fields, action.message_id)) {
        return no_such_message();
    }
    if (auto problem = check_text(action.content)) {
        return std::unexpected(*std::move(problem));
    }
    set_text(request.fields, action.content, style);
    return request;
}

Request typing_request(const TypingAction& action, const PlatformCall& call) {
    TelegramRequest request{.method = "sendChatAction", .upload = {}};
    if (!set_chat(request.fields, action.chat_id)) {
        return no_such_chat();
    }
    request.fields.set("action", "typing");
    set_thread(request.fields, call.thread_id);
    return request;
}

Request chat_request(const GetChatInfoAction& action) {
    TelegramRequest request{.method = "getChat", .upload = {}};
    if (!set_chat(request.fields, action.chat_id)) {
        return no_such_chat();
    }
    return request;
}

struct MediaMethod {
    std::string_view kind;
    std::string_view method;
    std::string_view field;
};
constexpr MediaMethod kMediaMethods[] = {
    {"image", "sendPhoto", "photo"},
    {"voice", "sendVoice", "voice"},
    {"audio", "sendAudio", "audio"},
    {"video", "sendVideo", "video"},
    {"document", "sendDocument", "document"}};

const MediaMethod& media_method(std::string_view kind) {
    const auto* const found = std::ranges::find(kMediaMethods, kind, &MediaMethod::kind);
    return found == std::end(kMediaMethods) ? kMediaMethods[4] : *found;
}

// Into a header between quotes.
std::string plain_filename(const std::string& name) {
    std::string out;
    for (const char c : name) {
        out += static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\' || c == 0x7f ? '_' : c;
    }
    return out.empty() || !is_valid_utf8(out) ? "file" : out;
}

std::string plain_mime(const std::string& mime) {
    const bool is_plain = !mime.empty() && std::ranges::all_of(mime, [](char c) {
        return c > 0x20 && c < 0x7f && c != '"' && c != ',';
    });
    return is_plain ? mime : "application/octet-stream";
}

Request media_request(
    const SendMediaAction& action, const PlatformCall& call, const TelegramStyle& style) {
    const MediaMethod& way = media_method(action.media_kind);
    TelegramRequest request{.method = std::string(way.method), .upload = {}};
    if (!set_chat(request.fields, action.chat_id)) {
        return no_such_chat();
    }
    if (length_in(action.content, LengthUnit::utf16) > kTelegramCaptionMax) {
        return refuse(
            "too_long",
            "A caption of Telegram holds 1024 UTF-16 units; send the text as a message.");
    }
    if (call.media_bytes.size() > kTelegramUploadBytesMax) {
        return refuse("too_large", "Telegram takes files of up to 50 MB.");
    }
    if (!call.media_bytes.empty()) {
        request.upload = {
            .field = std::string(way.field),
            .filename = plain_filename(action.filename),
            .mime = plain_mime(call.media_type),
            .bytes = call.media_bytes};
    } else if (
        action.source_url.starts_with("https://") || action.source_url.starts_with("http://")) {
        request.fields.set(std::string(way.field), action.source_url);
    } else {
        return refuse("invalid_request", "There is no file, and no URL to fetch it from.");
    }
    if (!action.content.empty()) {
        request.fields.set("caption", style.markup.empty() ? action.content : style.markup);
        if (!style.markup.empty()) {
            request.fields.set("parse_mode", "MarkdownV2");
        }
    }
    set_thread(request.fields, call.thread_id);
    set_reply(request.fields, action.reply_to);
    return request;
}

Request prompt_request(
    const PromptAction& action, const PlatformCall& call, const TelegramStyle& style) {
    const SendAction as_message{
        .chat_id = action.chat_id,
        .content = action.content,
        .reply_to = action.reply_to,
        .metadata = {}};
    Request request = send_request(as_message, call, style);
    if (!request) {
        return request;
    }
    const bool is_short = std::ranges::all_of(action.options, [](const PromptOption& option) {
        return length_in(option.label, LengthUnit::utf16) <= kShortLabelMax;
    });
    Json rows = Json::array();
    for (const PromptOption& option : action.options) {
        const std::string data = prompt_button(action.prompt_id, option.id);
        if (data.size() > kTelegramButtonBytesMax) {
            return refuse(
                "invalid_request",
                "The ids of the prompt and of an option are too long for a button together.");
        }
        if (rows.items().empty() || !is_short ||
            rows.items().back().items().size() >= kButtonsInRow) {
            rows.push(Json::array());
        }
        const std::string& label = option.label.empty() ? option.id : option.label;
        rows.items().back().push(Json::object({{"text", label}, {"callback_data", data}}));
    }
    request->fields.set("reply_markup", Json::object({{"inline_keyboard", std::move(rows)}}));
    return request;
}

Request react_request(const ReactAction& action) {
    TelegramRequest request{.method = "setMessageReaction", .upload = {}};
    if (!set_chat(request.fields, action.chat_id)) {
        return no_such_chat();
    }
    if (!set_message(request.fields, action.message_id)) {
        return no_such_message();
    }
    Json reactions = Json::array();
    if (!action.remove) {
        reactions.push(Json::object({{"type", "emoji"}, {"emoji", action.emoji}}));
    }
    request.fields.set("reaction", std::move(reactions));
    return request;
}

Request topic_request(const ThreadCreateAction& action) {
    TelegramRequest request{.method = "createForumTopic", .upload = {}};
    if (!set_chat(request.fields, action.chat_id)) {
        return no_such_chat();
    }
    request.fields.set("name", prefix_in(action.thread_name, kTopicNameMax, LengthUnit::utf16));
    return request;
}

Request rename_request(const ThreadRenameAction& action) {
    // A bot cannot read a topic's name, so it cannot promise that it is still the old one.
    if (!action.only_if_current_name.empty()) {
        return refuse("unsupported", "Telegram does not tell a bot what a topic is called now.");
    }
    TelegramRequest request{.method = "editForumTopic", .upload = {}};
    const auto thread = to_int64(action.thread_id);
    if (!set_chat(request.fields, action.chat_id)) {
        return no_such_chat();
    }
    if (!thread) {
        return refuse("not_found", "This is not the id of a topic of Telegram.");
    }
    request.fields.set("message_thread_id", *thread);
    request.fields.set("name", prefix_in(action.thread_name, kTopicNameMax, LengthUnit::utf16));
    return request;
}

// Edits are left out: an agent has answered the first text by then.
Json wanted_updates() {
    return Json::array({"message", "channel_post", "callback_query"});
}

std::string text_of(const Json& json) {
    return json.is_string() ? json.as_string() : to_text(json);
}

std::string multipart(const TelegramRequest& request, const std::string& boundary) {
    std::string body;
    for (const auto& [name, value] : request.fields.members()) {
        body += "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + name +
                "\"\r\n\r\n" + text_of(value) + "\r\n";
    }
    const TelegramUpload& upload = request.upload;
    body += "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + upload.field +
            "\"; filename=\"" + upload.filename + "\"\r\nContent-Type: " + upload.mime + "\r\n\r\n";
    body += upload.bytes;
    body += "\r\n--" + boundary + "--\r\n";
    return body;
}

bool says(const TelegramAnswer& answer, std::string_view words) {
    return to_lower(answer.description).find(words) != std::string::npos;
}

std::string refusal_code(const TelegramAnswer& answer) {
    if (!answer.migrated_to.empty()) {
        return "chat_migrated";
    }
    if (says(answer, "too long") || says(answer, "too_long")) {
        return "too_long";
    }
    if (says(answer, "not found") && answer.code == 400) {
        return "not_found";
    }
    switch (answer.code) {
        case 401:
        case 404:  // The token is part of the path.
            return "unauthenticated";
        case 403:
            return "forbidden";
        case 413:
            return "too_large";
        default:
            return "refused";
    }
}

std::string chat_type(WireReader& chat) {
    const std::string type = chat.text("type");
    return type == "private"       ? "dm"
           : type == "channel"     ? "channel"
           : chat.flag("is_forum") ? "forum"
                                   : "group";
}

std::string chat_name(WireReader& chat) {
    std::string name = chat.text("title", kRelayNameBytesMax);
    for (const char* const part : {"first_name", "last_name"}) {
        const std::string text = chat.text(part, kRelayNameBytesMax);
        name += name.empty() || text.empty() ? text : " " + text;
    }
    return name.empty() ? chat.text("username", kRelayNameBytesMax) : name;
}

}  // namespace

Request telegram_request(const PlatformCall& call, const TelegramStyle& style) {
    return match(
        call.action,
        [&](const SendAction& action) { return send_request(action, call, style); },
        [&](const EditAction& action) { return edit_request(action, style); },
        [&](const TypingAction& action) { return typing_request(action, call); },
        [&](const GetChatInfoAction& action) { return chat_request(action); },
        [&](const SendMediaAction& action) { return media_request(action, call, style); },
        [&](const PromptAction& action) { return prompt_request(action, call, style); },
        [&](const ReactAction& action) { return react_request(action); },
        [&](const ThreadCreateAction& action) { return topic_request(action); },
        [&](const ThreadRenameAction& action) { return rename_request(action); },
        [&](const auto&) -> Request {
            return std::unexpected(unsupported_reply(kName, op_of(call.action)));
        });
}

TelegramRequest get_me_request() {
    return {.method = "getMe", .upload = {}};
}

TelegramRequest get_file_request(const std::string& file_id) {
    return {.method = "getFile", .fields = Json::object({{"file_id", file_id}}), .upload = {}};
}

TelegramRequest set_webhook_request(const std::string& url, std::string_view secret) {
    return {
        .method = "setWebhook",
        .fields = Json::object(
            {{"url", url}, {"secret_token", secret}, {"allowed_updates", wanted_updates()}}),
        .upload = {}};
}

TelegramRequest get_updates_request(const UpdatesQuestion& question) {
    TelegramRequest request{
        .method = "getUpdates",
        .fields = Json::object(
            {{"limit", question.limit},
             {"timeout", question.timeout_seconds},
             {"allowed_updates", wanted_updates()}}),
        .upload = {}};
    if (question.offset) {
        request.fields.set("offset", *question.offset);
    }
    return request;
}

TelegramRequest answer_callback_request(const std::string& callback_id, const std::string& notice) {
    TelegramRequest request{
        .method = "answerCallbackQuery",
        .fields = Json::object({{"callback_query_id", callback_id}}),
        .upload = {}};
    if (!notice.empty()) {
        request.fields.set("text", prefix_in(notice, kTelegramNoticeMax, LengthUnit::utf16));
    }
    return request;
}

std::string answer_callback_body(const std::string& callback_id, const std::string& notice) {
    TelegramRequest request = answer_callback_request(callback_id, notice);
    request.fields.set("method", request.method);
    return to_text(request.fields);
}

EncodedRequest encode(const TelegramRequest& request) {
    if (request.upload.field.empty()) {
        return {"application/json", to_text(request.fields)};
    }
    // Bytes cannot hold the digest of themselves, so they cannot hold this line.
    const std::string boundary = "interlock-" + sha256_hex(request.upload.bytes);
    return {"multipart/form-data; boundary=" + boundary, multipart(request, boundary)};
}

std::optional<TelegramAnswer> read_telegram_answer(std::string_view body) {
    auto json = parse_json(without_lone_surrogates(body));
    if (!json || !json->is_object()) {
        return std::nullopt;
    }
    const Json* const ok = json->find("ok");
    if (ok == nullptr || !ok->is_bool()) {
        return std::nullopt;
    }
    TelegramAnswer answer;
    answer.is_ok = ok->as_bool();
    if (Json* const result = json->find("result")) {
        answer.result = std::move(*result);
    }
    WireReader in(*json);
    answer.code = in.integer("error_code").value_or(0);
    answer.description = in.text("description", kRelayTextBytesMax);
    if (const Json* const parameters = in.object("parameters")) {
        WireReader more(*parameters);
        if (const auto seconds = more.integer("retry_after"); seconds && *seconds >= 0) {
            answer.retry_after =
                Duration::of_seconds(std::min(*seconds, kRateLimitMax.microseconds / 1'000'000));
        }
        answer.migrated_to = more.text("migrate_to_chat_id");
    }
    return answer;
}

PlatformReply refused_by_telegram(const TelegramAnswer& answer, std::string_view token) {
    if (answer.code == 429) {
        return limited_reply(answer.retry_after.value_or(Duration::of_seconds(1)));
    }
    if (!answer.migrated_to.empty()) {
        return refused_reply(
            refusal_code(answer),
            "The group has become a supergroup; its id is now " +
                quotable(answer.migrated_to, token) + ".");
    }
    return refused_reply(
        refusal_code(answer),
        "Telegram refused this: " + quotable(answer.description, token) + ".");
}

bool is_parse_problem(const TelegramAnswer& answer) {
    return answer.code == 400 && says(answer, "can't parse entities");
}

bool is_too_big(const TelegramAnswer& answer) {
    return answer.code == 400 && says(answer, "file is too big");
}

bool is_webhook_conflict(const TelegramAnswer& answer) {
    return answer.code == 409 && says(answer, "webhook");
}

bool is_not_modified(const TelegramAnswer& answer) {
    return answer.code == 400 && says(answer, "message is not modified");
}

PlatformReply taken_by_telegram(const RelayAction& action, const Json& result) {
    PlatformReply reply = sent_reply();
    if (!result.is_object()) {
        return reply;  // `true`, where there is nothing to tell.
    }
    WireReader in(result);
    if (std::holds_alternative<GetChatInfoAction>(action)) {
        reply.chat_info = ChatInfo{.name = chat_name(in), .type = chat_type(in)};
    } else if (std::holds_alternative<ThreadCreateAction>(action)) {
        reply.thread_id = in.text("message_thread_id");
    } else {
        reply.message_id = in.text("message_id");
    }
    return reply;
}

std::string callback_id_of(const Json& update) {
    const Json* const callback = update.find("callback_query");
    const Json* const id = callback == nullptr ? nullptr : callback->find("id");
    const auto text = id == nullptr ? std::nullopt : id_text(*id);
    return text && text->size() <= kRelayIdBytesMax ? *text : std::string();
}

std::optional<std::vector<TelegramUpdate>> read_updates(Json result) {
    if (!result.is_array()) {
        return std::nullopt;
    }
    std::vector<TelegramUpdate> updates;
    for (Json& item : result.items()) {
        const Json* const id = item.find("update_id");
        const auto number = id != nullptr && id->is_number() ? id->as_int64() : std::nullopt;
        if (!number || *number == std::numeric_limits<std::int64_t>::max()) {
            return std::nullopt;
        }
        std::string callback_id = callback_id_of(item);
        updates.push_back(
            {.id = *number, .json = std::move(item), .callback_id = std::move(callback_id)});
    }
    return updates;
}

std::optional<std::int64_t> update_id_in(std::string_view body) {
    constexpr std::string_view kKey = "\"update_id\":";
    const std::size_t at = body.find(kKey);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    body = trim(body.substr(at + kKey.size()));
    return to_int64(body.substr(0, std::min(body.find_first_not_of("0123456789"), body.size())));
}

std::string username_of(const Json& get_me_result) {
    WireReader in(get_me_result);
    return in.text("username");
}

std::optional<TelegramFile> read_file(const Json& get_file_result) {
    WireReader in(get_file_result);
    TelegramFile file{
        .path = in.required_text("file_path", kRelayUrlBytesMax), .size = in.integer("file_size")};
    return in.ok() ? std::optional(std::move(file)) : std::nullopt;
}

}  // namespace interlock
