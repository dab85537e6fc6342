// Holds Twilio and WeCom to the promises of relay/ports/chat_platform.h. Both receive by webhook
// alone and send with one call each, so that they share a far side.
#include "base/bytes.h"
#include "base/crypto.h"
#include "base/text.h"
#include "chat_platform_suite.h"
#include "relay/platforms/sms/twilio_platform.h"
#include "relay/platforms/wecom/wecom_platform.h"
#include "testing/fake_clock.h"

namespace interlock {
namespace {

constexpr std::string_view kTwilioToken = "twilio-canary-0a51be";
constexpr std::string_view kWecomSecret = "wecom-canary-7741dd";
constexpr std::string_view kWecomToken = "access-canary-12c0ff";
constexpr std::string_view kCallbackToken = "callback-canary-5e5e5e";
constexpr std::string_view kAesKey = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG";

// What platforms of this kind say; what stands in their bodies is the harness's.
class HookHarness : public ChatPlatformHarness {
public:
    Timestamp now() override { return clock_.now(); }
    void set_far_side(FarSide behaviour) override {
        const std::lock_guard lock(mutex_);
        behaviour_ = behaviour;
        attempts_ = 0;
    }
    std::size_t attempts() override {
        const std::lock_guard lock(mutex_);
        return attempts_;
    }
    std::vector<std::string> accepted() override {
        const std::lock_guard lock(mutex_);
        return accepted_;
    }
    void write(PlatformInbox& inbox, const std::string& text) override {
        last_ = *webhook(text);
        last_status_ = post_webhook(platform(), inbox, last_);
    }
    void send_again(PlatformInbox& inbox) override {
        if (last_status_ >= 300) {
            last_status_ = post_webhook(platform(), inbox, last_);
        }
    }

protected:
    using Outcome = std::expected<PlatformHttpAnswer, HttpFailure>;
    virtual PlatformHttpAnswer take(std::size_t number) = 0;
    virtual PlatformHttpAnswer refuse() = 0;
    virtual PlatformHttpAnswer limit() = 0;
    virtual std::string text_in(const PlatformHttpCall& call) = 0;

    Outcome answer_message(const PlatformHttpCall& call) {
        const std::lock_guard lock(mutex_);
        const FarSide now = behaviour_;
        attempts_ += now == FarSide::unreachable ? 0 : 1;
        switch (now) {
            case FarSide::accepts:
                accepted_.push_back(text_in(call));
                return take(accepted_.size());
            case FarSide::refuses:
                return refuse();
            case FarSide::limits_once:
                behaviour_ = FarSide::accepts;
                return limit();
            case FarSide::fails:
                return PlatformHttpAnswer{500, {}, "broken for " + call.url};
            case FarSide::unreachable:
                return std::unexpected(HttpFailure::not_sent);
            case FarSide::cuts:
                return std::unexpected(HttpFailure::unknown);
        }
        return std::unexpected(HttpFailure::unknown);
    }
    PlatformWait wait() {
        return [this](Duration span) {
            clock_.advance(span);
            return true;
        };
    }

    FakeClock clock_;
    int written_ = 0;

private:
    std::mutex mutex_;
    FarSide behaviour_ = FarSide::accepts;
    std::size_t attempts_ = 0;
    std::vector<std::string> accepted_;
    WebhookRequest last_;
    int last_status_ = 0;
};

class TwilioHarness final : public HookHarness {
public:
    ChatPlatform& platform() override { return twilio_; }
    std::vector<std::string> secrets() const override {
        return {std::string(kTwilioToken), to_base64("AC1:" + std::string(kTwilioToken))};
    }
    std::string chat_id(int number) const override { return "+1555010" + std::to_string(number); }
    std::optional<WebhookRequest> webhook(const std::string& text) override {
        return request(text, kTwilioToken);
    }
    std::optional<WebhookRequest> forged_webhook(const std::string& text) override {
        return request(text, "somebody-elses-token");
    }

private:
    WebhookRequest request(const std::string& text, std::string_view token) {
        const std::string sid = "SM" + std::to_string(++written_);
        WebhookRequest made;
        made.url = "/webhooks/sms/1?a=b";
        made.body = "Body=" + percent_encode(text) + "&From=%2B15550199&MessageSid=" + sid;
        const std::string to_sign =
            "https://relay.test/webhooks/sms/1?a=bBody" + text + "From+15550199MessageSid" + sid;
        made.headers = {
            {"Content-Type", "application/x-www-form-urlencoded"},
            {"X-Twilio-Signature", to_base64(hmac_sha1(token, to_sign))}};
        return made;
    }
    PlatformHttpAnswer take(std::size_t number) override {
        return {201, {}, R"({"status":"queued","sid":"SMout)" + std::to_string(number) + "\"}"};
    }
    PlatformHttpAnswer refuse() override {
        return {
            400,
            {},
            R"({"code":21610,"message":"Not with )" + secrets()[0] + " or " + secrets()[1] +
                R"(","status":400})"};
    }
    PlatformHttpAnswer limit() override {
        return {429, {{"Retry-After", "2"}}, R"({"code":20429,"message":"Too Many Requests"})"};
    }
    std::string text_in(const PlatformHttpCall& call) override {
        const auto form = read_form(call.body);
        EXPECT_EQ(form->at(1).first, "From");
        EXPECT_EQ(form->at(2).first, "Body");
        return form->at(2).second;
    }

    TwilioPlatform twilio_{
        {.config =
             {.bot_id = "1",
              .account_sid = "AC1",
              .auth_token = SecretString(std::string(kTwilioToken)),
              .from = "+15550100",
              .public_url = "https://relay.test/webhooks/sms/1"},
         .http = [this](const PlatformHttpCall& call) { return answer_message(call); },
         .clock = clock_,
         .wait = wait()}};
};

class WecomHarness final : public HookHarness {
public:
    ChatPlatform& platform() override { return wecom_; }
    std::vector<std::string> secrets() const override {
        return {
            std::string(kWecomSecret),
            std::string(kWecomToken),
            std::string(kCallbackToken),
            std::string(kAesKey)};
    }
    std::string chat_id(int number) const override { return "member" + std::to_string(number); }
    Duration limit_span() const override { return Duration::of_minutes(1); }
    std::optional<WebhookRequest> webhook(const std::string& text) override {
        return request(text, std::string(kCallbackToken));
    }
    std::optional<WebhookRequest> forged_webhook(const std::string& text) override {
        return request(text, "somebody-elses-token");
    }

private:
    WebhookRequest request(const std::string& text, const std::string& token) {
        const WecomSecrets secrets{token, std::string(kAesKey), "corp1"};
        const std::string xml =
            "<xml><FromUserName><![CDATA[ann]]></FromUserName><MsgType><![CDATA[text]]></MsgType>"
            "<Content><![CDATA[" +
            text + "]]></Content><MsgId>" + std::to_string(++written_) + "</MsgId></xml>";
        WecomCallback callback;
        callback.timestamp = std::to_string(clock_.now().microseconds / 1'000'000);
        callback.nonce = "1597212914";
        callback.encrypt = seal_wecom(secrets, "0123456789abcdef", xml).value();
        WebhookRequest made;
        made.url = "/webhooks/wecom/1?msg_signature=" + sign_wecom(token, callback) +
                   "&timestamp=" + callback.timestamp + "&nonce=" + callback.nonce;
        made.body = "<xml><Encrypt><![CDATA[" + callback.encrypt + "]]></Encrypt></xml>";
        return made;
    }
    PlatformHttpAnswer take(std::size_t number) override {
        return {
            200, {}, R"({"errcode":0,"errmsg":"ok","msgid":"w)" + std::to_string(number) + "\"}"};
    }
    PlatformHttpAnswer refuse() override {
        return {
            200,
            {},
            R"({"errcode":60011,"errmsg":"not with )" + std::string(kWecomToken) + " of " +
                std::string(kWecomSecret) + "\"}"};
    }
    PlatformHttpAnswer limit() override {
        return {200, {}, R"({"errcode":45009,"errmsg":"api freq out of limit"})"};
    }
    std::string text_in(const PlatformHttpCall& call) override {
        return parse_json(call.body)->find("text")->find("content")->as_string();
    }
    Outcome answer(const PlatformHttpCall& call) {
        if (call.url.find("/gettoken?") != std::string::npos) {
            return PlatformHttpAnswer{
                200,
                {},
                R"({"errcode":0,"errmsg":"ok","expires_in":7200,"access_token":")" +
                    std::string(kWecomToken) + "\"}"};
        }
        return answer_message(call);
    }

    WecomPlatform wecom_{
        {.config =
             {.bot_id = "1",
              .corp_id = "corp1",
              .agent_id = 218,
              .corp_secret = SecretString(std::string(kWecomSecret)),
              .callback_token = SecretString(std::string(kCallbackToken)),
              .encoding_aes_key = SecretString(std::string(kAesKey))},
         .http = [this](const PlatformHttpCall& call) { return answer(call); },
         .clock = clock_,
         .wait = wait()}};
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(
    Hooks,
    ChatPlatformSuite,
    ::testing::Values(
        ChatPlatformKind{"twilio", [] { return std::make_unique<TwilioHarness>(); }},
        ChatPlatformKind{"wecom", [] { return std::make_unique<WecomHarness>(); }}),
    [](const auto& kind) { return kind.param.name; });

}  // namespace interlock
