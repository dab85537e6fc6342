// One bot on one chat platform: its socket, poll or webhook on the way in, its REST calls on the
// way out. The platform's secrets stay behind this port.
//
// conformance/ports/chat_platform_suite.h holds every implementation to these words.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/result.h"
#include "base/secret_string.h"
#include "base/time.h"
#include "relay/rules/platform_event.h"
#include "relay/rules/webhook_signature.h"
#include "relay/wire/descriptor.h"
#include "relay/wire/relay_action.h"
#include "relay/wire/relay_frame.h"

namespace interlock {

struct BotKey {
    std::string platform;  // "discord", "telegram", "sms", "wecom", "local"
    std::string bot_id;
    friend auto operator<=>(const BotKey&, const BotKey&) = default;
};

// One thing that came from a platform.
struct PlatformArrival {
    BotKey bot;
    PlatformEvent event;
    // Set: gateways get this sanitised request as passthrough_forward instead of the event (a
    // Discord command). The event beside it still decides who gets it.
    std::optional<PassthroughForward> forward;
    // Where the platform's stream stands after this arrival (a Discord sequence). Stored with it.
    std::string cursor;
};

struct InboxAnswer {
    // True: durable, or known already: the platform may be told. False: overloaded, stopping or
    // full; the platform should send it again.
    bool is_stored = false;
    // At least one instance will get it. A caller that showed its user a "thinking…" shows him
    // `notice` instead when nobody will answer.
    bool is_delivered = false;
    std::string notice;  // One sentence for the user; may be empty.
};

// Where arrivals go. Any thread. `done` is called exactly once, from any thread, and for arrivals
// of one bot in their order.
class PlatformInbox {
public:
    virtual ~PlatformInbox() = default;
    virtual void submit(PlatformArrival arrival, std::function<void(InboxAnswer)> done) = 0;
    // The stream's last stored position without an event: something that needs no delivery passed.
    virtual void note_cursor(const BotKey& bot, std::string cursor) = 0;
};

// One call to the platform: a message of ours already fits (splitting is the caller's), and its
// target was judged by the egress guard.
struct PlatformCall {
    RelayAction action;  // send, edit, typing, get_chat_info, send_media, prompt, react, thread_…
    std::string thread_id;  // Of the target, from our own record.
    // For the platform's own de-duplication where it has one (Discord's nonce); at most 25
    // characters.
    std::string nonce;
    // A capability of the vault to answer with, in place of the bot's own credential.
    std::string capability_kind;
    SecretString capability;
    bool edits_original = false;  // With a capability: replace the deferred "thinking…" message.
    // Bytes to upload for send_media when the source is one of our own /relay/media.
    std::string media_bytes;
    std::string media_type;
    Timestamp not_after;  // No try begins after this.
};

enum class CallOutcome {
    sent,
    not_sent,  // Certainly not: refused, or never left.
    unknown,   // It left and no complete answer came (I4). Never tried again by itself.
};
struct PlatformReply {
    CallOutcome outcome = CallOutcome::not_sent;
    std::string message_id;
    std::string thread_id;
    std::optional<ChatInfo> chat_info;
    std::string error;  // One plain sentence, without secrets.
    std::string code;   // "rate_limited", "not_found", "forbidden", "too_long", "unsupported", …
    // With not_sent: it may be tried again after this long. Nothing: trying again is no use.
    std::optional<Duration> retry_after;
};

// What a webhook is answered with, and what came of it.
struct WebhookAnswer {
    int status = 200;
    std::string content_type;
    std::string body;
    // Not empty: the answer goes out only after these are stored; 503 when they are not.
    std::vector<PlatformArrival> arrivals;
    // Replaces `body` when nobody will get the arrivals (an interaction's private notice).
    std::function<std::string(const InboxAnswer&)> undelivered_body;
    std::string refusal;  // Why it was refused; empty: it was not.
};

struct ViewQuestion {
    std::string guild_id;
    std::string channel_id;
    std::string parent_channel_id;  // Of a thread.
    std::string user_id;
};

// A file of a message, asked of the platform with the bot's credential.
struct FileQuestion {
    PlatformFile file;
    std::size_t bytes_max = 0;
    Duration timeout;  // Of each call to the platform.
};
struct DownloadedFile {
    std::string bytes;
    std::string content_type;  // As the platform says; may be empty.
    std::string filename;
};

struct PlatformHealth {
    bool is_connected = false;  // Receives now.
    bool is_broken = false;     // Will not come back by itself (wrong token, forbidden intents).
    std::string detail;
};

class ChatPlatform {
public:
    virtual ~ChatPlatform() = default;

    virtual const BotKey& bot() const = 0;
    virtual BotIdentity identity() const = 0;  // Any thread.
    virtual CapabilityDescriptor descriptor() const = 0;
    virtual LengthUnit length_unit() const = 0;  // For splitting; may be bytes.
    // For splitting: what one message may hold, in those units. The descriptor's length is told to
    // clients, who know no bytes, and may be smaller.
    virtual std::size_t length_limit() const {
        return static_cast<std::size_t>(descriptor().max_message_length);
    }
    virtual PlatformHealth health() const = 0;  // Any thread.

    // Begins receiving. `cursor` is the last stored one, empty at first. `inbox` outlives stop().
    virtual void start(PlatformInbox& inbox, std::string cursor) = 0;
    virtual void stop() = 0;  // Returns when no thread of it runs any more.

    // Blocking, from several threads at once but never twice at a time for one chat. Waits for rate
    // limits itself up to `not_after`.
    virtual PlatformReply call(const PlatformCall& call) = 0;

    // A request to /webhooks/{platform}/{bot_id}; on a network thread, so it must not block.
    virtual WebhookAnswer receive(const WebhookRequest& request) = 0;

    // Whether a member can see a channel. `cached_view` never blocks: nothing means "not known
    // without asking". `find_view` may ask the platform; nothing means that it could not be found
    // out (I5: counts as no). Platforms without such permissions answer true.
    virtual std::optional<bool> cached_view(const ViewQuestion& question) const = 0;
    virtual std::optional<bool> find_view(const ViewQuestion& question) = 0;

    // Blocking, from several threads; soon after stop() it ends. `body_too_large`; `not_found` when
    // the platform has it no more; `unavailable` when another try may help.
    virtual Result<DownloadedFile> download(const FileQuestion&) {
        return fail(errors::not_found, "This platform has no files to fetch.");
    }
};

}  // namespace interlock
