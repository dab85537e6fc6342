// MessageEvent: one message of a chat as the gateways read it. The June client reads the first
// seven keys and ignores the others, which are for newer ones.
// docs/contracts/relay-connector.md#3-messageevent has the table.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "relay/wire/session_source.h"

namespace interlock {

inline constexpr std::size_t kEventMediaMax = 64;
inline constexpr std::size_t kEventContextMax = 100;

enum class MessageType {
    text,
    location,
    photo,
    video,
    audio,
    voice,
    document,
    sticker,
    command,
};
inline constexpr std::array<std::string_view, 9> kMessageTypeWords = {
    "text", "location", "photo", "video", "audio", "voice", "document", "sticker", "command"};
std::string_view to_word(MessageType type);
// A word that the clients do not know is `text` to them.
MessageType message_type_of(std::string_view word);

struct RepliedMessage {
    std::string text;
    std::string author;
    bool is_own = false;  // Written by the bot itself.
    friend bool operator==(const RepliedMessage&, const RepliedMessage&) = default;
};

struct PromptResponse {
    std::string prompt_id;
    std::string option_id;
    std::string label;
    std::string prompt_message_id;
    friend bool operator==(const PromptResponse&, const PromptResponse&) = default;
};

struct MediaItem {
    std::string url;
    std::string kind;
    std::string mime;
    std::optional<std::int64_t> size;  // In bytes.
    std::string filename;
    std::string caption;
    friend bool operator==(const MediaItem&, const MediaItem&) = default;
};

struct ContextLine {
    std::string text;
    std::string user_name;
    std::string user_id;
    friend bool operator==(const ContextLine&, const ContextLine&) = default;
};

struct MessageEvent {
    std::string text;
    MessageType type = MessageType::text;
    // Unique per event of a chat: newer clients drop a second one with the same id.
    std::string message_id;
    std::string reply_to_message_id;
    std::vector<std::string> media_urls;
    std::string bot_id;  // Which of the platform's bots heard it.
    SessionSource source;
    std::optional<RepliedMessage> reply_to;
    std::optional<PromptResponse> prompt_response;
    std::vector<MediaItem> media;
    std::vector<ContextLine> context;
    std::string context_error;

    friend bool operator==(const MessageEvent&, const MessageEvent&) = default;
};

Result<MessageEvent> decode_message_event(const Json& json);
Json encode(const MessageEvent& event);

}  // namespace interlock
