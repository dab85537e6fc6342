// Fuzzes what chat platforms send and answer, from the bytes of a webhook or an answer to what
// reaches the inbox: updates of Telegram, forms of Twilio, messages of WeCom. The signatures are
// right, so that what lies behind them is reached.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "base/crypto.h"
#include "base/log.h"
#include "relay/platforms/common/platform_call.h"
#include "relay/platforms/sms/twilio_json.h"
#include "relay/platforms/sms/twilio_platform.h"
#include "relay/platforms/telegram/telegram_json.h"
#include "relay/platforms/telegram/telegram_markdown.h"
#include "relay/platforms/telegram/telegram_platform.h"
#include "relay/platforms/wecom/wecom_json.h"
#include "relay/platforms/wecom/wecom_platform.h"

namespace interlock {

constexpr std::string_view kSecret = "fuzz-secret-9f3c1b";
constexpr std::string_view kAesKey = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG";
constexpr std::string_view kPublicUrl = "https://relay.test/hook";

class StoppedClock final : public Clock {
public:
    Timestamp now() override { return {1'794'744'000'000'000}; }
    Duration monotonic() override { return {}; }
};

std::expected<PlatformHttpAnswer, HttpFailure> no_network(const PlatformHttpCall&) {
    return std::unexpected(HttpFailure::not_sent);
}

// What a genuine request leads to: taken or refused with a reason, and never a secret in it.
void check_answer(
    const ChatPlatform& platform, const WebhookAnswer& answer, std::string_view text) {
    CHECK(answer.refusal.empty() == (answer.status == 200));
    CHECK(answer.arrivals.size() <= 1);
    CHECK(answer.arrivals.empty() || answer.status == 200);
    for (const PlatformArrival& arrival : answer.arrivals) {
        CHECK(arrival.bot == platform.bot());
        CHECK(!arrival.event.event_id.empty());
        const Json event = encode(arrival.event.event);
        CHECK(decode_message_event(event).has_value());
        // Unless somebody wrote it.
        CHECK(
            text.find(kSecret) != std::string_view::npos ||
            to_text(event).find(kSecret) == std::string::npos);
    }
    if (answer.undelivered_body) {
        const InboxAnswer nobody{.is_stored = true, .is_delivered = false, .notice = "Nobody."};
        CHECK(parse_json(answer.undelivered_body(nobody)).has_value());
    }
}

void try_telegram(std::string_view text, Clock& clock) {
    TelegramPlatform telegram(
        {.config =
             {.bot_id = "123",
              .token = SecretString("123:" + std::string(kSecret)),
              .username = "bot",
              .public_url = std::string(kPublicUrl),
              .webhook_secret = SecretString(std::string(kSecret))},
         .http = no_network,
         .clock = clock});
    WebhookRequest request;
    request.headers = {{"x-telegram-bot-api-secret-token", std::string(kSecret)}};
    request.body = text;
    check_answer(telegram, telegram.receive(request), text);
    if (auto answer = read_telegram_answer(text)) {
        const PlatformReply reply = refused_by_telegram(*answer, kSecret);
        CHECK(reply.outcome == CallOutcome::not_sent && !reply.code.empty());
        CHECK(reply.error.find(kSecret) == std::string::npos);
        CHECK(taken_by_telegram(SendAction{}, answer->result).outcome == CallOutcome::sent);
        static_cast<void>(read_updates(std::move(answer->result)));
    }
    static_cast<void>(update_id_in(text));
    static_cast<void>(is_markdown_v2(text));
}

void try_twilio(std::string_view text, Clock& clock) {
    TwilioPlatform twilio(
        {.config =
             {.bot_id = "1",
              .account_sid = "AC1",
              .auth_token = SecretString(std::string(kSecret)),
              .from = "+1",
              .public_url = std::string(kPublicUrl)},
         .http = no_network,
         .clock = clock});
    WebhookRequest request;
    request.body = text;
    // Signed as a body that is no form, which binds every byte of it.
    request.url = "/hook?bodySHA256=" + sha256_hex(text);
    request.headers = {
        {"content-type", "text/plain"},
        {"x-twilio-signature",
         to_base64(
             hmac_sha1(kSecret, std::string(kPublicUrl) + "?bodySHA256=" + sha256_hex(text)))}};
    check_answer(twilio, twilio.receive(request), text);
    for (const int status : {201, 400, 429, 500}) {
        const PlatformReply reply = read_twilio_answer(
            {status, {{"retry-after", std::string(text)}}, std::string(text)},
            [](std::string_view said) { return without_secret(said, kSecret); });
        CHECK((reply.outcome == CallOutcome::sent) == (status == 201 && !reply.message_id.empty()));
    }
}

void try_wecom(std::string_view text, Clock& clock) {
    WecomPlatform wecom(
        {.config =
             {.bot_id = "1",
              .corp_id = "corp1",
              .agent_id = 1,
              .corp_secret = SecretString(std::string(kSecret)),
              .callback_token = SecretString("token"),
              .encoding_aes_key = SecretString(std::string(kAesKey))},
         .http = no_network,
         .clock = clock});
    WecomCallback callback;
    callback.timestamp = std::to_string(clock.now().microseconds / 1'000'000);
    callback.nonce = "n";
    const auto sealed =
        seal_wecom({"token", std::string(kAesKey), "corp1"}, "0123456789abcdef", text);
    CHECK(sealed.has_value());
    callback.encrypt = *sealed;
    WebhookRequest request;
    request.url = "/hook?nonce=n&timestamp=" + callback.timestamp +
                  "&msg_signature=" + sign_wecom("token", callback);
    request.body = "<xml><Encrypt>" + callback.encrypt + "</Encrypt></xml>";
    check_answer(wecom, wecom.receive(request), text);
    request.body = text;
    CHECK(wecom.receive(request).arrivals.empty());
    request.url = "/hook?" + std::string(text);
    request.method = "GET";
    CHECK(wecom.receive(request).status != 200);
    if (const auto answer = read_wecom_answer(text)) {
        const PlatformReply reply =
            wecom_reply(*answer, [](std::string_view said) { return std::string(said); });
        CHECK((reply.outcome == CallOutcome::sent) == reply.code.empty());
    }
}

}  // namespace interlock

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    interlock::configure_log({.level = interlock::LogLevel::off});
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    interlock::StoppedClock clock;
    interlock::try_telegram(text, clock);
    interlock::try_twilio(text, clock);
    interlock::try_wecom(text, clock);
    return 0;
}
