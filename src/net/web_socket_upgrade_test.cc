// The opening handshake: which requests become a WebSocket, and what the others are told.
#include "net/web_socket_upgrade.h"

#include <gtest/gtest.h>

#include "net/web_socket.h"

namespace interlock {
namespace {

// The example of RFC 6455 section 1.3.
HttpRequest good_request() {
    HttpRequest request;
    request.method = "GET";
    request.target = "/chat";
    request.headers = {
        {"Host", "server.example.com"},
        {"Upgrade", "websocket"},
        {"Connection", "Upgrade"},
        {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
        {"Sec-WebSocket-Version", "13"},
    };
    return request;
}

void set_header(HttpRequest& request, const std::string& name, const std::string& value) {
    std::erase_if(request.headers, [&](const HttpHeader& header) { return header.first == name; });
    request.headers.emplace_back(name, value);
}

TEST(WebSocketUpgrade, AnswersTheKeyOfTheStandardsExample) {
    const UpgradeOffer offer = judge_upgrade(good_request(), false);
    EXPECT_EQ(offer.refusal, 0);
    EXPECT_EQ(offer.accept_key, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    std::string out;
    append_upgrade_answer(out, offer.accept_key);
    EXPECT_TRUE(out.starts_with("HTTP/1.1 101 "));
    EXPECT_TRUE(out.ends_with("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"));
}

TEST(WebSocketUpgrade, ReadsTokensInListsAndAnyCase) {
    HttpRequest request = good_request();
    set_header(request, "Connection", "keep-alive, UPGRADE");
    set_header(request, "Upgrade", "h2c, WebSocket");
    EXPECT_TRUE(is_web_socket_upgrade(request));
    EXPECT_EQ(judge_upgrade(request, false).refusal, 0);
}

TEST(WebSocketUpgrade, TakesOnlyWholeTokens) {
    HttpRequest request = good_request();
    set_header(request, "Upgrade", "websockets");
    EXPECT_FALSE(is_web_socket_upgrade(request));
    request = good_request();
    set_header(request, "Connection", "not-upgrade");
    EXPECT_FALSE(is_web_socket_upgrade(request));
}

TEST(WebSocketUpgrade, AnOrdinaryRequestIsNoUpgrade) {
    HttpRequest request;
    request.method = "GET";
    EXPECT_FALSE(is_web_socket_upgrade(request));
    EXPECT_EQ(judge_upgrade(request, false).refusal, 400);
}

TEST(WebSocketUpgrade, RefusesAnotherVersionAndNamesItsOwn) {
    HttpRequest request = good_request();
    set_header(request, "Sec-WebSocket-Version", "8");
    EXPECT_EQ(judge_upgrade(request, false).refusal, 426);
    const HttpResponse refusal = upgrade_refusal(426);
    EXPECT_EQ(refusal.status, 426);
    EXPECT_EQ(refusal.header("Sec-WebSocket-Version"), "13");
    EXPECT_EQ(refusal.header("Upgrade"), "websocket");
}

struct BadRequest {
    std::string name;
    void (*spoil)(HttpRequest&);
};

class BadUpgrade : public testing::TestWithParam<BadRequest> {};

TEST_P(BadUpgrade, IsRefusedWith400) {
    HttpRequest request = good_request();
    GetParam().spoil(request);
    const UpgradeOffer offer = judge_upgrade(request, false);
    EXPECT_EQ(offer.refusal, 400);
    EXPECT_TRUE(offer.accept_key.empty());
    EXPECT_EQ(upgrade_refusal(offer.refusal).header("Connection"), "close");
}

INSTANTIATE_TEST_SUITE_P(
    WebSocketUpgrade,
    BadUpgrade,
    testing::Values(
        BadRequest{"Post", [](HttpRequest& r) { r.method = "POST"; }},
        BadRequest{"Body", [](HttpRequest& r) { r.body = "x"; }},
        BadRequest{"Length", [](HttpRequest& r) { set_header(r, "Content-Length", "1"); }},
        BadRequest{"Chunks", [](HttpRequest& r) { set_header(r, "Transfer-Encoding", "chunked"); }},
        BadRequest{"NoConnection", [](HttpRequest& r) { set_header(r, "Connection", "close"); }},
        BadRequest{
            "NoVersion",
            [](HttpRequest& r) {
                std::erase_if(r.headers, [](const HttpHeader& h) {
                    return h.first == "Sec-WebSocket-Version";
                });
            }},
        BadRequest{
            "TwoVersions",
            [](HttpRequest& r) { r.headers.emplace_back("Sec-WebSocket-Version", "13"); }},
        BadRequest{
            "NoKey",
            [](HttpRequest& r) {
                std::erase_if(
                    r.headers, [](const HttpHeader& h) { return h.first == "Sec-WebSocket-Key"; });
            }},
        BadRequest{"EmptyKey", [](HttpRequest& r) { set_header(r, "Sec-WebSocket-Key", ""); }},
        BadRequest{
            "ShortKey",
            [](HttpRequest& r) { set_header(r, "Sec-WebSocket-Key", "dGhlIHNhbXBsZQ=="); }},
        BadRequest{
            "KeyNoBase64",
            [](HttpRequest& r) { set_header(r, "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ!="); }},
        BadRequest{
            "TwoKeys",
            [](HttpRequest& r) {
                r.headers.emplace_back("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
            }}),
    [](const auto& entry) { return entry.param.name; });

TEST(WebSocketUpgrade, RefusesHttp10) {
    EXPECT_EQ(judge_upgrade(good_request(), true).refusal, 400);
}

TEST(WebSocketUpgrade, AContentLengthOfZeroIsNoBody) {
    HttpRequest request = good_request();
    set_header(request, "Content-Length", "0");
    EXPECT_EQ(judge_upgrade(request, false).refusal, 0);
}

}  // namespace
}  // namespace interlock
