// An application of WeCom behind relay/ports/chat_platform.h ("wecom"): encrypted callbacks on the
// way in, text messages to one member on the way out, with an access token that is fetched when
// needed.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/secret_string.h"
#include "engine/ports/clock.h"
#include "relay/platforms/common/call_pace.h"
#include "relay/platforms/common/platform_http.h"
#include "relay/platforms/common/stoppable_wait.h"
#include "relay/ports/chat_platform.h"
#include "relay/rules/wecom_crypt.h"

namespace interlock {

inline constexpr std::size_t kWecomTextBytesMax = 2048;
// What clients are told: so many characters fit even when each has four bytes.
inline constexpr std::int64_t kWecomCharactersMax = 512;
inline constexpr PaceRule kWecomPace{.interval = Duration::of_milliseconds(20), .burst = 50};
// 30 messages a minute to one member.
inline constexpr PaceRule kWecomChatPace{.interval = Duration::of_seconds(2), .burst = 10};
// A token is renewed so long before its end.
inline constexpr Duration kWecomTokenMargin = Duration::of_minutes(5);

struct WecomConfig {
    std::string bot_id;  // How the webhook's path calls it.
    std::string corp_id;
    std::int64_t agent_id = 0;
    SecretString corp_secret;
    SecretString callback_token;
    SecretString encoding_aes_key;  // 43 characters.
    std::string api_base = "https://qyapi.weixin.qq.com";
};

class WecomPlatform final : public ChatPlatform {
public:
    struct Parts {
        WecomConfig config;
        PlatformHttp http;
        Clock& clock;
        PlatformWait wait = {};  // Empty: waits in real time.
    };
    explicit WecomPlatform(Parts parts);

    const BotKey& bot() const override { return bot_; }
    BotIdentity identity() const override { return {bot_.bot_id, {}}; }
    CapabilityDescriptor descriptor() const override;
    LengthUnit length_unit() const override { return LengthUnit::bytes; }
    std::size_t length_limit() const override { return kWecomTextBytesMax; }
    PlatformHealth health() const override;
    void start(PlatformInbox& inbox, std::string cursor) override;
    void stop() override;
    PlatformReply call(const PlatformCall& call) override;
    WebhookAnswer receive(const WebhookRequest& request) override;
    std::optional<bool> cached_view(const ViewQuestion&) const override { return true; }
    std::optional<bool> find_view(const ViewQuestion&) override { return true; }
    Result<DownloadedFile> download(const FileQuestion& question) override;

private:
    struct Token {
        SecretString text;
        Duration expires_at;  // On the monotonic clock.
    };
    // The token, or why nothing can be sent. `stale` is one that WeCom no longer takes.
    std::expected<SecretString, PlatformReply> access_token(std::string_view stale);
    std::expected<SecretString, PlatformReply> fetch_token();
    PlatformReply attempt(const SendAction& action);
    std::expected<PlatformHttpAnswer, HttpFailure> ask_file(
        const FileQuestion& question, std::string_view token) const;
    WecomMessage open(const WebhookRequest& request, std::string encrypt) const;
    std::string masked(std::string_view text, std::string_view token) const;

    const Parts parts_;
    const BotKey bot_;
    StoppableWait stop_;
    const PlatformWait wait_;
    CallPace pace_;
    std::atomic<bool> is_started_ = false;
    std::atomic<bool> is_secret_wrong_ = false;
    std::mutex mutex_;  // Of the token; held while it is fetched, so that one call fetches for all.
    Token token_;
};

}  // namespace interlock
