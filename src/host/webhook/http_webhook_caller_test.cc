#include "host/webhook/http_webhook_caller.h"

#include <gtest/gtest.h>

#include <future>

#include "base/errors.h"
#include "net/http_server.h"

namespace interlock {
namespace {

EgressGuard looked_up_as(std::vector<std::string> addresses, const char* allowed = "") {
    std::vector<Cidr> ranges;
    if (const auto range = parse_cidr(allowed)) {
        ranges.push_back(*range);
    }
    return EgressGuard(
        std::move(ranges),
        [addresses](const std::string&, std::uint16_t) -> Result<std::vector<std::string>> {
            return addresses;
        });
}

// Answers everything with this, and keeps the first request.
struct Receiver {
    explicit Receiver(HttpResponse answer) {
        auto opened =
            HttpServer::open({}, [this, answer](HttpRequest request, const HttpResponderPtr& to) {
                to->send(answer);
                seen.set_value(std::move(request));
            });
        EXPECT_TRUE(opened);
        server = *std::move(opened);
        server->start();
    }
    std::string url() const {
        return "http://hooks.example:" + std::to_string(server->port()) + "/in?x=1";
    }
    std::promise<HttpRequest> seen;
    std::unique_ptr<HttpServer> server;
};

WebhookPost post_to(std::string url) {
    return {
        .url = std::move(url),
        .body = "{\"a\":1}",
        .signature_header = "Interlock-Signature",
        .signature = "t=1,v1=ab"};
}

TEST(HttpWebhookCaller, PostsTheBodyWithItsSignature) {  // notices.md 4.2
    Receiver receiver(text_response(204, "text/plain", ""));
    HttpWebhookCaller caller(looked_up_as({"127.0.0.1"}, "127.0.0.0/8"));
    EXPECT_TRUE(caller.judge(receiver.url()));
    EXPECT_TRUE(caller.post(post_to(receiver.url())));
    const HttpRequest request = receiver.seen.get_future().get();
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.target, "/in?x=1");
    EXPECT_EQ(request.body, "{\"a\":1}");
    EXPECT_EQ(request.header("interlock-signature"), "t=1,v1=ab");
    EXPECT_EQ(request.header("content-type"), "application/json");
    EXPECT_FALSE(request.header("authorization"));
}

TEST(HttpWebhookCaller, JudgesBothTimes) {  // notices.md 4.1: the name may have moved.
    Receiver receiver(text_response(204, "text/plain", ""));
    HttpWebhookCaller caller(looked_up_as({"127.0.0.1"}));
    EXPECT_EQ(caller.judge(receiver.url()).error(), errors::url_not_allowed);
    const auto posted = caller.post(post_to(receiver.url()));
    ASSERT_FALSE(posted);
    EXPECT_EQ(posted.error(), errors::url_not_allowed);
    EXPECT_FALSE(posted.error().message.contains("/in"));
}

TEST(HttpWebhookCaller, FollowsNoRedirectAndTakesItForAFailure) {  // notices.md 4.1
    HttpResponse redirect = text_response(302, "text/plain", "");
    redirect.set("Location", "http://127.0.0.1:1/");
    Receiver receiver(std::move(redirect));
    HttpWebhookCaller caller(looked_up_as({"127.0.0.1"}, "127.0.0.0/8"));
    EXPECT_EQ(caller.post(post_to(receiver.url())).error(), errors::webhook_failed);
}

TEST(HttpWebhookCaller, AnAnswerPastTheBoundIsAFailure) {  // notices.md 4.1
    Receiver receiver(
        text_response(200, "text/plain", std::string(kWebhookAnswerBytesMax + 1, 'a')));
    HttpWebhookCaller caller(looked_up_as({"127.0.0.1"}, "127.0.0.0/8"));
    EXPECT_EQ(caller.post(post_to(receiver.url())).error(), errors::webhook_failed);
}

TEST(HttpWebhookCaller, AnAnswerAtTheBoundIsTaken) {
    Receiver receiver(text_response(200, "text/plain", std::string(kWebhookAnswerBytesMax, 'a')));
    HttpWebhookCaller caller(looked_up_as({"127.0.0.1"}, "127.0.0.0/8"));
    EXPECT_TRUE(caller.post(post_to(receiver.url())));
}

TEST(HttpWebhookCaller, SaysWhenNobodyIsThere) {
    std::string url;
    {
        const Receiver gone(text_response(204, "text/plain", ""));
        url = gone.url();
    }
    HttpWebhookCaller caller(looked_up_as({"127.0.0.1"}, "127.0.0.0/8"));
    EXPECT_EQ(caller.post(post_to(url)).error(), errors::webhook_failed);
}

}  // namespace
}  // namespace interlock
