#include "relay/platforms/sms/twilio_platform.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/bytes.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "relay/platforms/sms/twilio_json.h"
#include "testing/fake_clock.h"

namespace interlock {
namespace {

constexpr std::string_view kUrl = "https://relay.test/webhooks/sms/1";

class TwilioTest : public ::testing::Test {
protected:
    TwilioConfig config(std::string from = "+15550100") {
        TwilioConfig config;
        config.bot_id = "1";
        config.account_sid = "AC1";
        config.auth_token = SecretString("token-of-the-account");
        config.from = std::move(from);
        config.public_url = kUrl;
        return config;
    }
    TwilioPlatform open(TwilioConfig with) {
        return TwilioPlatform(
            {.config = std::move(with),
             .http =
                 [this](const PlatformHttpCall& call) {
                     calls_.push_back(call);
                     return answer_;
                 },
             .clock = clock_,
             .wait =
                 [this](Duration span) {
                     clock_.advance(span);
                     return true;
                 }});
    }
    PlatformReply send(std::string text, std::string from = "+15550100") {
        TwilioPlatform twilio = open(config(std::move(from)));
        PlatformCall call;
        call.action = SendAction{"+15550199", std::move(text), {}, {}};
        call.not_after = clock_.now() + Duration::of_minutes(1);
        return twilio.call(call);
    }
    // Fields in byte order.
    WebhookRequest webhook(const FormFields& fields, std::string_view url = kUrl) {
        std::string to_sign(url);
        for (const auto& [name, value] : fields) {
            to_sign += name + value;
        }
        WebhookRequest request;
        request.url = "http://127.0.0.1:8080/webhooks/sms/1";  // What a proxy made of it.
        request.headers = {
            {"content-type", "application/x-www-form-urlencoded"},
            {"x-twilio-signature", to_base64(hmac_sha1("token-of-the-account", to_sign))}};
        request.body = encode_form(fields);
        return request;
    }

    FakeClock clock_;
    std::expected<PlatformHttpAnswer, HttpFailure> answer_ =
        PlatformHttpAnswer{201, {}, R"({"sid":"SM9"})"};
    std::vector<PlatformHttpCall> calls_;
};

TEST_F(TwilioTest, SendsOneFormWithTheAccountsName) {
    EXPECT_EQ(send("a & b + \xC3\xA9").message_id, "SM9");
    ASSERT_EQ(calls_.size(), 1u);
    EXPECT_EQ(calls_[0].method, "POST");
    EXPECT_EQ(calls_[0].url, "https://api.twilio.com/2010-04-01/Accounts/AC1/Messages.json");
    EXPECT_EQ(calls_[0].body, "To=%2B15550199&From=%2B15550100&Body=a%20%26%20b%20%2B%20%C3%A9");
    EXPECT_EQ(calls_[0].headers[0].second, "Basic QUMxOnRva2VuLW9mLXRoZS1hY2NvdW50");
}

TEST_F(TwilioTest, SendsThroughAMessagingService) {
    send("hi", "MG77");
    EXPECT_EQ(calls_.at(0).body, "To=%2B15550199&MessagingServiceSid=MG77&Body=hi");
}

TEST_F(TwilioTest, SaysWhyItWasRefused) {
    const auto code_of = [this](int status, std::string body) {
        answer_ = PlatformHttpAnswer{status, {}, std::move(body)};
        const PlatformReply reply = send("hi");
        EXPECT_EQ(reply.outcome, CallOutcome::not_sent);
        return reply.code;
    };
    EXPECT_EQ(code_of(400, R"({"code":21211,"message":"Invalid 'To'"})"), "not_found");
    EXPECT_EQ(code_of(400, R"({"code":21610,"message":"unsubscribed"})"), "forbidden");
    EXPECT_EQ(code_of(400, R"({"code":21617,"message":"too long"})"), "too_long");
    EXPECT_EQ(code_of(401, R"({"code":20003,"message":"Authenticate"})"), "unauthenticated");
    EXPECT_EQ(code_of(404, "<html>"), "not_found");
    EXPECT_EQ(code_of(400, R"({"code":99999,"message":"new"})"), "refused");
}

TEST_F(TwilioTest, AnAnswerWithoutANameIsUnknown) {
    answer_ = PlatformHttpAnswer{201, {}, "<html>"};
    EXPECT_EQ(send("hi").outcome, CallOutcome::unknown);
    answer_ = PlatformHttpAnswer{503, {}, R"({"code":20503})"};
    EXPECT_EQ(send("hi").outcome, CallOutcome::unknown);
    answer_ = PlatformHttpAnswer{302, {}, ""};
    EXPECT_EQ(send("hi").outcome, CallOutcome::unknown);
}

TEST_F(TwilioTest, ALimitIsKnownByItsCodeToo) {
    answer_ = PlatformHttpAnswer{400, {{"retry-after", "120"}}, R"({"code":20429})"};
    const PlatformReply reply = send("hi");
    EXPECT_EQ(reply.code, "rate_limited");
    EXPECT_EQ(reply.retry_after, Duration::of_seconds(120));
    answer_ = PlatformHttpAnswer{429, {{"retry-after", "soon"}}, ""};
    EXPECT_EQ(send("hi").retry_after, kTwilioRetry);
}

TEST_F(TwilioTest, AMessageArrivesUnderItsSid) {
    TwilioPlatform twilio = open(config());
    const WebhookAnswer answer =
        twilio.receive(webhook({{"Body", "hi"}, {"From", "+15550199"}, {"MessageSid", "SM1"}}));
    EXPECT_EQ(answer.status, 200) << answer.refusal;
    EXPECT_EQ(answer.content_type, "text/xml");
    EXPECT_NE(answer.body.find("<Response></Response>"), std::string::npos);
    ASSERT_EQ(answer.arrivals.size(), 1u);
    EXPECT_EQ(answer.arrivals[0].event.event_id, "SM1");
    EXPECT_EQ(answer.arrivals[0].event.event.source.chat_id, "+15550199");
    EXPECT_FALSE(answer.arrivals[0].event.is_own_bot);
}

TEST_F(TwilioTest, ItsOwnMessagesAreKnown) {
    TwilioPlatform twilio = open(config());
    const WebhookAnswer answer =
        twilio.receive(webhook({{"Body", "hi"}, {"From", "+15550100"}, {"MessageSid", "SM1"}}));
    ASSERT_EQ(answer.arrivals.size(), 1u);
    EXPECT_TRUE(answer.arrivals[0].event.is_own_bot);
}

TEST_F(TwilioTest, AStatusIsTakenAndDeliversNothing) {
    TwilioPlatform twilio = open(config());
    const WebhookAnswer answer = twilio.receive(
        webhook({{"From", "+15550100"}, {"MessageSid", "SM1"}, {"MessageStatus", "delivered"}}));
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.arrivals.empty());
}

TEST_F(TwilioTest, TheAddressMayHaveBeenToldWithItsPlusEscaped) {
    const FormFields form = {{"Body", "hi"}, {"From", "+15550199"}, {"MessageSid", "SM1"}};
    TwilioConfig plus = config();
    plus.public_url = "https://relay.test/webhooks/sms/+15550100";
    TwilioPlatform twilio = open(std::move(plus));
    for (const char* const told :
         {"https://relay.test/webhooks/sms/+15550100",
          "https://relay.test/webhooks/sms/%2B15550100"}) {
        EXPECT_EQ(twilio.receive(webhook(form, told)).status, 200) << told;
    }
    const auto other = webhook(form, "https://relay.test/webhooks/sms/%2b15550100");
    EXPECT_EQ(twilio.receive(other).status, 403);
}

TEST_F(TwilioTest, TheSignatureIsOverTheAddressThatTwilioWasTold) {
    TwilioConfig other = config();
    other.public_url = "https://elsewhere.test/webhooks/sms/1";
    TwilioPlatform twilio = open(std::move(other));
    const WebhookAnswer answer =
        twilio.receive(webhook({{"Body", "hi"}, {"From", "+15550199"}, {"MessageSid", "SM1"}}));
    EXPECT_EQ(answer.status, 403);
    EXPECT_EQ(answer.refusal, "bad_signature");
}

class TwilioFiles : public TwilioTest {
protected:
    Result<DownloadedFile> download(const std::string& url) {
        FileQuestion question;
        question.file.file_id = url;
        question.bytes_max = 1000;
        question.timeout = Duration::of_seconds(5);
        TwilioPlatform twilio(
            {.config = config(),
             .http = [this](const PlatformHttpCall& call)
                 -> std::expected<PlatformHttpAnswer, HttpFailure> {
                 calls_.push_back(call);
                 const auto found = places_.find(call.url);
                 if (found == places_.end()) {
                     return std::unexpected(HttpFailure::not_sent);
                 }
                 return found->second;
             },
             .clock = clock_});
        return twilio.download(question);
    }
    static std::size_t credentials_in(const PlatformHttpCall& call) {
        return static_cast<std::size_t>(std::ranges::count_if(
            call.headers, [](const auto& header) { return header.first == "authorization"; }));
    }
    const std::string own_ =
        "https://api.twilio.com/2010-04-01/Accounts/AC1/Messages/MM1/Media/ME1";
    std::map<std::string, PlatformHttpAnswer> places_;
};

TEST_F(TwilioFiles, AreFetchedWithTheCredentialAndFollowedWithout) {
    places_[own_] = {307, {{"Location", "https://files.example/short-lived"}}, ""};
    places_["https://files.example/short-lived"] = {
        200,
        {{"Content-Type", "image/png"}, {"Content-Disposition", "inline; filename=\"a b.png\""}},
        "bytes"};
    const auto file = download(own_);
    ASSERT_TRUE(file.has_value());
    EXPECT_EQ(file->bytes, "bytes");
    EXPECT_EQ(file->content_type, "image/png");
    EXPECT_EQ(file->filename, "a b.png");
    ASSERT_EQ(calls_.size(), 2u);
    EXPECT_EQ(credentials_in(calls_[0]), 1u);
    EXPECT_EQ(credentials_in(calls_[1]), 0u);
    EXPECT_FALSE(calls_[0].is_told);
    EXPECT_TRUE(calls_[1].is_told);  // The guard judges it.
    EXPECT_EQ(calls_[1].answer_bytes_max, 1000u);
}

TEST_F(TwilioFiles, AnAddressOfSomebodyElseGetsNoCall) {
    for (const std::string url :
         {"https://evil.example/x",
          "https://api.twilio.com.evil.example/x",
          "https://api.twilio.com@evil.example/x",
          "http://api.twilio.com/x"}) {
        EXPECT_EQ(download(url).error(), errors::not_found) << url;
    }
    EXPECT_TRUE(calls_.empty());
}

TEST_F(TwilioFiles, OnlyOneStepIsFollowedAndOnlyToHttps) {
    places_[own_] = {302, {{"Location", "http://files.example/x"}}, ""};
    EXPECT_FALSE(download(own_).has_value());
    EXPECT_EQ(calls_.size(), 1u);
    places_[own_] = {302, {{"Location", "https://files.example/1"}}, ""};
    places_["https://files.example/1"] = {302, {{"Location", "https://files.example/2"}}, ""};
    EXPECT_FALSE(download(own_).has_value());
    EXPECT_EQ(calls_.size(), 3u);
}

TEST_F(TwilioFiles, TellWhetherAnotherTryMayHelp) {
    EXPECT_EQ(download(own_).error(), errors::unavailable);
    places_[own_] = {503, {}, ""};
    EXPECT_EQ(download(own_).error(), errors::unavailable);
    places_[own_] = {404, {}, ""};
    EXPECT_EQ(download(own_).error(), errors::not_found);
}

}  // namespace
}  // namespace interlock
