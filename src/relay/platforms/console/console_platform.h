// A chat platform inside the process ("local"): for the demo, for `interlock chat` and for tests.
// People speak through say() and press(); what the bot does is kept and shown to observers.
//
// Chats are "dm:<user>", which only that user and the bot are in, or rooms of any other name. Ids
// are counted from the start of the process, m1, m2, … for messages of people and bot alike, so
// that the same calls give the same ids; `id_prefix` keeps those of two processes apart. Nothing is
// persisted.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ports/clock.h"
#include "relay/platforms/common/call_pace.h"
#include "relay/platforms/common/stoppable_wait.h"
#include "relay/ports/chat_platform.h"
#include "relay/ports/console_chat.h"

namespace interlock {

// Beyond these the oldest is forgotten; a message that is forgotten can no longer be edited.
inline constexpr std::size_t kConsoleMessagesMax = 500;  // In one chat.
inline constexpr std::size_t kConsoleChatsMax = 1'000;
inline constexpr std::size_t kConsoleThreadsMax = 1'000;
inline constexpr std::size_t kConsoleReactionsMax = 20;  // On one message.
// One more observer is refused.
inline constexpr std::size_t kConsoleObserversMax = 64;
inline constexpr std::int64_t kConsoleLengthMax = 4096;
inline constexpr std::size_t kConsoleNameBytesMax = 128;  // Of users and chats.
inline constexpr std::size_t kConsoleSaidBytesMax = 64 * 1024;

// What a test lets happen to calls that send something.
enum class ConsoleFault {
    none,
    refuses,
    limits_once,  // For kConsoleLimit.
    fails,        // Takes nothing, and does not say so.
    unreachable,
    cuts,  // Shows it, and never answers.
};
inline constexpr Duration kConsoleLimit = Duration::of_seconds(2);

class ConsolePlatform final : public ChatPlatform, public ConsoleChat {
public:
    struct Parts {
        std::string bot_id = "console";
        std::string bot_name = "interlock";  // "@interlock" addresses it in a room.
        Clock& clock;
        PlatformWait wait = {};                          // Empty: waits in real time.
        std::size_t messages_max = kConsoleMessagesMax;  // Smaller in tests only.
        std::size_t chats_max = kConsoleChatsMax;
        // Before every id. A store remembers the events of earlier processes, and would take one
        // with a known id for a repeat.
        std::string id_prefix = {};
    };
    explicit ConsolePlatform(Parts parts);

    const BotKey& console_bot() const override { return bot_; }
    Result<std::string> say(const ConsoleSay& said, Done done) override;
    Result<std::string> say(const ConsoleSay& said) { return say(said, Done()); }
    Result<std::string> say(std::string user, std::string chat_id, std::string text);
    Result<std::string> press(const ConsolePress& pressed, Done done) override;
    Result<std::string> press(const ConsolePress& pressed) { return press(pressed, Done()); }
    std::vector<ConsoleMessage> changes(
        const std::string& chat_id, std::int64_t change, std::size_t count_max) const override;
    // Hands something in again that was not stored, under its old id.
    Result<void> send_again(const std::string& id, Done done = {});
    // Ids that were not stored, oldest first; at most kConsoleMessagesMax are remembered.
    std::vector<std::string> not_stored() const;

    // What the chat shows, oldest first.
    std::vector<ConsoleMessage> messages(const std::string& chat_id) const;
    std::optional<ConsoleMessage> find(
        const std::string& chat_id, const std::string& message_id) const;
    std::string thread_name(const std::string& thread_id) const;  // Empty: there is none.
    std::size_t typings(const std::string& chat_id) const;        // How often the bot was typing.

    // Called for each message of the bot and each change to one, in their order for a chat, on the
    // thread that made the call; must not call back. False: there are too many observers.
    using Observer = std::function<void(const ConsoleMessage& message, bool is_edited)>;
    bool observe(std::string name, Observer observer);  // Replaces one of the same name.
    void stop_observing(const std::string& name);

    void set_fault(ConsoleFault fault);
    std::size_t attempts() const { return attempts_; }  // Calls that left, faults included.

    const BotKey& bot() const override { return bot_; }
    BotIdentity identity() const override { return {bot_.bot_id, parts_.bot_name}; }
    CapabilityDescriptor descriptor() const override;
    LengthUnit length_unit() const override { return LengthUnit::code_points; }
    PlatformHealth health() const override;
    void start(PlatformInbox& inbox, std::string cursor) override;
    void stop() override;
    PlatformReply call(const PlatformCall& call) override;
    WebhookAnswer receive(const WebhookRequest& request) override;
    std::optional<bool> cached_view(const ViewQuestion&) const override { return true; }
    std::optional<bool> find_view(const ViewQuestion&) override { return true; }

private:
    // What arrived, in a form that can be handed in twice.
    struct Arrived {
        std::string id;
        MessageEvent event;
        bool addresses_bot = true;
    };
    // Shared with answers that are still to come: those may outlive us.
    struct Refused {
        std::mutex mutex;
        std::deque<Arrived> list;
    };
    struct Chat {
        std::deque<ConsoleMessage> messages;
        std::size_t typings = 0;
        std::uint64_t used = 0;  // Grows with every use; the smallest is the oldest.
    };
    struct Shown {
        PlatformReply reply;
        std::optional<ConsoleMessage> message;
        bool is_edited = false;
    };

    Chat& chat_of_id(const std::string& chat_id);
    ConsoleMessage* find_in(const std::string& chat_id, const std::string& message_id);
    const ConsoleMessage& add(ConsoleMessage message);
    Arrived arrived_of(const ConsoleMessage& message) const;
    void hand_in(Arrived arrived, Done done);

    PlatformReply attempt(const PlatformCall& call);
    std::optional<PlatformReply> faulty(bool& shows);
    Shown perform(const PlatformCall& call);
    Shown send(const SendAction& action, const PlatformCall& call);
    Shown edit(const EditAction& action);
    Shown type(const TypingAction& action);
    Shown tell(const GetChatInfoAction& action);
    Shown send_media(const SendMediaAction& action, const PlatformCall& call);
    Shown prompt(const PromptAction& action, const PlatformCall& call);
    Shown react(const ReactAction& action);
    Shown create_thread(const ThreadCreateAction& action);
    Shown rename_thread(const ThreadRenameAction& action);

    const Parts parts_;
    const BotKey bot_;
    StoppableWait stop_;
    PlatformWait wait_;
    CallPace pace_;
    std::atomic<std::size_t> attempts_ = 0;

    // Held for map steps only; neither the inbox nor an observer is called under it.
    mutable std::mutex mutex_;
    PlatformInbox* inbox_ = nullptr;
    std::uint64_t next_message_ = 1;
    std::uint64_t next_press_ = 1;
    std::uint64_t next_thread_ = 1;
    std::int64_t last_change_ = 0;
    std::uint64_t uses_ = 0;
    std::map<std::string, Chat> chats_;
    std::map<std::string, std::string> threads_;  // Names by id.
    std::map<std::string, Observer> observers_;
    ConsoleFault fault_ = ConsoleFault::none;

    const std::shared_ptr<Refused> refused_ = std::make_shared<Refused>();
    // Held from giving an id to handing it in, so that ids arrive in their order. Recursive,
    // because an inbox that answers at once may make its caller say more.
    std::recursive_mutex submit_mutex_;
};

}  // namespace interlock
