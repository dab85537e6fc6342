// Calls by the web client, and that its errors tell rightly whether anything left.
#include "net/web_client.h"

#include <gtest/gtest.h>

#include "net/test_certificate.h"
#include "net/test_scripted_server.h"

namespace interlock {
namespace {

std::string url_of(std::uint16_t port, std::string_view target = "/") {
    return "http://127.0.0.1:" + std::to_string(port) + std::string(target);
}

WebCall call_to(std::string url, std::string method = "GET", std::string body = {}) {
    WebCall call;
    call.method = std::move(method);
    call.url = std::move(url);
    call.body = std::move(body);
    return call;
}

std::string code_of(const Result<HttpResponse>& result) {
    return result ? "(answered)" : std::string(result.error().code());
}

// A port on which nobody listens.
std::uint16_t dead_port() {
    std::unique_ptr<HttpServer> server = start_server();
    return server->port();
}

constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

TEST(WebClient, CarriesMethodTargetHeadersAndBody) {
    HttpRequest seen;
    const auto server = start_server([&](HttpRequest request, const HttpResponderPtr& responder) {
        seen = std::move(request);
        HttpResponse response = text_response(418, "text/plain", "short and stout");
        response.set("X-Answer", "yes");
        responder->send(std::move(response));
    });
    WebCall call = call_to(url_of(server->port(), "/a/../b?c=%20d"), "PATCH", "the body");
    call.headers = {{"Authorization", "Bot x"}, {"Content-Type", "application/json"}, {"E", ""}};
    const auto response = WebClient::create()->send(call);
    ASSERT_TRUE(response.has_value()) << response.error().message;
    EXPECT_EQ(response->status, 418);
    EXPECT_EQ(response->body, "short and stout");
    EXPECT_EQ(response->header("x-answer"), "yes");
    EXPECT_EQ(seen.method, "PATCH");
    EXPECT_EQ(seen.target, "/a/../b?c=%20d");
    EXPECT_EQ(seen.body, "the body");
    EXPECT_EQ(seen.header("Authorization"), "Bot x");
    EXPECT_EQ(seen.header("Content-Type"), "application/json");
    EXPECT_EQ(seen.header("E"), "");
}

TEST(WebClient, AddsNoContentTypeAndNoExpectOfItsOwn) {
    HttpRequest seen;
    const auto server = start_server([&](HttpRequest request, const HttpResponderPtr& responder) {
        seen = std::move(request);
        responder->send(text_response(200, "text/plain", ""));
    });
    const auto response = WebClient::create()->send(
        call_to(url_of(server->port()), "POST", std::string(100'000, 'x')));
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(seen.body.size(), 100'000U);
    EXPECT_FALSE(seen.header("Content-Type"));
    EXPECT_FALSE(seen.header("Expect"));
}

TEST(WebClient, SendsEveryMethodOneAfterAnother) {
    const auto server = start_server();
    const auto client = WebClient::create();
    for (const std::string method : {"GET", "POST", "DELETE", "PUT", "GET"}) {
        const auto response = client->send(call_to(url_of(server->port(), "/m"), method));
        ASSERT_TRUE(response.has_value());
        EXPECT_EQ(response->body, method + " /m ");
    }
    const auto head = client->send(call_to(url_of(server->port(), "/m"), "HEAD"));
    ASSERT_TRUE(head.has_value());
    EXPECT_EQ(head->body, "");
    EXPECT_EQ(server->counters().accepted, 1U);  // All over one connection.
}

TEST(WebClient, FollowsNoRedirect) {
    const auto server = start_server([](HttpRequest request, const HttpResponderPtr& responder) {
        HttpResponse response = text_response(302, "text/plain", request.target);
        response.set("Location", "/elsewhere");
        responder->send(std::move(response));
    });
    const auto response = WebClient::create()->send(call_to(url_of(server->port(), "/here")));
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(response->status, 302);
    EXPECT_EQ(response->body, "/here");
    EXPECT_EQ(server->counters().requests, 1U);
}

TEST(WebClient, ConnectsToThePinnedAddressUnderTheNameOfTheUrl) {
    HttpRequest seen;
    const auto server = start_server([&](HttpRequest request, const HttpResponderPtr& responder) {
        seen = std::move(request);
        responder->send(text_response(200, "text/plain", ""));
    });
    const std::string port = std::to_string(server->port());
    WebCall call = call_to("http://nowhere.invalid:" + port + "/");
    call.pinned_address = "127.0.0.1";
    const auto response = WebClient::create()->send(call);
    ASSERT_TRUE(response.has_value()) << response.error().message;
    EXPECT_EQ(seen.header("Host"), "nowhere.invalid:" + port);
}

TEST(WebClient, APinIsHeldEvenAgainstAKeptConnection) {
    const auto server = start_server();
    const auto client = WebClient::create();
    const std::string url = "http://localhost:" + std::to_string(server->port()) + "/";
    ASSERT_TRUE(client->send(call_to(url)).has_value());
    WebCall call = call_to(url, "POST");
    call.pinned_address = "127.0.0.2";  // Also this machine, where the server does not listen.
    EXPECT_EQ(code_of(client->send(call)), "web_not_sent");
    EXPECT_EQ(server->counters().requests, 1U);
}

TEST(WebClient, NothingLeftWhenNobodyListens) {
    EXPECT_EQ(
        code_of(WebClient::create()->send(call_to(url_of(dead_port()), "POST"))), "web_not_sent");
}

TEST(WebClient, NothingLeftWhenTheHostIsUnknown) {
    const auto result =
        WebClient::create()->send(call_to("http://nowhere.invalid/bot-secret", "POST"));
    EXPECT_EQ(code_of(result), "web_not_sent");
    EXPECT_FALSE(result.error().message.contains("secret"));
}

TEST(WebClient, ACutAfterTheRequestLeavesItUnknown) {
    ScriptedServer server(
        [](ScriptedConnection& connection, int) { connection.read_through("\r\n\r\n"); });
    const auto result =
        WebClient::create()->send(call_to(url_of(server.port(), "/secret"), "POST"));
    EXPECT_EQ(code_of(result), "web_unknown");
    EXPECT_FALSE(result.error().retryable());
    EXPECT_FALSE(result.error().message.contains("secret"));
}

TEST(WebClient, ACutInsideTheAnswerLeavesItUnknown) {
    ScriptedServer server([](ScriptedConnection& connection, int) {
        connection.read_through("\r\n\r\n");
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    });
    EXPECT_EQ(
        code_of(WebClient::create()->send(call_to(url_of(server.port()), "POST"))), "web_unknown");
}

TEST(WebClient, SilenceLeavesItUnknown) {
    ScriptedServer server([](ScriptedConnection& connection, int) {
        connection.read_through("\r\n\r\n");
        connection.read_through("never");  // Until the client gives up.
    });
    WebCall call = call_to(url_of(server.port()), "POST");
    call.timeout = std::chrono::milliseconds(50);
    EXPECT_EQ(code_of(WebClient::create()->send(call)), "web_unknown");
}

TEST(WebClient, AnAnswerThatIsNoHttpLeavesItUnknown) {
    ScriptedServer server([](ScriptedConnection& connection, int) {
        connection.read_through("\r\n\r\n");
        connection.send("220 mail.example ESMTP\r\n");
    });
    EXPECT_EQ(
        code_of(WebClient::create()->send(call_to(url_of(server.port()), "POST"))), "web_unknown");
}

TEST(WebClient, AnAnswerBeyondTheBoundLeavesItUnknown) {
    const auto server = start_server([](HttpRequest, const HttpResponderPtr& responder) {
        responder->send(text_response(200, "text/plain", std::string(1000, 'x')));
    });
    const auto client = WebClient::create();
    WebCall call = call_to(url_of(server->port()));
    call.body_bytes_max = 1000;
    EXPECT_EQ(code_of(client->send(call)), "(answered)");
    call.body_bytes_max = 999;
    const auto result = client->send(call);
    EXPECT_EQ(code_of(result), "web_unknown");
    EXPECT_TRUE(result.error().message.contains("larger"));
}

// The first request of a connection is answered; on the second the server hangs up.
class HangsUp {
public:
    int requests() const { return requests_.load(); }
    std::uint16_t port() const { return server_.port(); }

private:
    std::atomic<int> requests_{0};
    ScriptedServer server_{[this](ScriptedConnection& connection, int) {
        if (!connection.read_through("\r\n\r\n").empty()) {
            ++requests_;
            connection.send(kAnswer);
        }
        if (!connection.read_through("\r\n\r\n").empty()) {
            ++requests_;
        }
    }};
};

TEST(WebClient, NeverSendsAPostTwice) {
    const HangsUp server;
    const auto client = WebClient::create();
    EXPECT_EQ(code_of(client->send(call_to(url_of(server.port()), "POST"))), "(answered)");
    EXPECT_EQ(code_of(client->send(call_to(url_of(server.port()), "POST"))), "web_unknown");
    EXPECT_EQ(server.requests(), 2);
}

TEST(WebClient, MaySendAGetTwice) {
    const HangsUp server;
    const auto client = WebClient::create();
    EXPECT_EQ(code_of(client->send(call_to(url_of(server.port())))), "(answered)");
    EXPECT_EQ(code_of(client->send(call_to(url_of(server.port())))), "(answered)");
    EXPECT_EQ(server.requests(), 3);
}

TEST(WebClient, EndsWhenItIsCancelled) {
    std::atomic<bool> is_cancelled{false};
    ScriptedServer server([&](ScriptedConnection& connection, int) {
        connection.read_through("\r\n\r\n");
        is_cancelled = true;
        connection.read_through("never");
    });
    WebCall call = call_to(url_of(server.port()), "POST");
    call.timeout = kTestPatience;
    call.is_cancelled = &is_cancelled;
    const auto result = WebClient::create()->send(call);
    EXPECT_EQ(code_of(result), "web_unknown");
    EXPECT_TRUE(result.error().message.contains("aborted")) << result.error().message;
}

TEST(WebClient, RefusesCallsThatCannotBeMade) {
    const auto client = WebClient::create();
    EXPECT_EQ(code_of(client->send(call_to("ws://127.0.0.1/"))), "invalid_request");
    EXPECT_EQ(code_of(client->send(call_to("http://x/", "GET /"))), "invalid_request");
    WebCall call = call_to("http://127.0.0.1/");
    call.headers = {{"A", "b\r\nC: d"}};
    EXPECT_EQ(code_of(client->send(call)), "invalid_request");
    call.headers = {};
    call.pinned_address = "localhost";
    EXPECT_EQ(code_of(client->send(call)), "invalid_request");
}

class WebClientTls : public testing::Test {
protected:
    WebCall call() const {
        WebCall call =
            call_to("https://localhost:" + std::to_string(server_->port()) + "/x", "POST", "b");
        call.ca_file = certificate_.files.certificate_chain_path;
        call.pinned_address = "127.0.0.1";
        return call;
    }

    const TestCertificate certificate_;
    const std::unique_ptr<HttpServer> server_ = start_server(echo, [&] {
        HttpServerConfig config;
        config.tls = certificate_.files;
        return config;
    }());
    const std::unique_ptr<WebClient> client_ = WebClient::create();
};

TEST_F(WebClientTls, TalksToAServerItTrusts) {
    const auto response = client_->send(call());
    ASSERT_TRUE(response.has_value()) << response.error().message;
    EXPECT_EQ(response->body, "POST /x b");
}

TEST_F(WebClientTls, SendsNothingToAServerItDoesNotTrust) {
    WebCall untrusting = call();
    untrusting.ca_file.clear();
    EXPECT_EQ(code_of(client_->send(untrusting)), "web_not_sent");
    EXPECT_EQ(server_->counters().requests, 0U);
}

TEST_F(WebClientTls, SendsNothingToACertificateOfAnotherName) {
    WebCall other = call();
    other.url = "https://other.invalid:" + std::to_string(server_->port()) + "/x";
    EXPECT_EQ(code_of(client_->send(other)), "web_not_sent");
    EXPECT_EQ(server_->counters().requests, 0U);
}

TEST_F(WebClientTls, SendsNothingToAServerThatSpeaksPlainText) {
    ScriptedServer plain([](ScriptedConnection& connection, int) { connection.send(kAnswer); });
    WebCall other = call();
    other.url = "https://localhost:" + std::to_string(plain.port()) + "/x";
    EXPECT_EQ(code_of(client_->send(other)), "web_not_sent");
}

}  // namespace
}  // namespace interlock
