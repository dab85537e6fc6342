// Streams: pieces in order, ends that can be told apart, peers that leave.
#include <gtest/gtest.h>

#include <thread>

#include "net/http_client.h"
#include "net/http_server.h"
#include "net/test_peer.h"

namespace interlock {
namespace {

constexpr std::string_view kGet = "GET /events HTTP/1.1\r\nHost: h\r\n\r\n";

HttpResponse event_head() {
    return text_response(200, "text/event-stream", "");
}

TEST(HttpStream, SendsPiecesAsTheyAreWritten) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    RawPeer peer(server->port());
    peer.send(kGet);
    const auto stream = held.next().responder->start_stream(event_head());
    ASSERT_TRUE(peer.read_until("Transfer-Encoding: chunked\r\n\r\n"));
    EXPECT_TRUE(stream->write("data: 1\n\n"));
    ASSERT_TRUE(peer.read_until("9\r\ndata: 1\n\n\r\n"));
    EXPECT_TRUE(stream->write("data: 2\n\n"));
    ASSERT_TRUE(peer.read_until("9\r\ndata: 2\n\n\r\n"));
    EXPECT_TRUE(stream->is_open());
    stream->close();
    EXPECT_FALSE(stream->is_open());
    EXPECT_FALSE(stream->write("late"));
    const HttpResponse response = peer.read_response();
    EXPECT_EQ(response.body, "data: 1\n\ndata: 2\n\n");
    EXPECT_EQ(response.header("Content-Type"), "text/event-stream");
}

TEST(HttpStream, KeepsTheConnectionForTheNextRequest) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    RawPeer peer(server->port());
    peer.send(std::string(kGet) + "GET /next HTTP/1.1\r\nHost: h\r\n\r\n");
    {
        const auto stream = held.next().responder->start_stream(event_head());
        stream->write("x");
    }  // Dropping the stream ends it properly.
    EXPECT_EQ(peer.read_response().body, "x");
    const HeldRequest next = held.next();
    EXPECT_EQ(next.request.target, "/next");
    next.responder->send(text_response(200, "text/plain", "y"));
    EXPECT_EQ(peer.read_response().body, "y");
}

TEST(HttpStream, IgnoresEmptyPieces) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    RawPeer peer(server->port());
    peer.send(kGet);
    const auto stream = held.next().responder->start_stream(event_head());
    EXPECT_TRUE(stream->write(""));
    EXPECT_TRUE(stream->write("x"));
    stream->close();
    EXPECT_EQ(peer.read_response().body, "x");
}

TEST(HttpStream, KeepsTheOrderOfEachWriter) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    RawPeer peer(server->port());
    peer.send(kGet);
    const auto stream = held.next().responder->start_stream(event_head());
    constexpr int kPieces = 2000;
    const auto write_all = [&](char first) {
        for (int i = 0; i < kPieces; ++i) {
            ASSERT_TRUE(stream->write(std::string(1, static_cast<char>(first + i % 26))));
        }
    };
    std::thread lower([&] { write_all('a'); });
    std::thread upper([&] { write_all('A'); });
    lower.join();
    upper.join();
    stream->close();
    const std::string body = peer.read_response().body;
    ASSERT_EQ(body.size(), 2u * kPieces);
    int lower_seen = 0;
    int upper_seen = 0;
    for (const char c : body) {
        const bool is_lower = c >= 'a';
        int& seen = is_lower ? lower_seen : upper_seen;
        ASSERT_EQ(c, static_cast<char>((is_lower ? 'a' : 'A') + seen % 26));
        ++seen;
    }
}

TEST(HttpStream, SaysWhenThePeerHasGone) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    std::promise<void> closed;
    std::shared_ptr<HttpStream> stream;
    {
        RawPeer peer(server->port());
        peer.send(kGet);
        stream = held.next().responder->start_stream(event_head());
        stream->on_peer_closed([&] { closed.set_value(); });
        ASSERT_TRUE(peer.read_until("\r\n\r\n"));
    }
    ASSERT_EQ(closed.get_future().wait_for(kTestPatience), std::future_status::ready);
    EXPECT_FALSE(stream->is_open());
    EXPECT_FALSE(stream->write("x"));
}

TEST(HttpStream, SaysSoEvenToThoseWhoAskAfterwards) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    std::promise<void> first;
    std::shared_ptr<HttpStream> stream;
    {
        RawPeer peer(server->port());
        peer.send(kGet);
        stream = held.next().responder->start_stream(event_head());
        stream->on_peer_closed([&] { first.set_value(); });
    }
    ASSERT_EQ(first.get_future().wait_for(kTestPatience), std::future_status::ready);
    std::promise<void> second;
    stream->on_peer_closed([&] { second.set_value(); });
    EXPECT_EQ(second.get_future().wait_for(kTestPatience), std::future_status::ready);
}

TEST(HttpStream, DoesNotCallBackAfterClose) {
    HeldRequests held;
    auto server = start_server(held.handler());
    std::atomic<bool> was_called{false};
    {
        RawPeer peer(server->port());
        peer.send(kGet);
        const auto stream = held.next().responder->start_stream(event_head());
        stream->on_peer_closed([&] { was_called = true; });
        stream->close();
        stream->on_peer_closed([&] { was_called = true; });
        EXPECT_EQ(peer.read_response().status, 200);
    }
    server.reset();
    EXPECT_FALSE(was_called);
}

TEST(HttpStream, CutsOffAPeerThatFallsTooFarBehind) {
    HeldRequests held;
    HttpServerConfig config;
    config.limits.stream_unsent_bytes_max = 1024 * 1024;
    const auto server = start_server(held.handler(), config);
    RawPeer peer(server->port());
    peer.send(kGet);
    const auto stream = held.next().responder->start_stream(event_head());
    std::promise<void> closed;
    stream->on_peer_closed([&] { closed.set_value(); });
    // The kernel takes some megabytes for the peer; after those the bound must bite.
    int pieces = 0;
    while (pieces < 10'000 && stream->write(std::string(64 * 1024, 'x'))) {
        ++pieces;
    }
    EXPECT_LT(pieces, 10'000);
    EXPECT_FALSE(stream->is_open());
    ASSERT_EQ(closed.get_future().wait_for(kTestPatience), std::future_status::ready);
    const std::string received = peer.read_to_end();
    EXPECT_FALSE(received.ends_with("0\r\n\r\n"));  // The peer can tell that something is missing.
}

TEST(HttpStream, RefusesOnePieceOverTheBound) {
    HeldRequests held;
    HttpServerConfig config;
    config.limits.stream_unsent_bytes_max = 100;
    const auto server = start_server(held.handler(), config);
    RawPeer peer(server->port());
    peer.send(kGet);
    const auto stream = held.next().responder->start_stream(event_head());
    EXPECT_FALSE(stream->write(std::string(101, 'x')));
    EXPECT_FALSE(peer.read_to_end().ends_with("0\r\n\r\n"));
}

TEST(HttpStream, RunsUntilTheCloseForHttp10) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    RawPeer peer(server->port());
    peer.send("GET /events HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    const auto stream = held.next().responder->start_stream(event_head());
    stream->write("abc");
    stream->close();
    const std::string received = peer.read_to_end();
    EXPECT_EQ(received.find("chunked"), std::string::npos);
    EXPECT_TRUE(received.ends_with("\r\n\r\nabc")) << received;
}

TEST(HttpStream, HasNoListenerOnHead) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    RawPeer peer(server->port());
    peer.send("HEAD /events HTTP/1.1\r\nHost: h\r\n\r\n");
    const auto stream = held.next().responder->start_stream(event_head());
    EXPECT_EQ(peer.read_response(true).status, 200);
    EXPECT_FALSE(stream->write("x"));
    peer.send(kGet);
    held.next().responder->send(text_response(200, "text/plain", "next"));
    EXPECT_EQ(peer.read_response().body, "next");
}

TEST(HttpStream, StartsOnTheNetworkThreadToo) {
    const auto server = start_server([](HttpRequest, const HttpResponderPtr& responder) {
        const auto stream = responder->start_stream(event_head());
        stream->write("a");
        stream->write("b");
    });
    RawPeer peer(server->port());
    peer.send(kGet);
    EXPECT_EQ(peer.read_response().body, "ab");
}

TEST(HttpStream, KeepsReadingAheadWithinABound) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    RawPeer peer(server->port());
    peer.send(kGet);
    const auto stream = held.next().responder->start_stream(event_head());
    ASSERT_TRUE(peer.read_until("\r\n\r\n"));
    constexpr int kAhead = 2000;  // Far more than the server reads ahead.
    auto sender = std::async(std::launch::async, [&] {
        std::string bytes;
        for (int i = 0; i < kAhead; ++i) {
            bytes += kGet;
        }
        peer.send(bytes);
    });
    stream->write("x");
    ASSERT_TRUE(peer.read_until("1\r\nx\r\n"));
    stream->close();
    EXPECT_EQ(peer.read_response().body, "x");
    for (int i = 0; i < kAhead; ++i) {
        held.next().responder->send(text_response(200, "text/plain", "y"));
        ASSERT_EQ(peer.read_response().body, "y");
    }
    sender.get();
}

}  // namespace
}  // namespace interlock
