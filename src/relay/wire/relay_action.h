// What a gateway asks of a chat, and what it is told about it.
// docs/contracts/relay-connector.md#5-actions-and-results
//
// `metadata` is kept for its hints (threads, formats). The guild, the user and the tenant in it are
// assertions of the gateway: nothing is decided by them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace interlock {

inline constexpr std::size_t kPromptOptionsMax = 25;  // What a Discord message can show.
inline constexpr std::size_t kThreadNameCharactersMax = 100;
// Prompt and option ids: 1 to 32 of A-Z a-z 0-9 _ . -
inline constexpr std::size_t kPromptIdBytesMax = 32;
bool is_prompt_id(std::string_view text);

struct SendAction {
    std::string chat_id;
    std::string content;
    std::string reply_to;
    Json metadata;
};
struct EditAction {
    std::string chat_id;
    std::string message_id;
    std::string content;
    Json metadata;
};
struct TypingAction {
    std::string chat_id;
    bool is_clear = false;  // Slack only: an empty content takes the status away.
    Json metadata;
};
struct FollowUpAction {
    std::string session_key;
    std::string kind;  // "discord.interaction_token"
    std::string content;
    Json metadata;
};
struct GetChatInfoAction {
    std::string chat_id;
};
struct SendMediaAction {
    std::string chat_id;
    std::string media_kind;  // image, voice, audio, video, document
    std::string source_url;
    std::string content;
    std::string reply_to;
    std::string filename;
    Json metadata;
};
struct PromptOption {
    std::string id;
    std::string label;
    std::string style;
};
struct PromptAction {
    std::string chat_id;
    std::string content;
    std::string prompt_kind;
    std::string prompt_id;
    std::vector<PromptOption> options;
    std::string reply_to;
    std::optional<std::int64_t> timeout_seconds;
    Json metadata;
};
struct ReactAction {
    std::string chat_id;
    std::string message_id;
    std::string emoji;
    bool remove = false;
    Json metadata;
};
struct ThreadCreateAction {
    std::string chat_id;
    std::string thread_name;
    Json metadata;
    std::string message_id = {};  // The message that it hangs at; empty: none.
};
struct ThreadRenameAction {
    std::string chat_id;
    std::string thread_id;  // "message_id" on the wire.
    std::string thread_name;
    bool only_if_connector_created = false;
    std::string only_if_current_name;
    Json metadata;
};
// An op of a newer client. It is answered with a failure, never guessed at.
struct UnknownAction {
    std::string op;
};

using RelayAction = std::variant<
    SendAction,
    EditAction,
    TypingAction,
    FollowUpAction,
    GetChatInfoAction,
    SendMediaAction,
    PromptAction,
    ReactAction,
    ThreadCreateAction,
    ThreadRenameAction,
    UnknownAction>;

std::string_view op_of(const RelayAction& action);
Result<RelayAction> decode_action(const Json& json);
// As the newest client writes it.
Json encode(const RelayAction& action);

struct ChatInfo {
    std::string name;
    std::string type;
};

struct OutboundResult {
    bool success = false;
    std::string message_id;
    std::string error;
    std::string code;
    bool ambiguous = false;  // It may or may not have been sent (I4).
    std::string thread_id;
    std::optional<ChatInfo> chat_info;  // Written as an object and beside it: clients read either.
};
Json encode(const OutboundResult& result);
Result<OutboundResult> decode_outbound_result(const Json& json);

// What a refused target is answered with, word for word as clients look for it.
OutboundResult egress_declined(std::string_view platform);

}  // namespace interlock
