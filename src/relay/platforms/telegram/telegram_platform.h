// A bot of Telegram behind relay/ports/chat_platform.h: messages by long poll or by webhook, calls
// through the Bot API.
//
// No position is stored for the poll. Telegram keeps it itself, repeats what was not confirmed, and
// may begin its numbers anew after a quiet week, when an old position would skip messages.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/bounded_queue.h"
#include "engine/ports/clock.h"
#include "relay/platforms/common/call_pace.h"
#include "relay/platforms/common/platform_call.h"
#include "relay/platforms/common/platform_http.h"
#include "relay/platforms/common/stoppable_wait.h"
#include "relay/platforms/telegram/telegram_api.h"
#include "relay/platforms/telegram/update_order.h"
#include "relay/ports/chat_platform.h"

namespace interlock {

// What Telegram asks bots to keep to.
inline constexpr PaceRule kTelegramPace{.interval = {33'334}, .burst = 30};  // 30 a second.
inline constexpr PaceRule kTelegramChatPace{.interval = Duration::of_seconds(1), .burst = 3};
// Typing and questions are not messages; they have a pace of their own.
inline constexpr PaceRule kTelegramQuietPace{
    .interval = Duration::of_milliseconds(200), .burst = 5};

inline constexpr std::int64_t kTelegramPollSeconds = 25;
inline constexpr std::size_t kTelegramPollBytesMax = std::size_t{16} * 1024 * 1024;
inline constexpr Duration kTelegramPauseMin = Duration::of_seconds(1);
inline constexpr Duration kTelegramPauseMax = Duration::of_minutes(1);
// Notices for pressed buttons that wait; more are dropped, and the button spins a while.
inline constexpr std::size_t kTelegramNoticesMax = 1'000;

struct TelegramConfig {
    std::string bot_id;  // The number before the token's colon.
    SecretString token;
    std::string username;  // Empty: asked at start.
    std::string api_base = "https://api.telegram.org";
    // The whole address of this bot's webhook, as Telegram will call it. Empty: long poll.
    std::string public_url;
    SecretString webhook_secret;  // 1 to 256 of A-Z a-z 0-9 _ -
};

class TelegramPlatform final : public ChatPlatform {
public:
    struct Parts {
        TelegramConfig config;
        PlatformHttp http;
        Clock& clock;
        PlatformWait wait = {};  // Empty: waits in real time.
    };
    explicit TelegramPlatform(Parts parts);
    ~TelegramPlatform() override { stop(); }

    const BotKey& bot() const override { return bot_; }
    BotIdentity identity() const override;
    CapabilityDescriptor descriptor() const override;
    LengthUnit length_unit() const override { return LengthUnit::utf16; }
    PlatformHealth health() const override;
    // Once; a stopped platform is not started again.
    void start(PlatformInbox& inbox, std::string cursor) override;
    void stop() override;
    PlatformReply call(const PlatformCall& call) override;
    WebhookAnswer receive(const WebhookRequest& request) override;
    std::optional<bool> cached_view(const ViewQuestion&) const override { return true; }
    std::optional<bool> find_view(const ViewQuestion&) override { return true; }
    Result<DownloadedFile> download(const FileQuestion& question) override;

private:
    struct Notice {
        std::string callback_id;
        std::string text;
    };
    using Notices = BoundedQueue<Notice>;

    PlatformReply attempt(const PlatformCall& call);
    PlatformReply perform(const PlatformCall& call, const TelegramStyle& style, bool& cannot_parse);

    void run(PlatformInbox& inbox);
    bool learn_identity();
    bool set_webhook();
    void poll(PlatformInbox& inbox);
    std::optional<std::vector<TelegramUpdate>> fetch_updates();
    bool take(PlatformInbox& inbox, std::vector<TelegramUpdate> updates);
    void send_notices();

    // True: the attempt may be repeated. Pauses after a failure, longer each time.
    bool pause();
    void note_answer(const std::expected<TelegramAnswer, TelegramFailure>& answer);
    void set_health(PlatformHealth health);
    bool uses_webhook() const { return !parts_.config.public_url.empty(); }

    Parts parts_;
    const BotKey bot_;
    StoppableWait stop_;
    const PlatformWait wait_;
    const TelegramApi api_;
    CallPace pace_;
    CallPace quiet_pace_;
    // Shared with answers of the inbox that are still to come: those may outlive us.
    const std::shared_ptr<UpdateOrder> order_ = std::make_shared<UpdateOrder>();
    const std::shared_ptr<Notices> notices_ =
        std::make_shared<Notices>(kTelegramNoticesMax, std::size_t{0});

    mutable std::mutex mutex_;  // Of the two below.
    std::string username_;
    PlatformHealth health_;

    // Of the thread that receives.
    std::optional<std::int64_t> offset_;
    bool has_fetched_ = false;  // The first time Telegram is not asked to wait: it works, or not.
    std::int64_t limit_ = kTelegramUpdatesMax;
    Duration pause_ = kTelegramPauseMin;

    std::thread receiver_;
    std::thread notifier_;
};

}  // namespace interlock
