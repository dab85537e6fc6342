#include "relay/wire/relay_action.h"

#include <algorithm>
#include <array>

#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 5> kMediaKinds = {
    "image", "voice", "audio", "video", "document"};

Json metadata_of(WireReader& in) {
    const Json* const metadata = in.object("metadata");
    return metadata == nullptr ? Json::object() : *metadata;
}

Json metadata_json(const Json& metadata) {
    return metadata.is_object() ? metadata : Json::object();
}

// Code points, for limits that platforms count that way.
std::size_t character_count(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string thread_name_of(WireReader& in) {
    std::string name = in.required_text("thread_name", kRelayNameBytesMax);
    if (character_count(name) > kThreadNameCharactersMax) {
        in.add_problem("thread_name", "is longer than 100 characters");
    }
    return name;
}

RelayAction read_send(WireReader& in) {
    return SendAction{
        .chat_id = in.required_text("chat_id"),
        .content = in.text("content", kRelayTextBytesMax),
        .reply_to = in.text("reply_to"),
        .metadata = metadata_of(in)};
}

RelayAction read_edit(WireReader& in) {
    return EditAction{
        .chat_id = in.required_text("chat_id"),
        .message_id = in.required_text("message_id"),
        .content = in.text("content", kRelayTextBytesMax),
        .metadata = metadata_of(in)};
}

RelayAction read_typing(WireReader& in, const Json& json) {
    const Json* const content = json.find("content");
    return TypingAction{
        .chat_id = in.required_text("chat_id"),
        .is_clear = content != nullptr && content->is_string() && content->as_string().empty(),
        .metadata = metadata_of(in)};
}

RelayAction read_follow_up(WireReader& in) {
    return FollowUpAction{
        .session_key = in.required_text("session_key", kSessionKeyBytesMax),
        .kind = in.required_text("kind"),
        .content = in.text("content", kRelayTextBytesMax),
        .metadata = metadata_of(in)};
}

RelayAction read_send_media(WireReader& in) {
    SendMediaAction action{
        .chat_id = in.required_text("chat_id"),
        .media_kind = in.required_text("media_kind"),
        .source_url = in.required_text("source_url", kRelayUrlBytesMax),
        .content = in.text("content", kRelayTextBytesMax),
        .reply_to = in.text("reply_to"),
        .filename = in.text("filename", kRelayNameBytesMax),
        .metadata = metadata_of(in)};
    if (std::ranges::find(kMediaKinds, action.media_kind) == kMediaKinds.end()) {
        in.add_problem("media_kind", "must be one of image, voice, audio, video, document");
    }
    return action;
}

std::vector<PromptOption> read_options(WireReader& outer) {
    std::vector<PromptOption> options;
    const Json::Array* const items = outer.array("options", kPromptOptionsMax);
    if (items == nullptr || items->empty()) {
        outer.add_problem("options", "is required");
        return options;
    }
    for (const Json& item : *items) {
        WireReader in(item);
        PromptOption option{
            .id = in.required_text("id"),
            .label = in.required_text("label", kRelayNameBytesMax),
            .style = in.text("style")};
        if (!is_prompt_id(option.id)) {
            in.add_problem("id", "must be 1 to 32 of A-Z a-z 0-9 _ . -");
        }
        if (!in.ok()) {
            outer.add_problem("options:", in.problem());
        }
        options.push_back(std::move(option));
    }
    return options;
}

RelayAction read_prompt(WireReader& in) {
    PromptAction action{
        .chat_id = in.required_text("chat_id"),
        .content = in.text("content", kRelayTextBytesMax),
        .prompt_kind = in.text("prompt_kind"),
        .prompt_id = in.required_text("prompt_id"),
        .options = read_options(in),
        .reply_to = in.text("reply_to"),
        .timeout_seconds = in.integer("timeout_s"),
        .metadata = metadata_of(in)};
    if (!is_prompt_id(action.prompt_id)) {
        in.add_problem("prompt_id", "must be 1 to 32 of A-Z a-z 0-9 _ . -");
    }
    return action;
}

RelayAction read_react(WireReader& in) {
    return ReactAction{
        .chat_id = in.required_text("chat_id"),
        .message_id = in.required_text("message_id"),
        .emoji = in.required_text("emoji"),
        .remove = in.flag("remove"),
        .metadata = metadata_of(in)};
}

RelayAction read_thread_create(WireReader& in) {
    return ThreadCreateAction{
        .chat_id = in.required_text("chat_id"),
        .thread_name = thread_name_of(in),
        .metadata = metadata_of(in),
        .message_id = in.text("message_id")};
}

RelayAction read_thread_rename(WireReader& in) {
    return ThreadRenameAction{
        .chat_id = in.required_text("chat_id"),
        .thread_id = in.required_text("message_id"),
        .thread_name = thread_name_of(in),
        .only_if_connector_created = in.flag("only_if_connector_created"),
        .only_if_current_name = in.text("only_if_current_name", kRelayNameBytesMax),
        .metadata = metadata_of(in)};
}

RelayAction read_action(const std::string& op, WireReader& in, const Json& json) {
    if (op == "send") {
        return read_send(in);
    }
    if (op == "edit") {
        return read_edit(in);
    }
    if (op == "typing") {
        return read_typing(in, json);
    }
    if (op == "follow_up") {
        return read_follow_up(in);
    }
    if (op == "get_chat_info") {
        return GetChatInfoAction{.chat_id = in.required_text("chat_id")};
    }
    if (op == "send_media") {
        return read_send_media(in);
    }
    if (op == "prompt") {
        return read_prompt(in);
    }
    if (op == "react") {
        return read_react(in);
    }
    if (op == "thread_create") {
        return read_thread_create(in);
    }
    if (op == "thread_rename") {
        return read_thread_rename(in);
    }
    return UnknownAction{.op = op};
}

// The fields after "op"; the caller puts that in front.
Json fields_of(const SendAction& action) {
    return Json::object({
        {"chat_id", action.chat_id},
        {"content", action.content},
        {"reply_to", text_or_null(action.reply_to)},
        {"metadata", metadata_json(action.metadata)},
    });
}

Json fields_of(const EditAction& action) {
    return Json::object({
        {"chat_id", action.chat_id},
        {"message_id", action.message_id},
        {"content", action.content},
        {"metadata", metadata_json(action.metadata)},
    });
}

Json fields_of(const TypingAction& action) {
    Json json =
        Json::object({{"chat_id", action.chat_id}, {"metadata", metadata_json(action.metadata)}});
    if (action.is_clear) {
        json.set("content", "");
    }
    return json;
}

Json fields_of(const FollowUpAction& action) {
    return Json::object({
        {"session_key", action.session_key},
        {"kind", action.kind},
        {"content", action.content},
        {"metadata", metadata_json(action.metadata)},
    });
}

Json fields_of(const GetChatInfoAction& action) {
    return Json::object({{"chat_id", action.chat_id}});
}

Json fields_of(const SendMediaAction& action) {
    Json json = Json::object({
        {"chat_id", action.chat_id},
        {"media_kind", action.media_kind},
        {"source_url", action.source_url},
        {"content", action.content},
        {"reply_to", text_or_null(action.reply_to)},
        {"metadata", metadata_json(action.metadata)},
    });
    set_unless_empty(json, "filename", action.filename);
    return json;
}

Json fields_of(const PromptAction& action) {
    Json options = Json::array();
    for (const PromptOption& option : action.options) {
        Json item = Json::object({{"id", option.id}, {"label", option.label}});
        set_unless_empty(item, "style", option.style);
        options.push(std::move(item));
    }
    Json json = Json::object({
        {"chat_id", action.chat_id},
        {"content", action.content},
        {"prompt_kind", action.prompt_kind},
        {"prompt_id", action.prompt_id},
        {"options", std::move(options)},
        {"reply_to", text_or_null(action.reply_to)},
        {"metadata", metadata_json(action.metadata)},
    });
    if (action.timeout_seconds) {
        json.set("timeout_s", *action.timeout_seconds);
    }
    return json;
}

Json fields_of(const ReactAction& action) {
    return Json::object({
        {"chat_id", action.chat_id},
        {"message_id", action.message_id},
        {"emoji", action.emoji},
        {"remove", action.remove},
        {"metadata", metadata_json(action.metadata)},
    });
}

Json fields_of(const ThreadCreateAction& action) {
    Json json = Json::object({
        {"chat_id", action.chat_id},
        {"thread_name", action.thread_name},
        {"metadata", metadata_json(action.metadata)},
    });
    if (!action.message_id.empty()) {
        json.set("message_id", action.message_id);
    }
    return json;
}

Json fields_of(const ThreadRenameAction& action) {
    Json json = Json::object({
        {"chat_id", action.chat_id},
        {"message_id", action.thread_id},
        {"thread_name", action.thread_name},
        {"metadata", metadata_json(action.metadata)},
    });
    if (action.only_if_connector_created) {
        json.set("only_if_connector_created", true);
    }
    set_unless_empty(json, "only_if_current_name", action.only_if_current_name);
    return json;
}

Json fields_of(const UnknownAction&) {
    return Json::object();
}

}  // namespace

bool is_prompt_id(std::string_view text) {
    return !text.empty() && text.size() <= kPromptIdBytesMax &&
           std::ranges::all_of(text, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '.' || c == '-';
           });
}

std::string_view op_of(const RelayAction& action) {
    static constexpr std::array<std::string_view, 10> kOps = {
        "send",
        "edit",
        "typing",
        "follow_up",
        "get_chat_info",
        "send_media",
        "prompt",
        "react",
        "thread_create",
        "thread_rename"};
    if (const auto* const unknown = std::get_if<UnknownAction>(&action)) {
        return unknown->op;
    }
    return kOps[action.index()];
}

Result<RelayAction> decode_action(const Json& json) {
    WireReader in(json);
    const std::string op = in.required_text("op");
    RelayAction action = read_action(op, in, json);
    return in.finish(std::move(action));
}

Json encode(const RelayAction& action) {
    Json json = Json::object({{"op", op_of(action)}});
    Json fields = std::visit([](const auto& held) { return fields_of(held); }, action);
    for (Json::Member& member : fields.members()) {
        json.set(std::move(member.first), std::move(member.second));
    }
    return json;
}

Json encode(const OutboundResult& result) {
    Json json = Json::object({{"success", result.success}});
    set_unless_empty(json, "message_id", result.message_id);
    set_unless_empty(json, "error", result.error);
    set_unless_empty(json, "code", result.code);
    if (result.ambiguous) {
        json.set("ambiguous", true);
    }
    set_unless_empty(json, "thread_id", result.thread_id);
    if (result.chat_info) {
        json.set(
            "chat_info",
            Json::object({{"name", result.chat_info->name}, {"type", result.chat_info->type}}));
        json.set("name", result.chat_info->name);
        json.set("type", result.chat_info->type);
    }
    return json;
}

Result<OutboundResult> decode_outbound_result(const Json& json) {
    WireReader in(json);
    OutboundResult result{
        .success = in.flag("success"),
        .message_id = in.text("message_id"),
        .error = in.text("error", kRelayTextBytesMax),
        .code = in.text("code"),
        .ambiguous = in.flag("ambiguous"),
        .thread_id = in.text("thread_id"),
        .chat_info = std::nullopt,
    };
    if (const Json* const info = in.object("chat_info")) {
        WireReader chat(*info);
        result.chat_info =
            ChatInfo{.name = chat.text("name", kRelayNameBytesMax), .type = chat.text("type")};
        if (!chat.ok()) {
            in.add_problem("chat_info:", chat.problem());
        }
    }
    return in.finish(std::move(result));
}

OutboundResult egress_declined(std::string_view platform) {
    OutboundResult result;
    result.code = "egress_declined";
    result.error = std::string(platform) +
                   " egress declined: target is not an approved destination for this connection";
    return result;
}

}  // namespace interlock
