// The people's side of the console platform ("local"): what `interlock chat` and tests say, press
// and read. The bot's side is its ChatPlatform.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "relay/ports/chat_platform.h"
#include "relay/wire/relay_action.h"

namespace interlock {

struct ConsoleMessage {
    std::string chat_id;
    std::string message_id;
    // Grows with every message and every change to one, over all chats.
    std::int64_t change = 0;
    std::string user;  // Empty: the bot.
    std::string text;
    std::string thread_id;
    std::string reply_to;
    int edits = 0;
    std::string prompt_id;  // With options: a question.
    std::vector<PromptOption> options;
    std::string media_kind;
    std::string media_url;  // Empty with a kind: the bytes were handed over.
    std::size_t media_bytes = 0;
    std::vector<std::string> reactions;  // Of the bot, in their order.
};

struct ConsoleSay {
    std::string user;
    std::string chat_id;  // "dm:<user>", or a room.
    std::string text;
    std::string thread_id;
    std::string reply_to;
};

struct ConsolePress {
    std::string user;
    std::string chat_id;
    std::string prompt_message_id;
    std::string option_id;
};

// Any thread.
class ConsoleChat {
public:
    virtual ~ConsoleChat() = default;

    virtual const BotKey& console_bot() const = 0;
    // `done` is called once, as PlatformInbox says, with the id of what arrived; it may be called
    // before these return. The answer is that id, too; `invalid_request` when it cannot be said,
    // `unavailable` before start() and after stop(): `done` is then never called.
    using Done = std::function<void(const std::string& id, const InboxAnswer&)>;
    virtual Result<std::string> say(const ConsoleSay& said, Done done) = 0;
    virtual Result<std::string> press(const ConsolePress& pressed, Done done) = 0;
    // Messages of a chat that are new or changed since `change`, in the order of their last change.
    virtual std::vector<ConsoleMessage> changes(
        const std::string& chat_id, std::int64_t change, std::size_t count_max) const = 0;
};

}  // namespace interlock
