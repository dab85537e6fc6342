// Holds a bot of Telegram, by poll and by webhook, to the promises of relay/ports/chat_platform.h.
#include "chat_platform_suite.h"
#include "relay/platforms/telegram/telegram_platform.h"
#include "relay/platforms/telegram/test_telegram.h"
#include "testing/fake_clock.h"

namespace interlock {
namespace {

constexpr std::string_view kSecret = "hook-canary-77ab01";

class TelegramHarness final : public ChatPlatformHarness {
public:
    explicit TelegramHarness(bool uses_webhook)
        : uses_webhook_(uses_webhook),
          telegram_(
              {.config =
                   {.bot_id = "123",
                    .token = SecretString(std::string(FakeTelegram::kToken)),
                    .username = "fake_bot",
                    .api_base = std::string(FakeTelegram::kBase),
                    .public_url = uses_webhook ? "https://relay.test/webhooks/telegram/123" : "",
                    .webhook_secret = SecretString(std::string(kSecret))},
               .http = fake_.http(),
               .clock = clock_,
               .wait = [this](Duration span) {
                   clock_.advance(span);
                   return true;
               }}) {}

    ChatPlatform& platform() override { return telegram_; }
    Timestamp now() override { return clock_.now(); }
    std::vector<std::string> secrets() const override {
        return {std::string(FakeTelegram::kToken), std::string(kSecret)};
    }
    std::string chat_id(int number) const override { return std::to_string(40 + number); }
    void set_far_side(FarSide behaviour) override {
        fake_.intercept(
            [behaviour, is_first = true](
                const FakeTelegram::Seen& seen) mutable -> std::optional<FakeTelegram::Outcome> {
                if (seen.method == "getUpdates" || seen.method == "setWebhook") {
                    return std::nullopt;
                }
                switch (behaviour) {
                    case FarSide::accepts:
                        return std::nullopt;
                    case FarSide::refuses:
                        return FakeTelegram::refuse(
                            403, "Forbidden: not with " + std::string(FakeTelegram::kToken));
                    case FarSide::limits_once:
                        return std::exchange(is_first, false)
                                   ? std::optional(FakeTelegram::refuse(
                                         429,
                                         "Too Many Requests: retry after 2",
                                         Json::object({{"retry_after", 2}})))
                                   : std::nullopt;
                    case FarSide::fails:
                        return FakeTelegram::refuse(
                            502, "Bad Gateway for " + std::string(FakeTelegram::kToken));
                    case FarSide::unreachable:
                        return std::unexpected(HttpFailure::not_sent);
                    case FarSide::cuts:
                        return std::unexpected(HttpFailure::unknown);
                }
                return std::nullopt;
            });
        behaviour_ = behaviour;
        left_before_ = fake_.calls("sendMessage").size();
    }
    std::size_t attempts() override {
        return fake_.calls("sendMessage").size() -
               (behaviour_ == FarSide::accepts ? 0 : left_before_);
    }
    std::vector<std::string> accepted() override {
        std::vector<std::string> texts;
        const auto calls = fake_.calls("sendMessage");
        // Only the ends of these scripts accept: everything in `accepts`, the last after a limit.
        const std::size_t first = behaviour_ == FarSide::accepts ? left_before_ : 1;
        for (std::size_t i = first; i < calls.size(); ++i) {
            texts.push_back(calls[i].fields.find("text")->as_string());
        }
        return texts;
    }
    void write(PlatformInbox& inbox, const std::string& text) override {
        if (!uses_webhook_) {
            fake_.push(FakeTelegram::message(text, ++messages_));
            return;
        }
        last_ = *webhook(text);
        last_status_ = post_webhook(telegram_, inbox, last_);
    }
    void send_again(PlatformInbox& inbox) override {
        if (uses_webhook_ && last_status_ != 200) {
            last_status_ = post_webhook(telegram_, inbox, last_);
        }
    }
    std::optional<WebhookRequest> webhook(const std::string& text) override {
        return request(text, std::string(kSecret));
    }
    std::optional<WebhookRequest> forged_webhook(const std::string& text) override {
        return request(text, "hook-canary-77ab02");
    }

private:
    std::optional<WebhookRequest> request(const std::string& text, std::string secret) {
        if (!uses_webhook_) {
            return std::nullopt;
        }
        Json update = FakeTelegram::message(text, ++messages_);
        update.set("update_id", 900 + messages_);
        WebhookRequest made;
        made.headers = {
            {"Content-Type", "application/json"},
            {"X-Telegram-Bot-Api-Secret-Token", std::move(secret)}};
        made.body = to_text(update);
        return made;
    }

    bool uses_webhook_;
    FakeClock clock_;
    FakeTelegram fake_;
    FarSide behaviour_ = FarSide::accepts;
    std::size_t left_before_ = 0;
    std::int64_t messages_ = 0;
    WebhookRequest last_;
    int last_status_ = 0;
    TelegramPlatform telegram_;
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(
    Telegram,
    ChatPlatformSuite,
    ::testing::Values(
        ChatPlatformKind{"poll", [] { return std::make_unique<TelegramHarness>(false); }},
        ChatPlatformKind{"webhook", [] { return std::make_unique<TelegramHarness>(true); }}),
    [](const auto& kind) { return kind.param.name; });

}  // namespace interlock
