#include "relay/platforms/wecom/wecom_platform.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "relay/platforms/wecom/wecom_json.h"
#include "testing/fake_clock.h"

namespace interlock {
namespace {

constexpr std::string_view kAesKey = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG";

class WecomTest : public ::testing::Test {
protected:
    PlatformReply send(std::string user, std::string text = "hi") {
        PlatformCall call;
        call.action = SendAction{std::move(user), std::move(text), {}, {}};
        call.not_after = clock_.now() + Duration::of_minutes(10);
        return wecom_.call(call);
    }
    // A message with this plain text, signed `age` ago.
    WebhookRequest callback(const std::string& plain, Duration age = {}) {
        const WecomSecrets secrets{"callback-token", std::string(kAesKey), "corp1"};
        WecomCallback made;
        made.timestamp = std::to_string((clock_.now() - age).microseconds / 1'000'000);
        made.nonce = "n";
        made.encrypt = seal_wecom(secrets, "0123456789abcdef", plain).value();
        WebhookRequest request;
        request.url = "/webhooks/wecom/1?nonce=n&timestamp=" + made.timestamp +
                      "&msg_signature=" + sign_wecom("callback-token", made);
        request.body = "<xml><Encrypt>" + made.encrypt + "</Encrypt></xml>";
        return request;
    }
    Result<DownloadedFile> download(const std::string& media_id) {
        FileQuestion question;
        question.file.file_id = media_id;
        question.bytes_max = 1000;
        question.timeout = Duration::of_seconds(5);
        return wecom_.download(question);
    }
    static PlatformHttpAnswer answer_of(std::string body) { return {200, {}, std::move(body)}; }

    FakeClock clock_;
    std::vector<std::string> urls_;
    std::vector<std::string> bodies_;
    int tokens_ = 0;
    std::vector<std::string> answers_;  // To messages, in order; then all are taken.
    std::string token_answer_;          // Instead of a token.
    std::vector<PlatformHttpAnswer> files_;
    WecomPlatform wecom_{
        {.config =
             {.bot_id = "1",
              .corp_id = "corp1",
              .agent_id = 218,
              .corp_secret = SecretString("corp&secret"),
              .callback_token = SecretString("callback-token"),
              .encoding_aes_key = SecretString(std::string(kAesKey))},
         .http = [this](const PlatformHttpCall& call)
             -> std::expected<PlatformHttpAnswer, HttpFailure> {
             urls_.push_back(call.url);
             if (call.url.find("gettoken") != std::string::npos) {
                 return answer_of(
                     !token_answer_.empty()
                         ? token_answer_
                         : R"({"errcode":0,"expires_in":7200,"access_token":"t)" +
                               std::to_string(++tokens_) + "\"}");
             }
             if (call.url.find("media/get") != std::string::npos) {
                 EXPECT_EQ(call.answer_bytes_max, 1000u);
                 if (files_.empty()) {
                     return std::unexpected(HttpFailure::unknown);
                 }
                 PlatformHttpAnswer file = files_.front();
                 files_.erase(files_.begin());
                 return file;
             }
             bodies_.push_back(call.body);
             if (answers_.empty()) {
                 return answer_of(R"({"errcode":0,"errmsg":"ok","msgid":"w1"})");
             }
             std::string body = answers_.front();
             answers_.erase(answers_.begin());
             return answer_of(std::move(body));
         },
         .clock = clock_,
         .wait =
             [this](Duration span) {
                 clock_.advance(span);
                 return true;
             }}};
};

TEST_F(WecomTest, FetchesOneTokenForManyMessages) {
    EXPECT_EQ(send("ann").message_id, "w1");
    send("bob");
    EXPECT_EQ(tokens_, 1);
    EXPECT_EQ(
        urls_.at(0),
        "https://qyapi.weixin.qq.com/cgi-bin/gettoken?corpid=corp1&corpsecret=corp%26secret");
    EXPECT_EQ(urls_.at(1), "https://qyapi.weixin.qq.com/cgi-bin/message/send?access_token=t1");
    EXPECT_EQ(
        bodies_.at(0),
        R"({"touser":"ann","msgtype":"text","agentid":218,"text":{"content":"hi"}})");
}

TEST_F(WecomTest, RenewsATokenBeforeItEnds) {
    send("ann");
    clock_.advance(Duration::of_minutes(114));
    send("ann");
    EXPECT_EQ(tokens_, 1);
    clock_.advance(Duration::of_minutes(1));
    send("ann");
    EXPECT_EQ(tokens_, 2);
}

TEST_F(WecomTest, RenewsAStaleTokenOnceAndSendsAgain) {
    answers_ = {R"({"errcode":42001,"errmsg":"access_token expired"})"};
    EXPECT_EQ(send("ann").outcome, CallOutcome::sent);
    EXPECT_EQ(tokens_, 2);
    answers_ = {
        R"({"errcode":40014,"errmsg":"invalid"})", R"({"errcode":40014,"errmsg":"invalid"})"};
    const PlatformReply reply = send("ann");
    EXPECT_EQ(reply.outcome, CallOutcome::not_sent);
    EXPECT_EQ(reply.code, "unauthenticated");
    EXPECT_EQ(tokens_, 3);
}

TEST_F(WecomTest, AWrongSecretIsBrokenAndMendsItself) {
    token_answer_ = R"({"errcode":40001,"errmsg":"invalid credential corp&secret"})";
    const PlatformReply reply = send("ann");
    EXPECT_EQ(reply.outcome, CallOutcome::not_sent);
    EXPECT_EQ(reply.code, "unauthenticated");
    EXPECT_EQ(reply.error.find("corp&secret"), std::string::npos);
    EXPECT_TRUE(wecom_.health().is_broken);
    token_answer_.clear();
    send("ann");
    EXPECT_FALSE(wecom_.health().is_broken);
}

TEST_F(WecomTest, WithoutATokenNothingHasLeft) {
    token_answer_ = "<html>";
    const PlatformReply reply = send("ann");
    EXPECT_EQ(reply.outcome, CallOutcome::not_sent);
    EXPECT_TRUE(reply.retry_after.has_value());
    EXPECT_TRUE(bodies_.empty());
}

TEST_F(WecomTest, WritesToOneMemberOnly) {
    for (const char* const user : {"@all", "ann|bob", "", "@"}) {
        EXPECT_EQ(send(user).code, "invalid_request") << user;
    }
    EXPECT_TRUE(urls_.empty());
}

TEST_F(WecomTest, SaysWhyItWasRefused) {
    const auto reply_to = [this](std::string body) {
        answers_ = {std::move(body)};
        return send("ann");
    };
    EXPECT_EQ(reply_to(R"({"errcode":81013,"errmsg":"x"})").code, "not_found");
    EXPECT_EQ(
        reply_to(R"({"errcode":0,"errmsg":"ok","invaliduser":"ann","msgid":"w"})").code,
        "not_found");
    EXPECT_EQ(reply_to(R"({"errcode":45002,"errmsg":"x"})").code, "too_long");
    EXPECT_EQ(reply_to(R"({"errcode":60011,"errmsg":"x"})").code, "forbidden");
    EXPECT_EQ(reply_to(R"({"errcode":99,"errmsg":"x"})").code, "refused");
    EXPECT_EQ(reply_to(R"({"errcode":-1,"errmsg":"busy"})").outcome, CallOutcome::unknown);
    EXPECT_EQ(reply_to(R"({"errcode":0,"errmsg":"ok"})").outcome, CallOutcome::unknown);
    EXPECT_EQ(reply_to("[]").outcome, CallOutcome::unknown);
}

TEST_F(WecomTest, CountsBytesAndTellsClientsWhatIsSafe) {
    std::string text;
    for (int i = 0; i < 512; ++i) {
        text += "\U0001F600";
    }
    EXPECT_EQ(send("ann", text).outcome, CallOutcome::sent);
    EXPECT_EQ(send("ann", text + "a").code, "too_long");
    EXPECT_EQ(wecom_.descriptor().max_message_length, 512);
    EXPECT_EQ(wecom_.length_limit(), 2048u);
}

TEST_F(WecomTest, AMessageArrivesUnderItsId) {
    const WebhookAnswer answer =
        wecom_.receive(callback("<xml><FromUserName>ann</FromUserName><MsgType>text</MsgType>"
                                "<Content>hi</Content><MsgId>77</MsgId></xml>"));
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "success");
    ASSERT_EQ(answer.arrivals.size(), 1u);
    EXPECT_EQ(answer.arrivals[0].event.event_id, "77");
}

constexpr const char* kPlatformEvent = "<xml><MsgType>event</MsgType></xml>";

TEST_F(WecomTest, AnEventOfThePlatformIsTakenAndGoesToNobody) {
    const WebhookAnswer answer = wecom_.receive(callback(kPlatformEvent));
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.arrivals.empty());
}

TEST_F(WecomTest, WhatIsGenuineAndUnreadableIsA400) {
    for (const char* const plain : {"not xml at all", "<xml></xml>"}) {
        const WebhookAnswer answer = wecom_.receive(callback(plain));
        EXPECT_EQ(answer.status, 400) << plain;
        EXPECT_TRUE(answer.arrivals.empty()) << plain;
    }
}

TEST_F(WecomTest, AnOldCallbackIsRefusedByOurOwnClock) {
    EXPECT_EQ(wecom_.receive(callback(kPlatformEvent, Duration::of_seconds(300))).status, 200);
    EXPECT_EQ(wecom_.receive(callback(kPlatformEvent, Duration::of_seconds(301))).status, 401);
}

TEST_F(WecomTest, ABodyWithoutAMessageIsA400) {
    WebhookRequest request = callback("<xml></xml>");
    request.body = "<xml></xml>";
    EXPECT_EQ(wecom_.receive(request).status, 400);
}

TEST_F(WecomTest, FetchesAFileWithItsToken) {
    files_ = {
        {200,
         {{"Content-Type", "image/jpeg"},
          {"Content-disposition", "attachment; filename=\"1.jpg\""}},
         "bytes"}};
    const auto file = download("media&1");
    ASSERT_TRUE(file.has_value());
    EXPECT_EQ(file->bytes, "bytes");
    EXPECT_EQ(file->content_type, "image/jpeg");
    EXPECT_EQ(file->filename, "1.jpg");
    EXPECT_EQ(
        urls_.back(),
        "https://qyapi.weixin.qq.com/cgi-bin/media/get?access_token=t1&media_id=media%261");
}

TEST_F(WecomTest, FetchesAFileWithANewTokenWhenTheOldOneIsStale) {
    files_ = {
        {200, {{"Content-Type", "application/json"}}, R"({"errcode":42001,"errmsg":"expired"})"},
        {200, {{"Content-Type", "image/jpeg"}}, "bytes"}};
    EXPECT_TRUE(download("m").has_value());
    EXPECT_EQ(tokens_, 2);
}

TEST_F(WecomTest, KnowsAnAnswerFromAFile) {
    files_ = {
        {200, {{"Content-Type", "text/plain"}}, R"({"errcode":40007,"errmsg":"invalid media_id"})"},
        {200, {{"Content-Type", "text/plain"}}, R"({"errcode":-1,"errmsg":"busy"})"},
        {200,
         {{"Content-Type", "application/json"}, {"Content-Disposition", "attachment"}},
         R"({"errcode":40007})"},
        {200, {{"Content-Type", "text/plain"}}, "a note"},
        {404, {}, ""},
        {502, {}, ""}};
    EXPECT_EQ(download("m").error(), errors::not_found);
    EXPECT_EQ(download("m").error(), errors::unavailable);
    EXPECT_EQ(download("m")->bytes, R"({"errcode":40007})");
    EXPECT_EQ(download("m")->bytes, "a note");
    EXPECT_EQ(download("m").error(), errors::not_found);
    EXPECT_EQ(download("m").error(), errors::unavailable);
    EXPECT_EQ(download("m").error(), errors::unavailable);
}

TEST_F(WecomTest, FetchesNothingWithoutAToken) {
    token_answer_ = R"({"errcode":40001,"errmsg":"invalid credential corp&secret"})";
    const auto file = download("m");
    EXPECT_EQ(file.error(), errors::unavailable);
    EXPECT_EQ(file.error().message.find("corp&secret"), std::string::npos);
}

}  // namespace
}  // namespace interlock
