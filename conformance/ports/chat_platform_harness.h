// What the chat platform tests stand on: a platform whose far side a test writes down, and the
// parts of a server that a platform expects around it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "relay/ports/chat_platform.h"

namespace interlock {

// How long the far side asks to wait with FarSide::limits_once.
inline constexpr Duration kSuiteLimit = Duration::of_seconds(2);

// What the far side does with calls that send something.
enum class FarSide {
    accepts,
    refuses,      // Definitely not, with a reason that quotes every credential it was shown.
    limits_once,  // Too many: come back after kSuiteLimit. Then it accepts.
    fails,        // An error of its own, which says nothing of the message.
    unreachable,  // Nothing leaves.
    cuts,         // Takes the call and never answers.
};

// One platform under test. The time stands still but for the waits of the platform itself, which
// pass at once.
class ChatPlatformHarness {
public:
    virtual ~ChatPlatformHarness() = default;
    virtual ChatPlatform& platform() = 0;
    virtual Timestamp now() = 0;
    // What must never be seen outside: long words that nothing else contains.
    virtual std::vector<std::string> secrets() const = 0;

    // Chats that can be written to, all different.
    virtual std::string chat_id(int number) const = 0;
    virtual void set_far_side(FarSide behaviour) = 0;
    // Where the far side cannot say how long to wait, what the platform takes that to mean.
    virtual Duration limit_span() const { return kSuiteLimit; }
    virtual std::size_t attempts() = 0;  // Calls with a message that left.
    virtual std::vector<std::string>
    accepted() = 0;  // Texts that the far side has shown, in order.
    // The platform knows a repeated message by its nonce, so one repetition after a cut is safe.
    virtual bool deduplicates() const { return false; }

    // A person writes. It reaches the inbox by the platform's own way: a webhook through
    // post_webhook(), a poll, a socket. Several writes arrive in their order.
    virtual void write(PlatformInbox& inbox, const std::string& text) = 0;
    // The far side sends again whatever it was told was not taken. Nothing to do where the
    // platform fetches by itself.
    virtual void send_again(PlatformInbox& inbox) = 0;

    // A request as the platform sends it; nothing when this one has no webhook.
    virtual std::optional<WebhookRequest> webhook(const std::string& text) {
        static_cast<void>(text);
        return std::nullopt;
    }
    // The same from somebody who does not know the secret.
    virtual std::optional<WebhookRequest> forged_webhook(const std::string& text) {
        static_cast<void>(text);
        return std::nullopt;
    }
};

struct ChatPlatformKind {
    std::string name;
    std::function<std::unique_ptr<ChatPlatformHarness>()> make;
};

// Keeps what it is given, and says that it stored it unless told otherwise.
class SuiteInbox final : public PlatformInbox {
public:
    struct Seen {
        BotKey bot;
        std::string event_id;
        MessageEvent event;
        std::string everything;  // All its texts, to look for secrets in.
        bool is_stored = false;
    };

    void submit(PlatformArrival arrival, std::function<void(InboxAnswer)> done) override {
        Seen seen{
            .bot = arrival.bot,
            .event_id = arrival.event.event_id,
            .event = arrival.event.event,
            .everything = arrival.cursor + to_text(encode(arrival.event.event)) +
                          arrival.event.prompt_button};
        if (arrival.forward) {
            seen.everything += arrival.forward->path + arrival.forward->body;
        }
        InboxAnswer answer;
        {
            const std::lock_guard lock(mutex_);
            answer.is_stored = to_refuse_ == 0;
            answer.is_delivered = answer.is_stored;
            to_refuse_ -= to_refuse_ > 0 ? 1 : 0;
            seen.is_stored = answer.is_stored;
            seen_.push_back(std::move(seen));
        }
        // Before anybody is told, so that a test which saw the last arrival may end.
        done(answer);
        const std::lock_guard lock(mutex_);
        ++answered_;
        changed_.notify_all();
    }
    void note_cursor(const BotKey&, std::string) override {}

    void refuse_next(std::size_t count) {
        const std::lock_guard lock(mutex_);
        to_refuse_ = count;
    }
    std::vector<Seen> seen() {
        const std::lock_guard lock(mutex_);
        return seen_;
    }
    // False when that many did not arrive in a time that is long enough for anything.
    bool wait_for(std::size_t count) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(
            lock, std::chrono::seconds(20), [&] { return answered_ >= count; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Seen> seen_;
    std::size_t answered_ = 0;
    std::size_t to_refuse_ = 0;
};

// What the server does with a request to a webhook; the status that the platform gets. `inbox` must
// answer at once.
inline int post_webhook(
    ChatPlatform& platform, PlatformInbox& inbox, const WebhookRequest& request) {
    WebhookAnswer answer = platform.receive(request);
    bool are_stored = true;
    for (PlatformArrival& arrival : answer.arrivals) {
        inbox.submit(std::move(arrival), [&are_stored](const InboxAnswer& given) {
            are_stored = are_stored && given.is_stored;
        });
    }
    return are_stored ? answer.status : 503;
}

}  // namespace interlock
