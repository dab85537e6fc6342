// The client: reuse of connections, what may be sent again, timeouts, streams.
#include "net/http_client.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "net/http_server.h"
#include "net/test_peer.h"

namespace interlock {
namespace {

using std::chrono::milliseconds;

HttpRequest get(std::string target) {
    HttpRequest request;
    request.method = "GET";
    request.target = std::move(target);
    return request;
}

HttpRequest post(std::string target, std::string body) {
    HttpRequest request;
    request.method = "POST";
    request.target = std::move(target);
    request.body = std::move(body);
    return request;
}

std::unique_ptr<HttpClient> client_of(
    const HttpServer& server, milliseconds timeout = kTestPatience) {
    return HttpClient::create({{}, "127.0.0.1", server.port()}, timeout);
}

// A server that answers every connection with fixed bytes and closes it.
class ScriptedServer {
public:
    explicit ScriptedServer(std::string answer) : answer_(std::move(answer)) {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        auto* generic = reinterpret_cast<sockaddr*>(&address);
        EXPECT_EQ(::bind(listener_, generic, size), 0);
        EXPECT_EQ(::listen(listener_, 8), 0);
        EXPECT_EQ(::getsockname(listener_, generic, &size), 0);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] { serve(); });
    }
    ~ScriptedServer() {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
    }
    ScriptedServer(const ScriptedServer&) = delete;
    ScriptedServer& operator=(const ScriptedServer&) = delete;

    HttpTarget target() const { return {{}, "127.0.0.1", port_}; }
    int connections() const { return connections_; }
    void wait_for_close() {
        ASSERT_EQ(closed_.get_future().wait_for(kTestPatience), std::future_status::ready);
    }

private:
    void serve() {
        while (true) {
            const int connection = ::accept(listener_, nullptr, nullptr);
            if (connection < 0) {
                return;
            }
            ++connections_;
            std::string received;
            char buffer[4096];
            while (received.find("\r\n\r\n") == std::string::npos) {
                const ssize_t count = ::recv(connection, buffer, sizeof(buffer), 0);
                if (count <= 0) {
                    break;
                }
                received.append(buffer, static_cast<std::size_t>(count));
            }
            ::send(connection, answer_.data(), answer_.size(), MSG_NOSIGNAL);
            ::close(connection);
            if (connections_ == 1) {
                closed_.set_value();
            }
        }
    }

    const std::string answer_;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::atomic<int> connections_{0};
    std::promise<void> closed_;  // The first connection is closed.
    std::thread thread_;
};

TEST(HttpClient, SendsRequestsOnOneConnection) {
    const auto server = start_server();
    const auto client = client_of(*server);
    for (int i = 0; i < 3; ++i) {
        const auto response = client->send(post("/p", "body"));
        ASSERT_TRUE(response.has_value()) << response.error().message;
        EXPECT_EQ(response->body, "POST /p body");
    }
    EXPECT_EQ(server->counters().accepted, 1u);
}

TEST(HttpClient, NamesTheHostItCalls) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    const auto client = client_of(*server);
    auto sending = std::async(std::launch::async, [&] { return client->send(get("/")); });
    const HeldRequest request = held.next();
    EXPECT_EQ(request.request.header("Host"), "127.0.0.1:" + std::to_string(server->port()));
    request.responder->send(text_response(200, "text/plain", ""));
    EXPECT_TRUE(sending.get().has_value());
}

TEST(HttpClient, ReachesAUnixSocket) {
    const TestFolder folder;
    HttpServerConfig config;
    config.unix_socket_path = folder / "s";
    const auto server = start_server(echo, config);
    const auto client = HttpClient::create({folder / "s", "localhost", 0});
    const auto response = client->send(get("/u"));
    ASSERT_TRUE(response.has_value()) << response.error().message;
    EXPECT_EQ(response->body, "GET /u ");
}

TEST(HttpClient, FindsAHostByName) {
    const auto server = start_server();
    const auto client = HttpClient::create({{}, "localhost", server->port()});
    EXPECT_EQ(client->send(get("/n")).value().status, 200);
}

TEST(HttpClient, UnderstandsHeadAndBodylessAnswers) {
    const auto server = start_server([](HttpRequest request, const HttpResponderPtr& responder) {
        responder->send(text_response(request.target == "/none" ? 204 : 200, "a", "body"));
    });
    const auto client = client_of(*server);
    HttpRequest head = get("/");
    head.method = "HEAD";
    const auto answer = client->send(head);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->header("Content-Length"), "4");
    EXPECT_EQ(answer->body, "");
    EXPECT_EQ(client->send(get("/none")).value().status, 204);
    EXPECT_EQ(client->send(get("/")).value().body, "body");
    EXPECT_EQ(server->counters().accepted, 1u);
}

TEST(HttpClient, OpensAnewWhenAKeptConnectionWasClosed) {
    ScriptedServer server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    const auto client = HttpClient::create(server.target(), kTestPatience);
    EXPECT_EQ(client->send(post("/1", "a")).value().body, "ok");
    server.wait_for_close();
    EXPECT_EQ(client->send(post("/2", "b")).value().body, "ok");
    EXPECT_EQ(server.connections(), 2);
}

TEST(HttpClient, NeverSendsARequestTwice) {
    const ScriptedServer server("");  // Takes the request and closes without an answer.
    const auto client = HttpClient::create(server.target(), kTestPatience);
    const auto response = client->send(post("/order", "buy"));
    ASSERT_FALSE(response.has_value());
    EXPECT_EQ(response.error().code(), "unavailable");
    EXPECT_EQ(server.connections(), 1);
}

TEST(HttpClient, OpensAnewAfterConnectionClose) {
    const ScriptedServer server(
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
    const auto client = HttpClient::create(server.target(), kTestPatience);
    EXPECT_EQ(client->send(get("/")).value().body, "ok");
    EXPECT_EQ(client->send(get("/")).value().body, "ok");
    EXPECT_EQ(server.connections(), 2);
}

TEST(HttpClient, ReadsABodyThatEndsWithTheConnection) {
    const ScriptedServer server("HTTP/1.0 200 OK\r\n\r\nuntil the end");
    const auto client = HttpClient::create(server.target(), kTestPatience);
    EXPECT_EQ(client->send(get("/")).value().body, "until the end");
}

TEST(HttpClient, SaysWhenTheAnswerIsNotHttp) {
    const ScriptedServer server("220 mail.example.com ESMTP\r\n\r\n");
    const auto client = HttpClient::create(server.target(), kTestPatience);
    const auto response = client->send(get("/"));
    ASSERT_FALSE(response.has_value());
    EXPECT_NE(response.error().message.find("not well-formed"), std::string::npos);
}

TEST(HttpClient, SaysWhenTheAnswerIsCutShort) {
    const ScriptedServer server("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
    const auto client = HttpClient::create(server.target(), kTestPatience);
    EXPECT_FALSE(client->send(get("/")).has_value());
}

TEST(HttpClient, RefusesABodyOverItsBound) {
    const ScriptedServer server("HTTP/1.1 200 OK\r\nContent-Length: 67108865\r\n\r\n");
    const auto client = HttpClient::create(server.target(), kTestPatience);
    const auto response = client->send(get("/"));
    ASSERT_FALSE(response.has_value());
    EXPECT_NE(response.error().message.find("too large"), std::string::npos);
}

TEST(HttpClient, GivesUpOnASilentServer) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    const auto client = client_of(*server, milliseconds(50));
    const auto response = client->send(get("/"));
    ASSERT_FALSE(response.has_value());
    EXPECT_EQ(response.error().code(), "timed_out");
    // The late answer must not be taken for the next one's.
    held.next().responder->send(text_response(200, "text/plain", "late"));
    auto again = std::async(std::launch::async, [&] { return client->send(get("/2")); });
    held.next().responder->send(text_response(200, "text/plain", "second"));
    const auto second = again.get();
    if (second) {  // On a crowded machine even this one may be late, but never mixed up.
        EXPECT_EQ(second->body, "second");
    } else {
        EXPECT_EQ(second.error().code(), "timed_out");
    }
}

TEST(HttpClient, SaysWhereNobodyListens) {
    std::uint16_t port = 0;
    {
        const auto server = start_server();
        port = server->port();
    }
    const auto client = HttpClient::create({{}, "127.0.0.1", port});
    const auto response = client->send(get("/"));
    ASSERT_FALSE(response.has_value());
    EXPECT_EQ(response.error().code(), "unavailable");
    EXPECT_NE(response.error().message.find(std::to_string(port)), std::string::npos);
    EXPECT_FALSE(HttpClient::create({"/nonexistent/s", "x", 0})->send(get("/")).has_value());
}

TEST(HttpClient, PassesStreamedPiecesOn) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    const auto client = client_of(*server);
    std::string received;
    std::promise<void> first_came;
    auto streaming = std::async(std::launch::async, [&] {
        return client->send_streaming(
            get("/events"), [&](const HttpResponse& head, std::string_view bytes) {
                EXPECT_EQ(head.header("Content-Type"), "text/event-stream");
                if (received.empty()) {
                    first_came.set_value();
                }
                received += bytes;
                return true;
            });
    });
    const auto stream =
        held.next().responder->start_stream(text_response(200, "text/event-stream", ""));
    stream->write("one");
    ASSERT_EQ(first_came.get_future().wait_for(kTestPatience), std::future_status::ready);
    stream->write("two");
    stream->close();
    const auto head = streaming.get();
    ASSERT_TRUE(head.has_value()) << head.error().message;
    EXPECT_EQ(head->status, 200);
    EXPECT_EQ(head->body, "");
    EXPECT_EQ(received, "onetwo");
}

TEST(HttpClient, LeavesAStreamWhenTheCallerHasSeenEnough) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    const auto client = client_of(*server);
    auto streaming = std::async(std::launch::async, [&] {
        return client->send_streaming(
            get("/events"), [](const HttpResponse&, std::string_view) { return false; });
    });
    const auto stream = held.next().responder->start_stream(text_response(200, "a", ""));
    std::promise<void> left;
    stream->on_peer_closed([&] { left.set_value(); });
    stream->write("one");
    EXPECT_TRUE(streaming.get().has_value());
    EXPECT_EQ(left.get_future().wait_for(kTestPatience), std::future_status::ready);
}

}  // namespace
}  // namespace interlock
