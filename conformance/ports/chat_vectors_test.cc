// Every webhook of conformance/vectors through the platform that it is for: what the platforms' own
// libraries take is taken, everything else is refused with the status that the case names.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/bytes.h"
#include "base/text.h"
#include "relay/platforms/sms/twilio_platform.h"
#include "relay/platforms/telegram/telegram_platform.h"
#include "relay/platforms/wecom/wecom_platform.h"
#include "testing/fake_clock.h"

namespace interlock {
namespace {

namespace fs = std::filesystem;

Json vectors(std::string_view file) {
    std::ifstream in(fs::path(INTERLOCK_SOURCE_DIR) / "conformance/vectors" / file);
    std::stringstream text;
    text << in.rdbuf();
    const auto json = parse_json(text.str());
    return json ? *json->find("cases") : Json::array();
}

std::string text_of(const Json& json, std::string_view key) {
    const Json* const value = json.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : "";
}

WebhookRequest request_of(const Json& given) {
    WebhookRequest request;
    request.url = text_of(given, "url");
    request.body = from_base64(text_of(given, "body_b64")).value_or("");
    if (const Json* const headers = given.find("headers")) {
        for (const auto& [name, value] : headers->members()) {
            request.headers.emplace_back(name, value.is_string() ? value.as_string() : "");
        }
    }
    return request;
}

int expected_status(const Json& given) {
    return static_cast<int>(given.find("expect")->find("http")->as_int64().value());
}

PlatformHttp no_network() {
    return [](const PlatformHttpCall&) -> std::expected<PlatformHttpAnswer, HttpFailure> {
        return std::unexpected(HttpFailure::not_sent);
    };
}

TEST(ChatVectors, TelegramAnswersAsTheCasesSay) {
    const Json cases = vectors("webhook_telegram_secret.json");
    ASSERT_GE(cases.items().size(), 20u);
    FakeClock clock;
    for (const Json& given : cases.items()) {
        TelegramPlatform telegram(
            {.config =
                 {.bot_id = "123",
                  .token = SecretString("123:abc"),
                  .username = "bot",
                  .public_url = "https://relay.test/webhooks/telegram/123",
                  .webhook_secret = SecretString(text_of(given, "configured_secret"))},
             .http = no_network(),
             .clock = clock});
        const WebhookAnswer answer = telegram.receive(request_of(given));
        EXPECT_EQ(answer.status, expected_status(given)) << text_of(given, "id");
        EXPECT_EQ(answer.refusal.empty(), answer.status == 200) << text_of(given, "id");
    }
}

TEST(ChatVectors, TwilioAnswersAsTheCasesSay) {
    const Json cases = vectors("webhook_twilio.json");
    ASSERT_GE(cases.items().size(), 25u);
    FakeClock clock;
    for (const Json& given : cases.items()) {
        const std::string url = text_of(given, "url");
        TwilioPlatform twilio(
            {.config =
                 {.bot_id = "1",
                  .account_sid = "AC1",
                  .auth_token = SecretString(text_of(given, "auth_token")),
                  .from = "+1",
                  .public_url = url.substr(0, url.find('?'))},
             .http = no_network(),
             .clock = clock});
        const WebhookAnswer answer = twilio.receive(request_of(given));
        EXPECT_EQ(answer.status, expected_status(given)) << text_of(given, "id");
        EXPECT_EQ(answer.refusal.empty(), answer.status == 200) << text_of(given, "id");
    }
}

TEST(ChatVectors, WecomAnswersAsTheCasesSay) {
    const Json cases = vectors("webhook_wecom.json");
    ASSERT_GE(cases.items().size(), 25u);
    FakeClock clock;
    for (const Json& given : cases.items()) {
        WecomPlatform wecom(
            {.config =
                 {.bot_id = "1",
                  .corp_id = text_of(given, "receive_id"),
                  .agent_id = 1,
                  .corp_secret = SecretString("secret"),
                  .callback_token = SecretString(text_of(given, "token")),
                  .encoding_aes_key = SecretString(text_of(given, "encoding_aes_key"))},
             .http = no_network(),
             .clock = clock});
        WebhookRequest request;
        request.url = "/webhooks/wecom/1?";
        for (const auto& [name, value] : given.find("query")->members()) {
            request.url += name + "=" + percent_encode(value.as_string()) + "&";
        }
        request.body = text_of(given, "body_xml");
        std::int64_t at = 1'794'700'000;  // Near every fresh timestamp of the file.
        request.now_seconds = at;
        const WebhookAnswer answer = wecom.receive(request);
        const bool accepts = given.find("expect")->find("accept")->as_bool();
        EXPECT_TRUE(answer.status == 400 || answer.status == 401) << text_of(given, "id");
        // The genuine ones hold words that are no message of WeCom's, so that is all that is wrong.
        EXPECT_EQ(answer.refusal == "This is not the XML that WeCom sends.", accepts)
            << text_of(given, "id") << answer.refusal;
        // The same as the answer to an address that is tried: the words come back in clear.
        WebhookRequest trial = request;
        trial.method = "GET";
        trial.body.clear();
        trial.url += "echostr=" + percent_encode(text_of(given, "encrypt"));
        const WebhookAnswer echo = wecom.receive(trial);
        EXPECT_EQ(echo.status == 200, accepts) << text_of(given, "id");
        if (accepts) {
            EXPECT_EQ(to_base64(echo.body), text_of(*given.find("expect"), "message_b64"));
        }
    }
}

}  // namespace
}  // namespace interlock
