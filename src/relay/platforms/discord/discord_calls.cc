#include "relay/platforms/discord/discord_calls.h"

#include "relay/platforms/discord/discord_requests.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

constexpr std::int64_t kDirectMessage = 1;

std::string text_of(const Json& object, std::string_view key) {
    const Json* const found = object.find(key);
    return found != nullptr ? id_text(*found).value_or("") : "";
}

PlatformReply reply_of(const RestAnswer& answer) {
    PlatformReply reply;
    reply.outcome = answer.outcome;
    reply.error = answer.error;
    reply.code = answer.code;
    reply.retry_after = answer.retry_after;
    return reply;
}

std::string_view chat_type_of(std::int64_t type) {
    switch (type) {
        case kDirectMessage:
            return "dm";
        case 10:
        case 11:
        case 12:
            return "thread";
        case 15:
        case 16:
            return "forum";
        default:
            return "group";
    }
}

// Why a rename's condition does not hold; nothing: it does.
std::optional<PlatformReply> rename_problem(
    DiscordRest& rest, const PlatformCall& call, const DiscordSelf& self) {
    const auto* const rename = std::get_if<ThreadRenameAction>(&call.action);
    if (rename == nullptr ||
        (!rename->only_if_connector_created && rename->only_if_current_name.empty())) {
        return std::nullopt;
    }
    if (!is_snowflake(rename->thread_id)) {
        return discord_refusal("invalid_request", "The thread is not an id of Discord's.");
    }
    const RestAnswer thread = rest.run(
        rest_get(
            "/channels/" + rename->thread_id,
            {.route = "GET /channels/{}", .major = rename->thread_id}),
        call.not_after);
    if (thread.outcome != CallOutcome::sent) {
        return reply_of(thread);
    }
    const bool is_wrong_owner =
        rename->only_if_connector_created && text_of(thread.body, "owner_id") != self.user_id;
    const bool is_wrong_name = !rename->only_if_current_name.empty() &&
                               text_of(thread.body, "name") != rename->only_if_current_name;
    if (is_wrong_owner || is_wrong_name) {
        return discord_refusal("condition_failed", "The thread is not the one that was meant.");
    }
    return std::nullopt;
}

}  // namespace

ChatInfo chat_info_of(const Json& channel) {
    const Json* const type = channel.find("type");
    ChatInfo info{
        .name = text_of(channel, "name"),
        .type = std::string(
            chat_type_of(type != nullptr && type->is_number() ? type->as_int64().value_or(0) : 0))};
    const Json* const people = channel.find("recipients");
    if (info.name.empty() && people != nullptr && people->is_array() && !people->items().empty()) {
        const Json& other = people->items().front();
        info.name = text_of(other, "global_name");
        info.name = info.name.empty() ? text_of(other, "username") : info.name;
    }
    return info;
}

PlatformReply run_discord_call(
    DiscordRest& rest, const PlatformCall& call, const DiscordSelf& self) {
    const auto request = discord_request(call, self.application_id);
    if (!request) {
        return request.error();
    }
    if (const auto* const typing = std::get_if<TypingAction>(&call.action);
        typing != nullptr && typing->is_clear) {
        PlatformReply nothing_to_do;  // Discord takes the sign away by itself.
        nothing_to_do.outcome = CallOutcome::sent;
        return nothing_to_do;
    }
    if (auto problem = rename_problem(rest, call, self)) {
        return *std::move(problem);
    }
    const RestAnswer answer = rest.run(*request, call.not_after);
    PlatformReply reply = reply_of(answer);
    if (answer.outcome != CallOutcome::sent) {
        return reply;
    }
    if (std::holds_alternative<GetChatInfoAction>(call.action)) {
        reply.chat_info = chat_info_of(answer.body);
    } else if (std::holds_alternative<ThreadCreateAction>(call.action)) {
        reply.thread_id = text_of(answer.body, "id");
    } else if (const auto* const rename = std::get_if<ThreadRenameAction>(&call.action)) {
        reply.thread_id = rename->thread_id;
    } else {
        reply.message_id = text_of(answer.body, "id");
    }
    return reply;
}

}  // namespace interlock
