#include "relay/face/console_operations.h"

#include "base/errors.h"
#include "codec/field_reader.h"
#include "codec/json_list.h"
#include "host/face/call_arguments.h"
#include "relay/face/relay_operations.h"
#include "relay/face/relay_schemas.h"
#include "relay/service/relay_inbound.h"

namespace interlock {
namespace {

constexpr std::size_t kNameBytesMax = 128;
constexpr std::size_t kTextBytesMax = 64 * 1024;

std::string name_of(FieldReader& in, std::string_view key) {
    return in.required_text(key, {.length_min = 1, .length_max = kNameBytesMax});
}

Json json_of(const ConsoleMessage& message) {
    Json options = Json::array();
    for (const PromptOption& option : message.options) {
        options.push(
            Json::object({{"id", option.id}, {"label", option.label}, {"style", option.style}}));
    }
    return Json::object(
        {{"chat_id", message.chat_id},
         {"message_id", message.message_id},
         {"change", message.change},
         {"user", message.user},
         {"text", message.text},
         {"thread_id", message.thread_id},
         {"reply_to", message.reply_to},
         {"edits", message.edits},
         {"options", std::move(options)},
         {"media_kind", message.media_kind},
         {"media_url", message.media_url},
         {"media_bytes", message.media_bytes},
         {"reactions", json_list(message.reactions)}});
}

Result<ApiReply> said_reply(const BotKey& bot, const std::string& id, const InboxAnswer& answer) {
    if (!answer.is_stored) {
        auto refusal = fail(
            errors::unavailable,
            "The relay could not store this; it was not said.",
            "Wait for Retry-After seconds, then say it again.");
        refusal.error().retry_after_seconds = 1;
        return refusal;
    }
    return json_reply(
        200,
        Json::object(
            {{"event", event_key_of(bot, id)},
             {"message_id", id},
             {"is_delivered", answer.is_delivered},
             {"notice", answer.notice}}));
}

template <class Said>
void hand_in(
    ConsoleChat& console,
    const Result<Said>& decoded,
    Result<std::string> (ConsoleChat::*act)(const Said&, ConsoleChat::Done),
    const ApiReplyTo& reply) {
    if (!decoded) {
        reply(std::unexpected(decoded.error()));
        return;
    }
    const BotKey bot = console.console_bot();
    auto said =
        (console.*act)(*decoded, [bot, reply](const std::string& id, const InboxAnswer& answer) {
            reply(said_reply(bot, id, answer));
        });
    if (!said) {
        reply(std::unexpected(std::move(said).error()));
    }
}

Result<ConsoleSay> decode_say(const ApiCall& call) {
    FieldReader in(call.body);
    ConsoleSay said;
    said.user = name_of(in, "user");
    said.chat_id = name_of(in, "chat_id");
    said.text = in.required_text("text", {.length_min = 1, .length_max = kTextBytesMax});
    in.reject_unknown();
    return in.finish(std::move(said));
}

Result<ConsolePress> decode_press(const ApiCall& call) {
    FieldReader in(call.body);
    ConsolePress pressed;
    pressed.user = name_of(in, "user");
    pressed.chat_id = name_of(in, "chat_id");
    pressed.prompt_message_id = name_of(in, "message_id");
    pressed.option_id = name_of(in, "option_id");
    in.reject_unknown();
    return in.finish(std::move(pressed));
}

void read(ConsoleChat& console, const ApiCall& call, const ApiReplyTo& reply) {
    const auto chat = call.query.find("chat_id");
    if (chat == call.query.end() || chat->second.empty()) {
        Error error = fail(errors::invalid_request, "The query parameters are not valid.").error();
        error.problems.push_back({"chat_id", "is required"});
        reply(std::unexpected(std::move(error)));
        return;
    }
    const std::int64_t after = query_integer(call, "after", 0);
    const auto changed =
        console.changes(chat->second, after, static_cast<std::size_t>(kConsoleChangesMax));
    Json messages = Json::array();
    for (const ConsoleMessage& message : changed) {
        messages.push(json_of(message));
    }
    reply(json_reply(
        200,
        Json::object(
            {{"messages", std::move(messages)},
             {"next", changed.empty() ? after : changed.back().change}})));
}

}  // namespace

void register_console_operations(OperationTable& table, ConsoleChat& console) {
    table.add({
        .id = "say_on_console",
        .method = "POST",
        .path = "/api/relay/console/say",
        .summary = "Say something on the console platform, as any user.",
        .description = "Answers when the relay has stored it; `is_delivered` says whether an "
                       "instance gets it.",
        .access = kRelayOperator,
        .request_schema = relay_request_schema({{"user"}, {"chat_id"}, {"text"}}),
        .answer_schema = console_said_schema(),
        .handle =
            [&console](const ApiCall& call, const ApiReplyTo& reply) {
                hand_in(console, decode_say(call), &ConsoleChat::say, reply);
            },
    });
    table.add({
        .id = "press_on_console",
        .method = "POST",
        .path = "/api/relay/console/press",
        .summary = "Press a button of a question on the console platform.",
        .description = "An agent's question hears it once; users of the console never approve "
                       "anything of a real venue by it.",
        .access = kRelayOperator,
        .request_schema =
            relay_request_schema({{"user"}, {"chat_id"}, {"message_id"}, {"option_id"}}),
        .answer_schema = console_said_schema(),
        .handle =
            [&console](const ApiCall& call, const ApiReplyTo& reply) {
                hand_in(console, decode_press(call), &ConsoleChat::press, reply);
            },
    });
    table.add({
        .id = "read_console",
        .method = "GET",
        .path = "/api/relay/console/messages",
        .summary = "Read what is new or changed in a chat of the console platform.",
        .description = "At most 100; read on with `after` = `next`. What the process forgot (500 "
                       "messages a chat) is gone.",
        .access = kRelayOperator,
        .query =
            {{"chat_id", "`dm:<user>` or a room; required.", Json::object({{"type", "string"}})},
             {"after",
              "The `next` of the answer before.",
              Json::object(
                  {{"type", "integer"}, {"minimum", 0}, {"maximum", std::int64_t{1} << 53U}})}},
        .request_schema = {},
        .answer_schema = console_messages_schema(),
        .handle = [&console](
                      const ApiCall& call, const ApiReplyTo& reply) { read(console, call, reply); },
    });
}

}  // namespace interlock
