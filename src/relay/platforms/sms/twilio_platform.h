// A phone number at Twilio behind relay/ports/chat_platform.h ("sms"): messages come by webhook,
// and go out one POST each. There is nothing to edit and nobody to see typing.
//
// Twilio repeats a webhook for as long as it likes, so the inbox remembers a MessageSid for
// kTwilioEventDays.
#pragma once

#include <atomic>
#include <string>

#include "base/secret_string.h"
#include "engine/ports/clock.h"
#include "relay/platforms/common/call_pace.h"
#include "relay/platforms/common/platform_http.h"
#include "relay/platforms/common/stoppable_wait.h"
#include "relay/ports/chat_platform.h"

namespace interlock {

inline constexpr int kTwilioEventDays = 90;
// In UTF-16 units: with one character beyond GSM 7 bits Twilio counts like that.
inline constexpr std::int64_t kSmsLengthMax = 1600;
// Twilio queues behind this; it is there to keep one chat from filling the queue.
inline constexpr PaceRule kTwilioPace{.interval = Duration::of_milliseconds(20), .burst = 50};
inline constexpr PaceRule kTwilioChatPace{.interval = Duration::of_seconds(1), .burst = 5};

struct TwilioConfig {
    std::string bot_id;  // How the webhook's path calls it.
    std::string account_sid;
    SecretString auth_token;
    std::string from;        // "+15550100", or the "MG…" of a messaging service.
    std::string public_url;  // The webhook's whole address as Twilio was told it, without query.
    std::string api_base = "https://api.twilio.com";
};

class TwilioPlatform final : public ChatPlatform {
public:
    struct Parts {
        TwilioConfig config;
        PlatformHttp http;
        Clock& clock;
        PlatformWait wait = {};  // Empty: waits in real time.
    };
    explicit TwilioPlatform(Parts parts);

    const BotKey& bot() const override { return bot_; }
    BotIdentity identity() const override { return {bot_.bot_id, {}}; }
    CapabilityDescriptor descriptor() const override;
    LengthUnit length_unit() const override { return LengthUnit::utf16; }
    PlatformHealth health() const override;
    void start(PlatformInbox& inbox, std::string cursor) override;
    void stop() override;
    PlatformReply call(const PlatformCall& call) override;
    WebhookAnswer receive(const WebhookRequest& request) override;
    std::optional<bool> cached_view(const ViewQuestion&) const override { return true; }
    std::optional<bool> find_view(const ViewQuestion&) override { return true; }
    Result<DownloadedFile> download(const FileQuestion& question) override;

private:
    PlatformReply attempt(const SendAction& action) const;
    std::string masked(std::string_view text) const;
    enum class Credential { with, without };
    std::expected<PlatformHttpAnswer, HttpFailure> ask_file(
        const std::string& url, const FileQuestion& question, Credential credential) const;

    const Parts parts_;
    const BotKey bot_;
    const SecretString authorization_;
    StoppableWait stop_;
    const PlatformWait wait_;
    CallPace pace_;
    std::atomic<bool> is_started_ = false;
};

}  // namespace interlock
