// The server on real sockets: exchanges in order, keep-alive, bad callers, answers from anywhere.
#include "net/http_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

#include "base/bounded_queue.h"
#include "base/json.h"
#include "net/http_client.h"
#include "net/test_peer.h"

namespace interlock {
namespace {

constexpr std::string_view kGet = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";

std::string code_of(const HttpResponse& response) {
    const auto body = parse_json(response.body);
    if (!body || body->find("error") == nullptr) {
        return "(no error object)";
    }
    return body->find("error")->find("code")->as_string();
}

TEST(HttpServer, AnswersSeveralRequestsOnOneConnection) {
    const auto server = start_server();
    RawPeer peer(server->port());
    for (const std::string body : {"one", "two", "three"}) {
        peer.send(
            "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) +
            "\r\n\r\n" + body);
        EXPECT_EQ(peer.read_response().body, "POST /p " + body);
        EXPECT_TRUE(peer.keeps_alive());
    }
    EXPECT_EQ(server->counters().requests, 3u);
    EXPECT_EQ(server->counters().accepted, 1u);
}

TEST(HttpServer, AnswersARequestThatArrivesByteByByte) {
    const auto server = start_server();
    RawPeer peer(server->port());
    for (const char c : std::string("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab")) {
        peer.send({&c, 1});
    }
    EXPECT_EQ(peer.read_response().body, "POST /p ab");
}

TEST(HttpServer, TakesBodiesLargerThanItsBuffers) {
    const auto server = start_server();
    RawPeer peer(server->port());
    const std::string body(1024 * 1024, 'b');
    for (int i = 0; i < 2; ++i) {
        peer.send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 1048576\r\n\r\n" + body);
        EXPECT_EQ(peer.read_response().body, "POST /p " + body);
    }
}

TEST(HttpServer, ReadsChunkedBodies) {
    const auto server = start_server();
    RawPeer peer(server->port());
    peer.send(
        "POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        "2\r\nab\r\n1\r\nc\r\n0\r\n\r\n");
    EXPECT_EQ(peer.read_response().body, "POST /p abc");
}

TEST(HttpServer, HandsPipelinedRequestsOverOneAtATime) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    RawPeer peer(server->port());
    peer.send(
        "GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n"
        "GET /3 HTTP/1.1\r\nHost: h\r\n\r\n");
    for (const std::string target : {"/1", "/2", "/3"}) {
        const HeldRequest request = held.next();
        EXPECT_EQ(request.request.target, target);
        EXPECT_EQ(server->counters().requests, static_cast<std::uint64_t>(target[1] - '0'));
        request.responder->send(text_response(200, "text/plain", target));
        EXPECT_EQ(peer.read_response().body, target);
    }
}

TEST(HttpServer, AnswersAFloodOfPipelinedRequestsInOrder) {
    const auto server = start_server();
    RawPeer peer(server->port());
    constexpr int kRequests = 20'000;
    auto sender = std::async(std::launch::async, [&] {
        std::string bytes;
        for (int i = 0; i < kRequests; ++i) {
            bytes += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: h\r\n\r\n";
        }
        peer.send(bytes);
    });
    for (int i = 0; i < kRequests; ++i) {
        ASSERT_EQ(peer.read_response().body, "GET /" + std::to_string(i) + " ");
    }
    sender.get();
}

TEST(HttpServer, AnswersHeadWithoutABody) {
    const auto server = start_server();
    RawPeer peer(server->port());
    peer.send("HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n");
    const HttpResponse head = peer.read_response(true);
    EXPECT_EQ(head.header("Content-Length"), "8");
    peer.send(kGet);
    EXPECT_EQ(peer.read_response().body, "GET /a ");
}

TEST(HttpServer, ClosesAfterConnectionClose) {
    const auto server = start_server();
    RawPeer peer(server->port());
    peer.send("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(peer.read_response().status, 200);
    EXPECT_FALSE(peer.keeps_alive());
    EXPECT_TRUE(peer.is_closed_by_server());
}

TEST(HttpServer, ClosesWhenTheHandlerAsksForIt) {
    const auto server = start_server([](HttpRequest, const HttpResponderPtr& responder) {
        HttpResponse response = text_response(200, "text/plain", "bye");
        response.set("Connection", "close");
        responder->send(std::move(response));
    });
    RawPeer peer(server->port());
    peer.send(kGet);
    EXPECT_EQ(peer.read_response().body, "bye");
    EXPECT_FALSE(peer.keeps_alive());
    EXPECT_TRUE(peer.is_closed_by_server());
}

TEST(HttpServer, ClosesAfterHttp10UnlessKeepAliveIsAsked) {
    const auto server = start_server();
    RawPeer closing(server->port());
    closing.send("GET /a HTTP/1.0\r\n\r\n");
    EXPECT_EQ(closing.read_response().status, 200);
    EXPECT_TRUE(closing.is_closed_by_server());

    RawPeer kept(server->port());
    for (int i = 0; i < 2; ++i) {
        kept.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        const HttpResponse response = kept.read_response();
        EXPECT_EQ(response.header("Connection"), "keep-alive");
    }
}

TEST(HttpServer, AnswersACallerThatEndedItsSide) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    RawPeer peer(server->port());
    peer.send(std::string(kGet) + std::string(kGet));
    ::shutdown(peer.descriptor(), SHUT_WR);
    held.next().responder->send(text_response(200, "text/plain", "first"));
    held.next().responder->send(text_response(200, "text/plain", "second"));
    EXPECT_EQ(peer.read_response().body, "first");
    EXPECT_EQ(peer.read_response().body, "second");
    EXPECT_TRUE(peer.is_closed_by_server());
}

TEST(HttpServer, TellsTheHandlerWhoCalls) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    RawPeer peer(server->port());
    peer.send(kGet);
    const HeldRequest request = held.next();
    EXPECT_EQ(request.request.listener, Listener::tcp);
    EXPECT_EQ(request.request.peer_address, "127.0.0.1");
    EXPECT_TRUE(request.request.peer_is_loopback);
    EXPECT_FALSE(request.request.tls);
}

TEST(HttpServer, ListensOnIpv6) {
    HttpServerConfig config;
    config.address = "::1";
    HeldRequests held;
    auto server = HttpServer::open(config, held.handler());
    if (!server) {
        GTEST_SKIP() << "no IPv6 here: " << server.error().message;
    }
    (*server)->start();
    RawPeer peer(HttpTarget{{}, "::1", (*server)->port()});
    peer.send(kGet);
    const HeldRequest request = held.next();
    EXPECT_EQ(request.request.peer_address, "::1");
    EXPECT_TRUE(request.request.peer_is_loopback);
}

TEST(HttpServer, SendsADate) {
    const auto server = start_server();
    RawPeer peer(server->port());
    peer.send(kGet);
    const HttpResponse response = peer.read_response();
    ASSERT_TRUE(response.header("Date"));
    EXPECT_TRUE(response.header("Date")->ends_with(" GMT"));
}

TEST(HttpServer, Answers500ForADroppedResponder) {
    const auto server = start_server([](HttpRequest, HttpResponderPtr) {});
    RawPeer peer(server->port());
    peer.send(kGet);
    const HttpResponse response = peer.read_response();
    EXPECT_EQ(response.status, 500);
    EXPECT_EQ(code_of(response), "internal");
    EXPECT_TRUE(peer.keeps_alive());
}

TEST(HttpServer, DropsAnAnswerWhoseCallerHasGone) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    HeldRequest orphan;
    {
        RawPeer gone(server->port());
        gone.send(kGet);
        orphan = held.next();
    }
    orphan.responder->send(text_response(200, "text/plain", "nobody"));
    RawPeer peer(server->port());
    peer.send(kGet);
    held.next().responder->send(text_response(200, "text/plain", "somebody"));
    EXPECT_EQ(peer.read_response().body, "somebody");
}

TEST(HttpServer, AnswersFromAnotherThreadInBatches) {
    constexpr std::size_t kPeers = 32;
    constexpr int kRounds = 30;
    HttpServerConfig config;
    config.threads = 2;
    BoundedQueue<HeldRequest> queue(1024, 1);
    const auto server = start_server(
        [&](HttpRequest request, HttpResponderPtr responder) {
            queue.push({std::move(request), std::move(responder)});
        },
        config);
    std::thread engine([&] {
        std::size_t answered = 0;
        while (answered < kPeers * kRounds) {
            for (HeldRequest& held : queue.pop(256, kTestPatience)) {
                held.responder->send(text_response(200, "text/plain", held.request.body));
                ++answered;
            }
        }
    });
    std::vector<std::unique_ptr<RawPeer>> peers;
    for (std::size_t i = 0; i < kPeers; ++i) {
        peers.push_back(std::make_unique<RawPeer>(server->port()));
    }
    for (int round = 0; round < kRounds; ++round) {
        for (std::size_t i = 0; i < kPeers; ++i) {
            const std::string body = std::to_string(round) + "/" + std::to_string(i);
            peers[i]->send(
                "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) +
                "\r\n\r\n" + body);
        }
        for (std::size_t i = 0; i < kPeers; ++i) {
            ASSERT_EQ(
                peers[i]->read_response().body, std::to_string(round) + "/" + std::to_string(i));
        }
    }
    engine.join();
    EXPECT_EQ(server->counters().requests, kPeers * kRounds);
}

struct SmuggleCase {
    std::string_view name;
    std::string_view bytes;
};

class HttpServerRefuses : public testing::TestWithParam<SmuggleCase> {};

// What follows the doubtful request must never be taken for a request of its own.
TEST_P(HttpServerRefuses, AndClosesWithoutReadingOn) {
    const auto server = start_server();
    RawPeer peer(server->port());
    peer.send(std::string(GetParam().bytes) + "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n");
    const HttpResponse response = peer.read_response();
    EXPECT_EQ(response.status, 400);
    EXPECT_EQ(code_of(response), "invalid_http");
    EXPECT_FALSE(peer.keeps_alive());
    EXPECT_TRUE(peer.is_closed_by_server());
    EXPECT_EQ(server->counters().requests, 0u);
    EXPECT_EQ(server->counters().bad_requests, 1u);
}

INSTANTIATE_TEST_SUITE_P(
    Smuggling,
    HttpServerRefuses,
    testing::Values(
        SmuggleCase{
            "LengthAndChunked",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
            "0\r\n\r\n"},
        SmuggleCase{
            "TwoLengths",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nContent-Length: 44\r\n\r\n"},
        SmuggleCase{
            "FoldedCoding",
            "POST / HTTP/1.1\r\nHost: h\r\nX: y\r\n Transfer-Encoding: chunked\r\n\r\n"},
        SmuggleCase{
            "UnknownCoding",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, cow\r\n\r\n0\r\n\r\n"},
        SmuggleCase{
            "BadChunkSize",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n"},
        SmuggleCase{"Connect", "CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n"},
        SmuggleCase{"Asterisk", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n"},
        SmuggleCase{"NotHttp", "hello there\r\n\r\n"}),
    [](const auto& tested) { return std::string(tested.param.name); });

// Such a client would look at a connection on which nothing happens until its patience ends.
TEST(HttpServer, TellsAtOnceWhoSpeaksTlsToAPlainPort) {
    const auto server = start_server();
    RawPeer peer(server->port());
    peer.send(std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11));
    EXPECT_EQ(peer.read_response().status, 400);
    EXPECT_TRUE(peer.is_closed_by_server());
    EXPECT_EQ(server->counters().bad_requests, 1u);
}

TEST(HttpServer, AnswersWhatCameBeforeAMalformedRequest) {
    const auto server = start_server();
    RawPeer peer(server->port());
    peer.send(std::string(kGet) + "nonsense\r\n\r\n");
    EXPECT_EQ(peer.read_response().status, 200);
    EXPECT_EQ(peer.read_response().status, 400);
    EXPECT_TRUE(peer.is_closed_by_server());
}

TEST(HttpServer, SaysWhyItCannotListen) {
    const auto first = start_server();
    HttpServerConfig config;
    config.port = first->port();
    const auto taken = HttpServer::open(config, echo);
    ASSERT_FALSE(taken.has_value());
    EXPECT_NE(taken.error().message.find(std::to_string(config.port)), std::string::npos);

    config.address = "not-an-address";
    const auto unknown = HttpServer::open(config, echo);
    ASSERT_FALSE(unknown.has_value());
    EXPECT_NE(unknown.error().message.find("not-an-address"), std::string::npos);

    config = {};
    config.threads = 0;
    EXPECT_FALSE(HttpServer::open(config, echo).has_value());
    config = {};
    config.address = "";
    EXPECT_FALSE(HttpServer::open(config, echo).has_value());
}

}  // namespace
}  // namespace interlock
